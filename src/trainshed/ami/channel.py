"""A channel: the name under which clusters of a cell find their AMI."""

import re
from dataclasses import dataclass
from typing import Self

from trainshed.errors import TrainshedError, UnknownName
from trainshed.nodes.cells import Cell

# Every channel's SSM parameter is under this one.
CHANNELS_ROOT = "/trainshed/ami"

_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """One channel of one cell.

    Attributes:
        cell: accelerator and agent, for instance `neuron/ecs`.
        name: for instance `stable`.

    Raises:
        TrainshedError: a name that no channel can have.
        UnknownName: a cell that does not exist.
    """

    cell: str
    name: str

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.cell not in tuple(Cell):
            raise UnknownName("cell", self.cell, Cell)
        if not is_channel_name(self.name):
            raise TrainshedError(
                f"channel {self.name!r} is not a name: a lower-case letter, then lower-case "
                "letters, digits and hyphens"
            )

    @classmethod
    def of_parameter(cls, parameter: str) -> Self | None:
        """Return the channel of an SSM parameter's name, or None when it is not a channel's."""
        cell, _, name = parameter.removeprefix(f"{CHANNELS_ROOT}/").rpartition("/")
        return cls(cell=cell, name=name) if cell in tuple(Cell) and is_channel_name(name) else None

    @property
    def parameter(self) -> str:
        """Name of its SSM parameter."""
        return f"{CHANNELS_ROOT}/{self.cell}/{self.name}"

    def __str__(self) -> str:
        """Return for instance `neuron/ecs stable`."""
        return f"{self.cell} {self.name}"


def is_channel_name(text: str) -> bool:
    """Return whether a channel can have this name."""
    return _NAME.fullmatch(text) is not None


def names_a_channel(ami: str) -> bool:
    """Return whether `instance.ami` is one of our channels, by name or SSM parameter."""
    return ami.startswith(f"{CHANNELS_ROOT}/") or not ami.startswith(("ami-", "/"))
