"""CDK constructs for accelerator training clusters, each usable alone in anyone's app."""

from trainshed_constructs.batch_multi_node import BatchMultiNode
from trainshed_constructs.cached_bases import CachedBases
from trainshed_constructs.cluster_placement_group import ClusterPlacementGroup
from trainshed_constructs.default_security_group import DefaultSecurityGroupRules
from trainshed_constructs.efa_launch_template import EfaLaunchTemplate
from trainshed_constructs.efa_security_group import EfaSecurityGroup
from trainshed_constructs.encrypt_with_key import encrypt_with_key
from trainshed_constructs.errors import ConstructError
from trainshed_constructs.existing_lustre import ExistingLustre
from trainshed_constructs.existing_network import ExistingNetwork
from trainshed_constructs.failed_boot_limit import FailedBootLimit
from trainshed_constructs.first_boot import FirstBoot
from trainshed_constructs.image_notice import ImageNotice
from trainshed_constructs.lustre_file_system import LustreFileSystem
from trainshed_constructs.lustre_security_group import LustreSecurityGroup
from trainshed_constructs.network_guard import NetworkGuard
from trainshed_constructs.new_repository_name import NewRepositoryName
from trainshed_constructs.node_role import NodeRole
from trainshed_constructs.pinned_ami import PinnedAmi
from trainshed_constructs.replacement_guard import ReplacementGuard
from trainshed_constructs.role_names import prefix_role_names
from trainshed_constructs.training_network import TrainingNetwork
from trainshed_constructs.training_repository import TrainingRepository, grant_pull
from trainshed_constructs.unprotect_on_rollback import UnprotectOnRollback

__all__ = [
    "BatchMultiNode",
    "CachedBases",
    "ClusterPlacementGroup",
    "ConstructError",
    "DefaultSecurityGroupRules",
    "EfaLaunchTemplate",
    "EfaSecurityGroup",
    "ExistingLustre",
    "ExistingNetwork",
    "FailedBootLimit",
    "FirstBoot",
    "ImageNotice",
    "LustreFileSystem",
    "LustreSecurityGroup",
    "NetworkGuard",
    "NewRepositoryName",
    "NodeRole",
    "PinnedAmi",
    "ReplacementGuard",
    "TrainingNetwork",
    "TrainingRepository",
    "UnprotectOnRollback",
    "encrypt_with_key",
    "grant_pull",
    "prefix_role_names",
]
