"""The IAM policy with which a preflight asks everything, and can change nothing."""

from collections.abc import Callable, Mapping
from typing import Any

from trainshed.catalogue import quota_for
from trainshed.catalogue.quotas import (
    EKS_CLUSTERS,
    EKS_NODE_GROUPS,
    EKS_NODES,
    ELASTIC_IPS,
    NAT_GATEWAYS,
    VPCS,
)
from trainshed.findings.rule import checks_of
from trainshed.plan import CapacityKind, ClusterPlan, EfsPlan, FsxPlan
from trainshed.preflight.rules.bootstrap import BOOTSTRAP_VERSION
from trainshed.preflight.rules.bucket import read_buckets
from trainshed.preflight.rules.images import image_of
from trainshed.preflight.rules.storage import buckets
from trainshed.preflight.subject import Subject

_VERSION = "2012-10-17"


def read_only_policy(subject: Subject) -> dict[str, Any]:
    """Return the policy for one cluster.

    Each action is for the resources of this cluster where IAM allows to name them; what this
    cluster does not need is left out.
    """
    actions = {
        action
        for check in checks_of("preflight")
        if check.concerns(subject)
        for action in check.actions
    }
    by_resources: dict[tuple[str, ...], list[str]] = {}
    for action in sorted(actions):
        named = _RESOURCES.get(action)
        resources = tuple(sorted(named(subject))) if named else ("*",)
        if resources:
            by_resources.setdefault(resources, []).append(action)
    return {
        "Version": _VERSION,
        "Statement": [
            {"Effect": "Allow", "Action": names, "Resource": list(resources)}
            for resources, names in by_resources.items()
        ],
    }


def _arn(plan: ClusterPlan, service: str, resource: str, account: str | None = None) -> str:
    return f"arn:aws:{service}:{plan.region}:{account or plan.account or '*'}:{resource}"


def _parameters(subject: Subject) -> list[str]:
    plan = subject.plan
    names = [BOOTSTRAP_VERSION, *([plan.ami.parameter] if plan.ami.parameter else [])]
    return [
        # AWS's own parameters are of no account.
        f"arn:aws:ssm:{plan.region}::parameter{name}"
        if name.startswith("/aws/")
        else _arn(plan, "ssm", f"parameter{name}")
        for name in names
    ]


def _repositories(subject: Subject) -> list[str]:
    image = image_of(subject)
    if image is None:
        return []
    account = image.registry.get("registryId")
    return [_arn(subject.plan, "ecr", f"repository/{image.repository}", account)]


def _buckets(subject: Subject) -> list[str]:
    plan, names = subject.plan, [*buckets(subject)]
    if plan.bucket and plan.bucket.new:
        names.append(plan.bucket.bucket_name(plan.account or "*", plan.region))
    return [f"arn:aws:s3:::{name}" for name in names]


def _read_buckets(subject: Subject) -> list[str]:
    return [f"arn:aws:s3:::{name}" for name, _, _ in read_buckets(subject.plan)]


def _key(subject: Subject) -> list[str]:
    key = subject.plan.security.kms_key
    return [key] if key else []


def _group(subject: Subject) -> list[str]:
    group = subject.plan.capacity.reservation_group
    return [group] if group else []


def _stacks(subject: Subject) -> list[str]:
    plan = subject.plan
    repository = [plan.repository.stack_name] if plan.repository else []
    storage = [each.stack_name for each in plan.storages]
    kubernetes = [plan.control_plane.stack_name] if plan.control_plane else []
    names = [plan.name, plan.network.stack_name, *kubernetes, *repository, *storage]
    return [_arn(plan, "cloudformation", f"stack/{name}/*") for name in names]


def _existing_efs(subject: Subject) -> list[str]:
    plan = subject.plan
    return [
        _arn(plan, "elasticfilesystem", f"file-system/{each.existing}")
        for each in plan.storages
        if isinstance(each, EfsPlan) and each.existing
    ]


