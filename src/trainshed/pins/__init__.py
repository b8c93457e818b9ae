"""The pins: every version, address and key of an AMI, read from packer/pins.json."""

from trainshed.pins.model import ANY, CONTAINER, CPU, BuildTools, Component, FileTool, Pins
from trainshed.pins.outdated import Outdated, outdated, pinned_versions
from trainshed.pins.reader import PinError, parse_pins, read_pins
from trainshed.pins.recipe import (
    AmiRecipe,
    ComponentPin,
    Recipe,
    ami_recipe,
    component_pin,
    container_recipe,
    recipe_names,
    recipe_text,
    require_current_recipes,
    write_recipes,
)

__all__ = [
    "ANY",
    "CONTAINER",
    "CPU",
    "AmiRecipe",
    "BuildTools",
    "Component",
    "ComponentPin",
    "FileTool",
    "Outdated",
    "PinError",
    "Pins",
    "Recipe",
    "ami_recipe",
    "component_pin",
    "container_recipe",
    "outdated",
    "parse_pins",
    "pinned_versions",
    "read_pins",
    "recipe_names",
    "recipe_text",
    "require_current_recipes",
    "write_recipes",
]
