"""What stays when a cluster's stacks are deleted, and whether it goes on costing."""

from collections.abc import Iterator
from dataclasses import dataclass

from trainshed.ami.account import AwsRefusal, Region
from trainshed.teardown.stacks import Stack

_GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One thing that stays.

    Attributes:
        what: its kind, for instance `file system`.
        name: its id or name.
        size: what it holds.
        cost: what it goes on costing; no prices, which depend on region and date.
        why: why it stays, and what to do about it.
    """

    what: str
    name: str
    size: str
    cost: str
    why: str


def kept_file_systems(region: Region, storage: Stack) -> Iterator[Kept]:
    """Name the file systems of a storage stack, new or existing."""
    names = storage.ids("AWS::FSx::FileSystem", "Custom::ExistingLustre")
    found = region.pages("fsx", "describe_file_systems", "FileSystems")
    for each in (each for each in found if each["FileSystemId"] in names):
        lustre = each["LustreConfiguration"]
        throughput = lustre.get("PerUnitStorageThroughput")
        speed = f", {throughput} MB/s per TiB" if throughput else ""
        name = each["FileSystemId"]
        yield Kept(
            what="file system",
            name=name,
            # Intelligent-Tiering has no fixed size.
            size=f"{each.get('StorageCapacity', 'elastic')} GiB {lustre['DeploymentType']}{speed}",
            cost="bills for its whole size by the hour, until it is deleted",
            why=f"your data is on it; use it again with storage.lustre.existing: {name}, or "
            f"delete it: aws fsx delete-file-system --file-system-id {name}",
        )


def kept_repositories(region: Region, images: Stack, cache_prefix: str) -> Iterator[Kept]:
    """Name the repository of an images stack, and those of its cache of public images."""
    names = images.ids("AWS::ECR::Repository")
    for each in region.pages("ecr", "describe_repositories", "repositories"):
        name = each["repositoryName"]
        cached = name.startswith(f"{cache_prefix}/")
        if name not in names and not cached:
            continue
        again = "" if cached else "use it again with image.existing: true, or "
        yield Kept(
            what="cached images" if cached else "repository",
            name=name,
            size=_images(region, name),
            cost="bills by the GiB and month",
            why=f"{again}delete it: aws ecr delete-repository --force --repository-name {name}",
        )


def job_logs(region: Region, compute: Stack) -> Iterator[Kept]:
    """Name the log group of a cluster's jobs."""
    if name := compute.outputs.get("LogGroup"):
        yield from _log_group(region, name, "the output of jobs")


def flow_logs(region: Region, network: Stack) -> Iterator[Kept]:
    """Name the log group of the traffic in a VPC."""
    for vpc in network.ids("AWS::EC2::VPC"):
        filters = [{"Name": "resource-id", "Values": [vpc]}]
        for each in region.pages("ec2", "describe_flow_logs", "FlowLogs", Filter=filters):
            if name := each.get("LogGroupName"):
                yield from _log_group(region, name, "the record of network traffic")


def _log_group(region: Region, name: str, content: str) -> Iterator[Kept]:
    groups = region.pages("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name)
    for each in (each for each in groups if each["logGroupName"] == name):
        days = each.get("retentionInDays")
        yield Kept(
            what="log group",
            name=name,
            size=f"{each.get('storedBytes', 0) / _GIB:.1f} GiB",
            cost="bills by the GiB and month",
            why=f"{content}, each line kept for {days} days; or delete it: "
            f"aws logs delete-log-group --log-group-name {name}",
        )


def file_systems_in(region: Region, network: Stack) -> tuple[str, ...]:
    """Return the file systems in the subnets that a network stack made."""
    subnets = set(network.ids("AWS::EC2::Subnet"))
    if not subnets:
        return ()
    found = region.pages("fsx", "describe_file_systems", "FileSystems")
    return tuple(each["FileSystemId"] for each in found if subnets & set(each["SubnetIds"]))


def kept_network(network: Stack, reason: str) -> Kept:
    """Name a network stack that stays."""
    gateways = len(network.ids("AWS::EC2::NatGateway"))
    endpoints = len(network.ids("AWS::EC2::VPCEndpoint")) - 1  # that of S3 is free
    billed = [
        f"{count} {what}"
        for count, what in ((gateways, "NAT gateway(s)"), (endpoints, "interface endpoint(s)"))
        if count > 0
    ]
    return Kept(
        what="stack",
        name=network.name,
        size=" and ".join(billed),
        cost="bills by the hour" if billed else "nothing by itself",
        why=reason,
    )


def _images(region: Region, repository: str) -> str:
    try:
        images = list(
            region.pages("ecr", "describe_images", "imageDetails", repositoryName=repository)
        )
    except AwsRefusal as error:
        if error.code == "RepositoryNotFoundException":
            return "gone meanwhile"
        raise
    size = sum(each.get("imageSizeInBytes", 0) for each in images) / _GIB
    return f"{len(images)} images, {size:.1f} GiB"