def _quotas(subject: Subject) -> list[str]:
    plan = subject.plan
    vcpus = quota_for(plan.instance, plan.capacity.kind)
    for_network = () if plan.network.vpc_id else (VPCS, ELASTIC_IPS, NAT_GATEWAYS)
    for_kubernetes = (EKS_CLUSTERS, EKS_NODE_GROUPS, EKS_NODES) if plan.control_plane else ()
    return [
        _arn(plan, "servicequotas", f"{quota.service}/{quota.code}")
        for quota in (*([vcpus] if vcpus else []), *for_network, *for_kubernetes)
    ]


def _eks_cluster(subject: Subject) -> list[str]:
    found = subject.plan.control_plane
    return [_arn(subject.plan, "eks", f"cluster/{found.name}")] if found else []


def _node_groups(subject: Subject) -> list[str]:
    found = subject.plan.control_plane
    return [_arn(subject.plan, "eks", f"nodegroup/{found.name}/*")] if found else []


def _roles(subject: Subject) -> list[str]:
    """Return the ARNs of the roles that may use a control plane, with any path."""
    found = subject.plan.control_plane
    names = {each.role.rpartition("/")[2] for each in found.access} if found else set()
    # IAM is in no region.
    arn = f"arn:aws:iam::{subject.plan.account or '*'}:role"
    return [f"{arn}/{path}{name}" for name in names for path in ("", "*/")]


def _vpc(subject: Subject) -> list[str]:
    vpc = subject.plan.network.vpc_id
    return [_arn(subject.plan, "ec2", f"vpc/{vpc}")] if vpc else []


def _anything_if(needed: Callable[[ClusterPlan], object]) -> Callable[[Subject], list[str]]:
    return lambda subject: ["*"] if needed(subject.plan) else []


_for_new_network = _anything_if(lambda plan: not plan.network.vpc_id)
_for_spot = _anything_if(lambda plan: plan.capacity.kind is CapacityKind.SPOT)
_for_existing_network = _anything_if(lambda plan: plan.network.vpc_id)

# Service Authorization Reference: the other actions take no resource, or are for all at once.
# None of them for what the cluster does not have.
_RESOURCES: Mapping[str, Callable[[Subject], list[str]]] = {
    "cloudformation:DescribeStacks": _stacks,
    "cloudformation:ListStackResources": _stacks,
    "ecr:BatchGetImage": _repositories,
    "ecr:GetDownloadUrlForLayer": _repositories,
    "ec2:DescribeAddresses": _for_new_network,
    "ec2:DescribeAvailabilityZones": _anything_if(
        lambda plan: plan.capacity.kind is CapacityKind.SPOT and not plan.zone.is_id
    ),
    "ec2:DescribeCapacityReservations": _anything_if(lambda plan: plan.capacity.target),
    "ec2:DescribeNatGateways": _for_new_network,
    "ec2:DescribeRouteTables": _for_existing_network,
    "ec2:DescribeSecurityGroups": _for_existing_network,
    "ec2:DescribeSpotPriceHistory": _for_spot,
    "ec2:DescribeVpcAttribute": _vpc,
    "ec2:DescribeVpcEndpoints": _for_existing_network,
    "ec2:DescribeVpcs": _for_new_network,
    "ec2:GetSpotPlacementScores": _for_spot,
    "eks:DescribeCluster": _eks_cluster,
    "eks:DescribeNodegroup": _node_groups,
    "eks:ListNodegroups": _eks_cluster,
    "elasticfilesystem:DescribeFileSystems": _existing_efs,
    "elasticfilesystem:DescribeMountTargets": _existing_efs,
    "fsx:DescribeFileSystems": _anything_if(
        lambda plan: any(each.existing for each in plan.storages if isinstance(each, FsxPlan))
    ),
    "iam:GetRole": _roles,
    "kms:DescribeKey": _key,
    "kms:GetKeyPolicy": _key,
    "kms:ListGrants": _key,
    "resource-groups:GetGroupConfiguration": _group,
    "resource-groups:ListGroupResources": _group,
    "s3:GetLifecycleConfiguration": _read_buckets,
    "s3:ListBucket": _buckets,
    "servicequotas:GetServiceQuota": _quotas,
    "ssm:GetParameter": _parameters,
}
