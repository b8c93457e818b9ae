"""Instances and volumes: those of builds that died, and those of clusters that are gone."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from trainshed.account.billed import Billed, volume_billed
from trainshed.account.tags import CLUSTER_TAG
from trainshed.ami.leftovers import tagged_leftovers
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion
from trainshed.prices import Purchase, instance_item
from trainshed.spec.pipeline import MOST_BUILD_MINUTES

_TAGGED = [{"Name": "tag-key", "Values": [CLUSTER_TAG]}]
_ENDED = frozenset({"shutting-down", "terminated"})
_FAILED_BUILD = "a build of an AMI left it"
# What deletes what costs nothing, by the kinds of `Leftover`. Of an instance profile the role of
# the same name stays, which costs nothing, too.
_FREE = {
    "key pair": "aws ec2 delete-key-pair --key-name {name}",
    "security group": "aws ec2 delete-security-group --group-id {name}",
    "instance profile": "aws iam remove-role-from-instance-profile --instance-profile-name {name} "
    "--role-name {name} && aws iam delete-instance-profile --instance-profile-name {name}",
}


def _of_builds(place: SearchedRegion) -> Iterator[Candidate]:
    # What is younger may be of a build that runs.
    limit = timedelta(minutes=MOST_BUILD_MINUTES)
    left = tagged_leftovers(place.region, now=place.now, older_than=limit)
    instances = [each.name for each in left if each.kind == "instance"]
    volumes = [each.name for each in left if each.kind == "volume"]
    for instance in _described(place, instances):
        yield Candidate(billed=_instance_billed(instance), why=_FAILED_BUILD)
    if volumes:
        for volume in place.region.pages("ec2", "describe_volumes", "Volumes", VolumeIds=volumes):
            yield Candidate(billed=volume_billed(volume), why=_FAILED_BUILD)
    for each in left:
        if each.kind in _FREE:
            billed = Billed(
                what=each.kind,
                name=each.name,
                size="",
                since=None,
                charges=(),
                command=_FREE[each.kind].format(name=each.name),
            )
            yield Candidate(billed=billed, why=_FAILED_BUILD)


def _described(place: SearchedRegion, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    if names:
        for reservation in place.region.pages(
            "ec2", "describe_instances", "Reservations", InstanceIds=names
        ):
            yield from reservation["Instances"]


def _instance_billed(instance: Mapping[str, Any]) -> Billed:
    name, kind, state = instance["InstanceId"], instance["InstanceType"], instance["State"]["Name"]
    # One that is stopped is billed for its volumes, of which the instance does not say the size.
    item = instance_item(Purchase.ON_DEMAND, kind)
    return Billed(
        what="instance",
        name=name,
        size=f"{kind}, {state}",
        since=instance.get("LaunchTime"),
        charges=((item, 1),) if state in ("pending", "running") else None,
        command=f"aws ec2 terminate-instances --instance-ids {name} && "
        f"aws ec2 wait instance-terminated --instance-ids {name}",
    )


def _of_clusters(place: SearchedRegion) -> Iterator[Candidate]:
    for reservation in place.region.pages(
        "ec2", "describe_instances", "Reservations", Filters=_TAGGED
    ):
        for instance in reservation["Instances"]:
            tags = _tags(instance)
            # What Auto Scaling or EKS launched ends with its group.
            grouped = any(key.startswith(("aws:autoscaling:", "eks:")) for key in tags)
            gone = not place.ownership.has_stack(tags[CLUSTER_TAG])
            if gone and not grouped and instance["State"]["Name"] not in _ENDED:
                yield Candidate(
                    billed=_instance_billed(instance), why=f"a node of {tags[CLUSTER_TAG]}"
                )


def _volumes(place: SearchedRegion) -> Iterator[Candidate]:
    for volume in place.region.pages("ec2", "describe_volumes", "Volumes", Filters=_TAGGED):
        cluster = _tags(volume)[CLUSTER_TAG]
        if volume["State"] == "available" and not place.ownership.has_stack(cluster):
            yield Candidate(
                billed=volume_billed(volume), why=f"a node of {cluster} had it", kept=True
            )


def _tags(described: Mapping[str, Any]) -> dict[str, str]:
    return {each["Key"]: each["Value"] for each in described["Tags"]}


INSTANCE_LOOKS = (
    OrphanSearch(
        at="leftovers of builds",
        types=(),
        actions=(
            "ec2:DescribeInstances",
            "ec2:DescribeKeyPairs",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeVolumes",
        ),
        find=_of_builds,
    ),
    OrphanSearch(
        at="instances",
        types=("AWS::EC2::Instance",),
        actions=("ec2:DescribeInstances",),
        find=_of_clusters,
    ),
    OrphanSearch(
        at="volumes", types=("AWS::EC2::Volume",), actions=("ec2:DescribeVolumes",), find=_volumes
    ),
)
