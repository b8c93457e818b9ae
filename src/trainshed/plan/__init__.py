"""The spec joined with the catalogue: every default resolved, every decision with its reason."""

from trainshed.plan.ami import AmiPlan
from trainshed.plan.calendar import Window
from trainshed.plan.capacity import CapacityKind, CapacityPlan
from trainshed.plan.cluster import ClusterPlan, make_plan
from trainshed.plan.container import ContainerPlan
from trainshed.plan.container_image import EcrRepository, ImagePlan
from trainshed.plan.fleet import Fleet, load_fleet, plan_fleet
from trainshed.plan.jobs import JobsPlan
from trainshed.plan.network import NetworkPlan, SubnetPlan
from trainshed.plan.notes import Decision
from trainshed.plan.notify import NotifyPlan
from trainshed.plan.repository import RepositoryPlan
from trainshed.plan.root_volume import RootVolumePlan
from trainshed.plan.scratch import ScratchPlan, ScratchVolumes
from trainshed.plan.storage import (
    BucketPlan,
    EfsPlan,
    FsxPlan,
    LustrePlan,
    Mount,
    OpenZfsPlan,
    StorageKind,
    StoragePlan,
)
from trainshed.plan.tags import resource_tags
from trainshed.plan.zone import Zone

__all__ = [
    "AmiPlan",
    "BucketPlan",
    "CapacityKind",
    "CapacityPlan",
    "ClusterPlan",
    "ContainerPlan",
    "Decision",
    "EcrRepository",
    "EfsPlan",
    "Fleet",
    "FsxPlan",
    "ImagePlan",
    "JobsPlan",
    "LustrePlan",
    "Mount",
    "NetworkPlan",
    "NotifyPlan",
    "OpenZfsPlan",
    "RepositoryPlan",
    "RootVolumePlan",
    "ScratchPlan",
    "ScratchVolumes",
    "StorageKind",
    "StoragePlan",
    "SubnetPlan",
    "Window",
    "Zone",
    "load_fleet",
    "make_plan",
    "plan_fleet",
    "resource_tags",
]
