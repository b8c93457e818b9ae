"""The pins: every version, address and key of an image, read from packer/versions.json."""

from trainshed.ami.versions.fields import PinError
from trainshed.ami.versions.model import (
    ACCELERATORS,
    ANY,
    CONTAINER,
    CPU,
    ORCHESTRATORS,
    Base,
    Component,
    ContainerBase,
    Pins,
    Repository,
    Source,
    SourceAmi,
    SourceKind,
    Tool,
)
from trainshed.ami.versions.outdated import Outdated, outdated, pinned_versions
from trainshed.ami.versions.reader import parse_pins, read_pins

__all__ = [
    "ACCELERATORS",
    "ANY",
    "CONTAINER",
    "CPU",
    "ORCHESTRATORS",
    "Base",
    "Component",
    "ContainerBase",
    "Outdated",
    "PinError",
    "Pins",
    "Repository",
    "Source",
    "SourceAmi",
    "SourceKind",
    "Tool",
    "outdated",
    "parse_pins",
    "pinned_versions",
    "read_pins",
]
