"""The pins: every version, address and key of an image, read from packer/pins.json."""

from trainshed.pins.fields import PinError
from trainshed.pins.model import (
    ANY,
    CONTAINER,
    CPU,
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
from trainshed.pins.outdated import Outdated, outdated, pinned_versions
from trainshed.pins.reader import parse_pins, read_pins

__all__ = [
    "ANY",
    "CONTAINER",
    "CPU",
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
