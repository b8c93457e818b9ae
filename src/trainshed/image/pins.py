"""What `packer/versions.json` says of one container image."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainshed.errors import TrainshedError, UnknownName

# What components that only containers have name as their orchestrator.
ORCHESTRATOR = "container"
_ANY_BASE = "any"


class PinsError(TrainshedError):
    """The pins do not say what an image needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPins:
    """The pins of one container image.

    Attributes:
        name: `habana`, `neuron`, `nvidia` or `cpu`.
        reference: the base image, by digest where one is pinned.
        base: the distribution that the base image is of, for instance `ubuntu-22.04`.
        versions: version by component, of all that this image could take.
        drivers: range of versions that the host must have, by component of the AMI.
        document: versions.json as the programs in the image read it.
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
        path: packer/versions.json.
        name: `habana`, `neuron`, `nvidia` or `cpu`.

    Raises:
        PinsError: the file cannot be read, or lacks something.
        UnknownName: there is no such image.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        containers = document["containers"]
        if name not in containers:
            raise UnknownName("container image", name, containers)
        entry, components = containers[name], document["components"]
        base = entry["base"]
        taken = {
            component: facts
            for component, facts in components.items()
            if _is_taken(facts, name, base)
        }
        versions = {component: _version(facts, base) for component, facts in taken.items()}
        return ContainerPins(
            name=name,
            reference=_reference(entry),
            base=base,
            versions=versions,
            drivers={
                component: text.replace("{version}", _version(components[component], base))
                for component, text in entry["drivers"].items()
            },
            document={"bases": {base: {}}, "components": taken},
        )
    except OSError as error:
        raise PinsError(
            f"{path} cannot be read: {error.strerror}; run this in the checkout of trainshed"
        ) from error
    except ValueError as error:
        raise PinsError(f"{path} is not JSON: {error}") from error
    except KeyError as error:
        raise PinsError(f"{path} has no {error} for the container image {name}") from error


def _is_taken(facts: Mapping[str, Any], name: str, base: str) -> bool:
    return (
        name in facts.get("accelerators", [name])
        and ORCHESTRATOR in facts.get("orchestrators", [ORCHESTRATOR])
        and bool({base, _ANY_BASE} & facts["sources"].keys())
    )


def _version(facts: Mapping[str, Any], base: str) -> str:
    sources = facts["sources"]
    source = sources.get(base) or sources.get(_ANY_BASE) or {}
    version: str = source.get("version") or facts["version"]
    return version


def _reference(entry: Mapping[str, Any]) -> str:
    digest = entry.get("digest")
    tagged = f"{entry['image']}:{entry['tag']}"
    return f"{tagged}@{digest}" if digest else tagged
