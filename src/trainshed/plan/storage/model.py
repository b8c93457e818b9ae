"""What all shared storage of a cluster has in common, and what a node knows of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, ClassVar

from trainshed.plan.stack_names import stack_name
from trainshed.plan.zone import Zone


class StorageKind(StrEnum):
    """Kinds of shared storage, by their field in `storage`; a cluster has one of each at most."""

    LUSTRE = "lustre"
    EFS = "efs"
    OPENZFS = "openzfs"
    BUCKET = "bucket"


# By kind: what its stack publishes to Parameter Store, and its nodes read at boot.
_PUBLISHED: Mapping[StorageKind, tuple[str, ...]] = {
    StorageKind.LUSTRE: ("dns-name", "mount-name"),
    StorageKind.EFS: ("file-system-id",),
    StorageKind.OPENZFS: ("dns-name", "volume-path"),
    StorageKind.BUCKET: ("bucket-name",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """What a node knows of shared storage that it mounts.

    Attributes:
        kind: of the storage.
        name: what clusters share it by.
        path: where nodes and containers see it.
        efa_interfaces: how many EFA interfaces of the node reach it; none is TCP.
        further: what its stack publishes beside what storage of its kind always does.
    """

    kind: StorageKind
    name: str
    path: str
    efa_interfaces: int = 0
    further: tuple[str, ...] = ()

    @property
    def parameters(self) -> Mapping[str, str]:
        """SSM parameters that say what is mounted: their full names by what each holds."""
        prefix = parameter_prefix(self.kind, self.name)
        published = (*_PUBLISHED[self.kind], *self.further)
        return {each: f"{prefix}/{each}" for each in published}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePlan(ABC):
    """Shared storage of one kind, and where it is.

    Attributes:
        name: what clusters share it by.
        stack_name: stack that owns new storage, or lets the nodes in to existing storage.
        network: name of the network that it is in.
        zone: the zone that new storage is in; None where it has no zone of its own.
        existing: id of what is there already.
        mount: where nodes and containers see it; None where they do not.
        efa: nodes reach it over EFA.
    """

    kind: ClassVar[StorageKind]
    # As sentences call it.
    title: ClassVar[str]
    # What mounts it, as sentences call it.
    client: ClassVar[str]
    # Of its own resource, whose data is kept.
    resource_type: ClassVar[str]
    # Ends the name of its stack.
    stack_suffix: ClassVar[str]
    # Ends the construct id of the group of its clients in its network's stack. CDK puts it into the
    # name of the export by which storage and nodes know the group. None for what is in no network.
    clients_group: ClassVar[str | None]

    name: str
    stack_name: str
    network: str
    zone: Zone | None
    existing: str | None
    mount: str | None
    efa: bool = False

    @property
    @abstractmethod
    def interfaces(self) -> int:
        """Further addresses that new storage takes in the nodes' subnet, about."""

    @property
    def further_parameters(self) -> tuple[str, ...]:
        """What its stack publishes beside what storage of its kind always does."""
        return ()

    @property
    def field(self) -> str:
        """The field of the cluster file that asks for it."""
        return f"storage.{self.kind}"

    @property
    def exported_as(self) -> str:
        """What its network's stack calls the group of its clients when it must not go."""
        return f"{self.title} {self.name}"

    @classmethod
    def stack_for(cls, name: str) -> str:
        """Name the stack of storage that clusters share by name."""
        return stack_name(name, cls.stack_suffix)

    @classmethod
    def types(cls) -> tuple[str, ...]:
        """Return the types of its resource in a stack: of new storage, and of what is adopted."""
        return cls.resource_type, f"Custom::Existing{cls.kind.value.title()}"

    @property
    def shared_facts(self) -> dict[str, Any]:
        """What clusters that share it must agree on: all but where each mounts it."""
        plan = asdict(self)
        # Of storage that is there already, the settings of new storage are not known.
        new = plan.pop("new", None)
        facts = dict(new or {}) | plan
        del facts["mount"]
        return facts


def parameter_prefix(kind: StorageKind, name: str) -> str:
    """Return the SSM path of the parameters of storage that clusters share by name."""
    return f"/trainshed/{kind}/{name}"
