"""What `packer/pins.json` says about one container image."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainshed.errors import UnknownName
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import Recipe, container_recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPins:
    """The pins of one container image.

    Attributes:
        name: `habana`, `neuron`, `nvidia` or `cpu`.
        reference: the base image, by digest where one is pinned.
        recipe: all that this image could take, and the distribution of the base image.
        drivers: range of versions that the host must have, by component of the AMI.
    """

    name: str
    reference: str
    recipe: Recipe
    drivers: Mapping[str, str]


def read_container(path: Path, name: str) -> ContainerPins:
    """Read the pins of one container image.

    Args:
        path: packer/pins.json.
        name: `habana`, `neuron`, `nvidia` or `cpu`.

    Raises:
        PinError: the file is wrong.
        UnknownName: there is no such image.
    """
    pins = read_pins(path)
    if name not in pins.containers:
        raise UnknownName("container image", name, pins.containers)
    container, recipe = pins.containers[name], container_recipe(pins, name)
    tagged = f"{container.image}:{container.tag}"
    return ContainerPins(
        name=name,
        reference=f"{tagged}@{container.digest}" if container.digest else tagged,
        recipe=recipe,
        drivers={
            component: versions.replace("{version}", recipe.components[component].version)
            if component in recipe.components
            else versions
            for component, versions in container.drivers.items()
        },
    )
