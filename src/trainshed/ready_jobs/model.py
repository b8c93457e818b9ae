"""A ready job: which accelerators it is for, its parameters, and the command it becomes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from trainshed.catalogue import AcceleratorFamily, InstanceType
from trainshed.errors import TrainshedError, UnknownName
from trainshed.jobs.sent_files import SentFiles

# Of parameters, as they were read.
Values = Mapping[str, int | str]

_SIZE = re.compile(r"([1-9]\d*)([KMG]?)", re.IGNORECASE)
# In place of a rate: the one that was published.
PUBLISHED = "published"
_RATE = re.compile(r"0?\.\d*[1-9]\d*")
_BYTES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


class Kind(StrEnum):
    """What a parameter takes."""

    NUMBER = "number"
    SIZE = "size"
    CHOICE = "choice"
    RATE = "rate"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Something that may be set.

    Attributes:
        name: for `--set`.
        what: what it decides.
        default: as one would write it.
        source: where the default is from.
        kind: what it takes.
        choices: all values of a choice.
    """

    name: str
    what: str
    default: str
    source: str
    kind: Kind = Kind.NUMBER
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> int | str:
        """Read a value: a size as bytes.

        Raises:
            TrainshedError: it is not of the parameter's kind.
        """
        if self.kind is Kind.CHOICE and text not in self.choices:
            raise UnknownName(self.name, text, self.choices)
        if self.kind is Kind.NUMBER:
            if not re.fullmatch(r"[1-9]\d*", text):
                raise TrainshedError(f"{self.name}={text}: write a whole number from 1")
            return int(text)
        if self.kind is Kind.SIZE:
            size = _SIZE.fullmatch(text)
            if not size:
                raise TrainshedError(f"{self.name}={text}: write bytes, for instance 8, 64K or 1G")
            return int(size[1]) * _BYTES[size[2].upper()]
        if self.kind is Kind.RATE and text != PUBLISHED and not _RATE.fullmatch(text):
            raise TrainshedError(
                f"{self.name}={text}: write a number below 1, for instance 0.0015, or {PUBLISHED}"
            )
        if not text:
            raise TrainshedError(f"{self.name}=: the value is empty")
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNodes:
    """The nodes that a job gets.

    Attributes:
        instance: the nodes' type.
        count: how many they are.
        shared_folder: where the cluster's file system is mounted; None without one.
    """

    instance: InstanceType
    count: int
    shared_folder: str | None = None

    @property
    def ranks_each(self) -> int:
        """Processes that use all accelerators of a node."""
        return self.instance.accelerator.ranks

    @property
    def ranks(self) -> int:
        """Processes that use all accelerators of all nodes."""
        return self.count * self.ranks_each


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a job runs.

    Attributes:
        command: for each node.
        environment: variables, beside those of the job definition.
        files: that go with the job; None for none.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: SentFiles | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyJob:
    """A ready job for the accelerators of one maker.

    Attributes:
        name: for `--recipe`; ready jobs for several makers' accelerators share it.
        what: what it does, in a line.
        family: whose accelerators it is for.
        parameters: what may be set.
        work: makes the command of some nodes, with a value of each parameter.
        rehearsal: does the same on CPUs, small, with a folder that the nodes share; None where
            there is none.
        without: accelerators of the family that it is not for, with the reason.
    """

    name: str
    what: str
    family: AcceleratorFamily
    parameters: tuple[Parameter, ...]
    work: Callable[[JobNodes, Values], Work]
    rehearsal: Callable[[str], Work] | None = None
    without: Mapping[str, str] = field(default_factory=dict)

    def read(self, given: Mapping[str, str]) -> Values:
        """Return a value of each parameter.

        Args:
            given: those that were set.

        Raises:
            TrainshedError: there is no such parameter, or a value is wrong.
        """
        names = [parameter.name for parameter in self.parameters]
        for name in given:
            if name not in names:
                raise UnknownName(f"parameter of ready job {self.name}", name, names)
        return {
            each.name: each.read(given.get(each.name, each.default)) for each in self.parameters
        }

    def fits(self, instance: InstanceType) -> bool:
        """Return whether it is for an instance type."""
        accelerator = instance.accelerator
        return accelerator.family is self.family and accelerator.name not in self.without
