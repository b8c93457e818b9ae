"""The pins: every version, address and key of an AMI, read from packer/pins.json."""

from trainshed.pins.cell import (
    AmiPins,
    CellPins,
    ComponentPin,
    ami_cells,
    ami_pins,
    cell_text,
    component_pin,
    container_pins,
    require_current_cells,
    write_cells,
)
from trainshed.pins.model import ANY, CONTAINER, CPU, BuildTools, Component, FileTool, Pins
from trainshed.pins.outdated import Outdated, outdated, pinned_versions
from trainshed.pins.reader import PinError, parse_pins, read_pins

__all__ = [
    "ANY",
    "CONTAINER",
    "CPU",
    "AmiPins",
    "BuildTools",
    "CellPins",
    "Component",
    "ComponentPin",
    "FileTool",
    "Outdated",
    "PinError",
    "Pins",
    "ami_cells",
    "ami_pins",
    "cell_text",
    "component_pin",
    "container_pins",
    "outdated",
    "parse_pins",
    "pinned_versions",
    "read_pins",
    "require_current_cells",
    "write_cells",
]
