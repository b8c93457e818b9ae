"""CDK constructs for accelerator training clusters, each usable alone in anyone's app."""

from trainshed_constructs.compute.batch_multi_node import BatchMultiNode
from trainshed_constructs.compute.batch_spot_node import BatchSpotNode
from trainshed_constructs.compute.capacity_group import CapacityGroup
from trainshed_constructs.compute.cluster_placement_group import ClusterPlacementGroup
from trainshed_constructs.compute.ec2_cluster import Ec2Cluster
from trainshed_constructs.compute.efa_launch_template import EfaLaunchTemplate
from trainshed_constructs.compute.first_boot import FirstBoot
from trainshed_constructs.compute.job_access import grant_buckets, grant_key_by_s3
from trainshed_constructs.compute.node_role import NodeRole
from trainshed_constructs.custom_resources.container_image_notice.construct import (
    ContainerImageNotice,
)
from trainshed_constructs.custom_resources.default_security_group.construct import (
    DefaultSecurityGroupRules,
)
from trainshed_constructs.custom_resources.existing_efs.construct import ExistingEfs
from trainshed_constructs.custom_resources.existing_lustre.construct import ExistingLustre
from trainshed_constructs.custom_resources.existing_openzfs.construct import ExistingOpenZfs
from trainshed_constructs.custom_resources.failed_boot_limit.construct import (
    FailedBootLimit,
    disable_environment,
    suspend_launches,
    suspend_node_group,
)
from trainshed_constructs.custom_resources.idle_nodes.construct import IdleNodes
from trainshed_constructs.custom_resources.job_ender.construct import JobEnder
from trainshed_constructs.custom_resources.network_guard.construct import NetworkGuard
from trainshed_constructs.custom_resources.new_repository_name.construct import NewRepositoryName
from trainshed_constructs.custom_resources.pinned_ami.construct import PinnedAmi
from trainshed_constructs.custom_resources.replacement_guard.construct import ReplacementGuard
from trainshed_constructs.custom_resources.scaling_group_name.construct import ScalingGroupName
from trainshed_constructs.custom_resources.unprotect_on_rollback.construct import (
    UnprotectOnRollback,
)
from trainshed_constructs.encrypt_with_key import encrypt_with_key
from trainshed_constructs.errors import ConstructError
from trainshed_constructs.guard.cluster_budget import ClusterBudget
from trainshed_constructs.guard.node_schedules import NodeSchedules
from trainshed_constructs.guard.node_switch import (
    switch_environment,
    switch_group,
    switch_node_group,
)
from trainshed_constructs.kubernetes.add_ons import AddOns
from trainshed_constructs.kubernetes.bootstrap_script import add_bootstrap_script
from trainshed_constructs.kubernetes.control_plane import EksControlPlane
from trainshed_constructs.kubernetes.node_config import add_node_config
from trainshed_constructs.kubernetes.node_group import AcceleratorNodes, SystemNodes
from trainshed_constructs.kubernetes.pod_identity import JobIdentity
from trainshed_constructs.kubernetes.pod_logs import PodLogs
from trainshed_constructs.monitoring.cluster_monitoring import ClusterMonitoring
from trainshed_constructs.monitoring.cluster_topic import ClusterTopic
from trainshed_constructs.monitoring.timed_messages import TimedMessages
from trainshed_constructs.network.efa_security_group import EfaSecurityGroup
from trainshed_constructs.network.existing_network import ExistingNetwork
from trainshed_constructs.network.tcp_security_group import TcpSecurityGroup
from trainshed_constructs.network.training_network import TrainingNetwork
from trainshed_constructs.registry.cached_bases import CachedBases
from trainshed_constructs.registry.training_repository import TrainingRepository, grant_pull
from trainshed_constructs.role_names import prefix_role_names
from trainshed_constructs.storage.data_bucket import DataBucket
from trainshed_constructs.storage.efs_file_system import EfsFileSystem
from trainshed_constructs.storage.existing_bucket import ExistingBucket
from trainshed_constructs.storage.lustre_file_system import LustreFileSystem
from trainshed_constructs.storage.lustre_security_group import LustreSecurityGroup
from trainshed_constructs.storage.nfs_security_group import NfsSecurityGroup
from trainshed_constructs.storage.openzfs_file_system import OpenZfsFileSystem

__all__ = [
    "AcceleratorNodes",
    "AddOns",
    "BatchMultiNode",
    "BatchSpotNode",
    "CachedBases",
    "CapacityGroup",
    "ClusterBudget",
    "ClusterMonitoring",
    "ClusterPlacementGroup",
    "ClusterTopic",
    "ConstructError",
    "ContainerImageNotice",
    "DataBucket",
    "DefaultSecurityGroupRules",
    "Ec2Cluster",
    "EfaLaunchTemplate",
    "EfaSecurityGroup",
    "EfsFileSystem",
    "EksControlPlane",
    "ExistingBucket",
    "ExistingEfs",
    "ExistingLustre",
    "ExistingNetwork",
    "ExistingOpenZfs",
    "FailedBootLimit",
    "FirstBoot",
    "IdleNodes",
    "JobEnder",
    "JobIdentity",
    "LustreFileSystem",
    "LustreSecurityGroup",
    "NetworkGuard",
    "NewRepositoryName",
    "NfsSecurityGroup",
    "NodeRole",
    "NodeSchedules",
    "OpenZfsFileSystem",
    "PinnedAmi",
    "PodLogs",
    "ReplacementGuard",
    "ScalingGroupName",
    "SystemNodes",
    "TcpSecurityGroup",
    "TimedMessages",
    "TrainingNetwork",
    "TrainingRepository",
    "UnprotectOnRollback",
    "add_bootstrap_script",
    "add_node_config",
    "disable_environment",
    "encrypt_with_key",
    "grant_buckets",
    "grant_key_by_s3",
    "grant_pull",
    "prefix_role_names",
    "suspend_launches",
    "suspend_node_group",
    "switch_environment",
    "switch_group",
    "switch_node_group",
]
