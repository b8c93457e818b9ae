"""What Kubernetes made in the account by itself, which no stack has, found by its tags.

The tags are those of their makers. Load balancers and their security groups: Kubernetes' cloud
provider for AWS (documentation, "Resource tagging") and the AWS Load Balancer Controller
(documentation, "Subnet Discovery" and the IAM policy, which ask for `elbv2.k8s.aws/cluster`).
Volumes: the EBS CSI driver (its page "Tagging"). Interfaces: the VPC CNI (README, `CLUSTER_NAME`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainshed.account.billed import Billed, load_balancer_billed, volume_billed
from trainshed.aws import Region, accepting
from trainshed.teardown.kept import Kept

_CONTROLLER_TAG = "elbv2.k8s.aws/cluster"
# For which object of Kubernetes a load balancer is, as NAMESPACE/NAME.
_SERVICES = ("kubernetes.io/service-name", "service.k8s.aws/stack")
_INGRESSES = ("ingress.k8s.aws/stack",)
_CLAIM = "kubernetes.io/created-for/pvc/name"
_CLAIM_NAMESPACE = "kubernetes.io/created-for/pvc/namespace"
# Its value is `true`; the cluster's name is in other tags, if the driver knows it.
_DRIVER_TAG = "ebs.csi.aws.com/cluster"
_CLUSTER_TAG = "kubernetes.io/cluster/"
# What EKS itself made goes with the cluster.
_OF_EKS = "aws:eks:cluster-name"
_INTERFACE_CLUSTER = "cluster.k8s.amazonaws.com/name"
_INTERFACE_NODE = "node.k8s.amazonaws.com/instance_id"
# DescribeTags of Elastic Load Balancing takes so many at a time.
_AT_A_TIME = 20
_ENDED = ("shutting-down", "terminated")

Tags = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeByKubernetes:
    """One resource that Kubernetes made.

    Attributes:
        billed: the resource; nothing of it is deleted for its owner.
        kept: what to do about it.
        vpc: the VPC that it is in and that it keeps from being deleted; None for none.
    """

    billed: Billed
    kept: Kept
    vpc: str | None


def made_by_kubernetes(region: Region, cluster: str) -> tuple[MadeByKubernetes, ...]:
    """Return what an EKS cluster made and what costs, or holds the VPC.

    Args:
        region: the cluster's.
        cluster: its name; it may be gone.
    """
    return (
        *_load_balancers(region, cluster),
        *_security_groups(region, cluster),
        *_volumes(region, cluster),
    )


def delete_left_interfaces(region: Region, cluster: str, *, show: Callable[[str], None]) -> None:
    """Delete the interfaces that the VPC CNI left behind: they hold security groups and subnets.

    Only those of nodes that have ended: those of others may be about to be attached.

    Args:
        region: where they are.
        cluster: name of the EKS cluster.
        show: gets each step.
    """
    left = {
        each["NetworkInterfaceId"]: _tags(each["TagSet"]).get(_INTERFACE_NODE, "")
        for each in region.pages(
            "ec2",
            "describe_network_interfaces",
            "NetworkInterfaces",
            Filters=[
                {"Name": f"tag:{_INTERFACE_CLUSTER}", "Values": [cluster]},
                {"Name": "tag-key", "Values": [_INTERFACE_NODE]},
            ],
        )
        if each["Status"] == "available"
    }
    running = _running(region, sorted(set(left.values()))) if left else set()
    for interface in (each for each, node in left.items() if node not in running):
        show(f"{interface}: deleting the interface, which the VPC CNI left")
        # Gone, or in use, meanwhile.
        with accepting("InvalidNetworkInterfaceID.NotFound", "InvalidParameterValue"):
            region.call("ec2", "delete_network_interface", NetworkInterfaceId=interface)


def _running(region: Region, instances: Sequence[str]) -> set[str]:
    """Return those of some instances that have not ended."""
    found = region.pages(
        "ec2",
        "describe_instances",
        "Reservations",
        Filters=[{"Name": "instance-id", "Values": list(instances)}],
    )
    return {
        instance["InstanceId"]
        for reservation in found
        for instance in reservation["Instances"]
        if instance["State"]["Name"] not in _ENDED
    }


def _load_balancers(region: Region, cluster: str) -> Iterator[MadeByKubernetes]:
    balancers = {
        each["LoadBalancerArn"]: each
        for each in region.pages("elbv2", "describe_load_balancers", "LoadBalancers")
    }
    for arn, tags in _tags_of(region, "elbv2", "ResourceArns", "ResourceArn", balancers):
        if _is_of(tags, cluster):
            found = balancers[arn]
            command = f"aws elbv2 delete-load-balancer --load-balancer-arn {arn}"
            billed = load_balancer_billed(
                found["LoadBalancerName"], found["Type"], found["CreatedTime"], command
            )
            yield _made(billed, tags, found["VpcId"])
    classic = {
        each["LoadBalancerName"]: each
        for each in region.pages("elb", "describe_load_balancers", "LoadBalancerDescriptions")
    }
    for name, tags in _tags_of(region, "elb", "LoadBalancerNames", "LoadBalancerName", classic):
        if _is_of(tags, cluster):
            command = f"aws elb delete-load-balancer --load-balancer-name {name}"
            billed = load_balancer_billed(name, "classic", classic[name]["CreatedTime"], command)
            yield _made(billed, tags, classic[name].get("VPCId"))


def _made(balancer: Billed, tags: Tags, vpc: str | None) -> MadeByKubernetes:
    kept = Kept.of(
        balancer,
        cost="bills by the hour, and by its traffic",
        why=f"Kubernetes made it{_owner(tags)}; without the control plane: {balancer.command}",
    )
    return MadeByKubernetes(billed=balancer, kept=kept, vpc=vpc)


def _owner(tags: Tags) -> str:
    """Name the object that a load balancer is for, and what deletes both."""
    for kind, keys in (("service", _SERVICES), ("ingress", _INGRESSES)):
        for namespace, slash, name in (tags.get(key, "").partition("/") for key in keys):
            if slash:
                return (
                    f" for the {kind} {namespace}/{name}; while there is a control plane: kubectl "
                    f"delete {kind} {name} -n {namespace}"
                )
    return ""


def _security_groups(region: Region, cluster: str) -> Iterator[MadeByKubernetes]:
    """Yield the groups of load balancers, which outlive those that are deleted by hand."""
    keys = [f"{_CLUSTER_TAG}{cluster}", _CONTROLLER_TAG]
    for each in region.pages(
        "ec2",
        "describe_security_groups",
        "SecurityGroups",
        Filters=[{"Name": "tag-key", "Values": keys}],
    ):
        tags = _tags(each.get("Tags", ()))
        if not _is_of(tags, cluster) or _OF_EKS in tags:
            continue
        group = each["GroupId"]
        billed = Billed(
            what="security group",
            name=group,
            size="",
            since=None,
            charges=(),
            command=f"aws ec2 delete-security-group --group-id {group}",
        )
        kept = Kept.of(
            billed,
            cost="nothing by itself",
            why="Kubernetes made it for a load balancer, and it goes with that; without the "
            f"control plane: {billed.command}",
        )
        yield MadeByKubernetes(billed=billed, kept=kept, vpc=each["VpcId"])


def _volumes(region: Region, cluster: str) -> Iterator[MadeByKubernetes]:
    for each in region.pages(
        "ec2",
        "describe_volumes",
        "Volumes",
        Filters=[{"Name": "tag-key", "Values": [_DRIVER_TAG, _CLAIM]}],
    ):
        tags = _tags(each["Tags"])
        named = any(key.startswith(_CLUSTER_TAG) for key in tags) or "KubernetesCluster" in tags
        if named and not _is_of(tags, cluster):
            continue
        claim = "/".join(filter(None, (tags.get(_CLAIM_NAMESPACE), tags.get(_CLAIM))))
        billed = volume_billed(each)
        kept = Kept.of(
            billed,
            cost="bills by the GiB and month",
            why=("" if named else "its tags name no cluster, so it may be another one's; ")
            + f"Kubernetes made it{f' for the claim {claim}' if claim else ''}, and data is on it; "
            f"take a snapshot, or delete it: {billed.command}",
        )
        yield MadeByKubernetes(billed=billed, kept=kept, vpc=None)


def _is_of(tags: Tags, cluster: str) -> bool:
    # `shared` is what others made for it, for instance a subnet.
    return (
        tags.get(f"{_CLUSTER_TAG}{cluster}") == "owned"
        or tags.get(_CONTROLLER_TAG) == cluster
        or tags.get("KubernetesCluster") == cluster
    )


def _tags_of(
    region: Region, service: str, given: str, returned: str, names: Mapping[str, Any]
) -> Iterator[tuple[str, Tags]]:
    """Yield load balancers with their tags."""
    wanted = list(names)
    for start in range(0, len(wanted), _AT_A_TIME):
        some = {given: wanted[start : start + _AT_A_TIME]}
        for each in region.call(service, "describe_tags", **some)["TagDescriptions"]:
            yield each[returned], _tags(each["Tags"])


def _tags(listed: Sequence[Mapping[str, str]]) -> dict[str, str]:
    return {each["Key"]: each.get("Value", "") for each in listed}
