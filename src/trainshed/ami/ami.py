"""One of our AMIs, as AWS and its tags describe it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from trainshed.aws import Region, accepting

# All our AMIs have it: the UTC stamp of its build.
BUILD_TAG = "trainshed:build"
_MISSING = ("InvalidAMIID.NotFound", "InvalidAMIID.Unavailable", "InvalidAMIID.Malformed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ami:
    """One AMI.

    Attributes:
        image_id: for instance `ami-0123456789abcdef0`.
        region: where it is.
        name: the AMI's name.
        state: `pending`, `available`, `failed` and so on, as DescribeImages has it.
        reason: AWS's words when the state is bad, or empty.
        created: when.
        tags: all of them.
        snapshots: ids of the EBS snapshots that hold its disks.
        public: whether every account may launch it.
        protected: whether it is protected from being deregistered.
        owner: account that owns it.
        architecture: `x86_64` or `arm64`.
        root_device: device name of its root volume.
    """

    image_id: str
    region: str
    name: str
    state: str
    reason: str
    created: datetime
    tags: Mapping[str, str]
    snapshots: tuple[str, ...]
    public: bool
    protected: bool
    owner: str = ""
    architecture: str = ""
    root_device: str = ""

    @property
    def cell(self) -> str:
        """Accelerator and agent, for instance `neuron/ecs`; `?` for a missing tag."""
        return cell_of(self.tags)

    @property
    def build(self) -> str:
        """The stamp of its build, the same in every region; empty without the tag."""
        return self.tag("build")

    def tag(self, name: str) -> str:
        """Return the value of the tag `trainshed:NAME`; empty without it."""
        return self.tags.get(f"trainshed:{name}", "")


def build_moment(stamp: str) -> datetime | None:
    """Return when a build began, by its stamp; None for what is no stamp."""
    try:
        return datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def cell_of(tags: Mapping[str, str]) -> str:
    """Return the cell that our tags name, for instance `neuron/ecs`; `?` for a missing one."""
    names = ("accelerator", "orchestrator")
    return "/".join(tags.get(f"trainshed:{name}") or "?" for name in names)


def own_amis(region: Region) -> list[Ami]:
    """Return every AMI that our builds made in this account, newest first."""
    found = region.pages(
        "ec2",
        "describe_images",
        "Images",
        Owners=["self"],
        Filters=[{"Name": "tag-key", "Values": [BUILD_TAG]}],
    )
    amis = [_ami(entry, region.name) for entry in found]
    return sorted(amis, key=lambda ami: (ami.created, ami.image_id), reverse=True)


def find_ami(region: Region, image_id: str, *, anyone: bool = False) -> Ami | None:
    """Return the AMI of this id, whoever baked it, or None when there is none.

    Args:
        region: where it is.
        image_id: its id.
        anyone: also one that another account owns and lets this one launch.
    """
    owners = {} if anyone else {"Owners": ["self"]}
    with accepting(*_MISSING):
        answer = region.call("ec2", "describe_images", ImageIds=[image_id], **owners)
        return next((_ami(entry, region.name) for entry in answer["Images"]), None)
    return None


def _ami(entry: Mapping[str, Any], region: str) -> Ami:
    mappings = entry.get("BlockDeviceMappings", [])
    snapshots = (mapping.get("Ebs", {}).get("SnapshotId") for mapping in mappings)
    return Ami(
        image_id=entry["ImageId"],
        region=region,
        name=entry.get("Name", ""),
        state=entry["State"],
        reason=entry.get("StateReason", {}).get("Message", ""),
        created=_moment(entry["CreationDate"]),
        tags={tag["Key"]: tag["Value"] for tag in entry.get("Tags", [])},
        snapshots=tuple(snapshot for snapshot in snapshots if snapshot),
        public=entry.get("Public", False),
        protected=entry.get("DeregistrationProtection", "disabled") != "disabled",
        owner=entry.get("OwnerId", ""),
        architecture=entry.get("Architecture", ""),
        root_device=entry.get("RootDeviceName", ""),
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
