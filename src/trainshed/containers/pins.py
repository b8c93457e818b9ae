"""What `packer/pins.json` says of one container image."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainshed.errors import UnknownName
from trainshed.pins import CONTAINER, ContainerBase, Pins, Source, read_pins


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPins:
    """The pins of one container image.

    Attributes:
        name: `habana`, `neuron`, `nvidia` or `cpu`.
        reference: the base image, by digest where one is pinned.
        base: the distribution that the base image is of, for instance `ubuntu-22.04`.
        versions: version by component, of all that this image could take.
        drivers: range of versions that the host must have, by component of the AMI.
        document: pins.json as the programs in the image read it.
    """

    name: str
    reference: str
    base: str
    versions: Mapping[str, str]
    drivers: Mapping[str, str]
    document: Mapping[str, Any]


def read_container(path: Path, name: str) -> ContainerPins:
    """Read the pins of one container image.

    Args:
        path: packer/pins.json.
        name: `habana`, `neuron`, `nvidia` or `cpu`.

    Raises:
        PinError: the file cannot be read, or says what cannot be.
        UnknownName: there is no such image.
    """
    pins = read_pins(path)
    if name not in pins.containers:
        raise UnknownName("container image", name, pins.containers)
    container = pins.containers[name]
    sources = _sources(pins, name, container.base)
    document = json.loads(path.read_text(encoding="utf-8"))
    repositories = {source.repository for source in sources.values() if source.repository}
    return ContainerPins(
        name=name,
        reference=_reference(container),
        base=container.base,
        versions={component: source.version for component, source in sources.items()},
        drivers={
            component: versions.replace("{version}", sources[component].version)
            if component in sources
            else versions
            for component, versions in container.drivers.items()
        },
        document={
            "bases": {container.base: _base(pins, container.base)},
            "repositories": {name: document["repositories"][name] for name in repositories},
            "components": {name: document["components"][name] for name in sources},
        },
    )


def _sources(pins: Pins, name: str, base: str) -> dict[str, Source]:
    return {
        component: source
        for component, facts in pins.components.items()
        if name in facts.accelerators
        and CONTAINER in facts.orchestrators
        and (source := facts.source_on(base)) is not None
    }


def _base(pins: Pins, name: str) -> dict[str, str]:
    suite = pins.bases[name].suite if name in pins.bases else None
    return {"suite": suite} if suite else {}


def _reference(container: ContainerBase) -> str:
    tagged = f"{container.image}:{container.tag}"
    return f"{tagged}@{container.digest}" if container.digest else tagged
