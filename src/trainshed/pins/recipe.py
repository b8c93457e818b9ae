"""What one AMI or container image consists of: the one place that decides it.

`make recipes` writes it for each AMI into packer/recipes/, where the Packer template reads it and
takes it into the AMI; the build of a container image takes its own along.
"""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from trainshed.documents.model import Model
from trainshed.errors import TrainshedError, UnknownName
from trainshed.files import read_text
from trainshed.nodes.cells import ACCELERATORS, AGENTS
from trainshed.pins.model import (
    CONTAINER,
    Base,
    BaseSystem,
    Component,
    Pins,
    RepositorySource,
    SourceAmi,
)


class ComponentPin(Model):
    """A component at one version, from one source."""

    kind: str
    """archive (one file), apt or dnf (a vendor's repository), distribution, or git."""
    version: str
    url: str | None = None
    """Of the file or of the git repository."""
    sha256: str | None = None
    signature: str | None = None
    key: str | None = None
    """Address of the signing key, or its path in packer/scripts/lib."""
    fingerprint: str | None = None
    suite: str | None = None
    section: str | None = None
    packages: dict[str, str] = Field(default_factory=dict)
    """Exact version by name; empty for an archive."""
    basis: tuple[str, ...]
    """Where version and key were learned, and how sure that is."""


class Recipe(Model):
    """What an AMI or a container image consists of."""

    accelerator: str
    """`cpu` for a container image without one."""
    orchestrator: str
    """The agent; `container` for a container image."""
    base: str
    """The distribution, for instance `ubuntu-22.04`."""
    components: dict[str, ComponentPin]
    """In the order of pins.json."""


class AmiRecipe(BaseSystem, Recipe):
    """What an AMI consists of, and what it is baked from."""

    source_ami: SourceAmi


def recipe_names(pins: Pins) -> Iterator[tuple[str, str, str]]:
    """Yield accelerator, agent and base of every AMI that can be baked."""
    for accelerator in ACCELERATORS:
        for name, base in pins.bases.items():
            if accelerator in base.accelerators:
                yield from ((accelerator, agent, name) for agent in base.source_amis)


def ami_recipe(pins: Pins, accelerator: str, agent: str, base_name: str | None = None) -> AmiRecipe:
    """Return what an AMI consists of.

    Args:
        pins: of packer/pins.json.
        accelerator: `habana`, `neuron` or `nvidia`.
        agent: `ec2`, `ecs`, or `eks-` and a minor version of Kubernetes.
        base_name: by default the first that has an AMI for the cell.

    Raises:
        UnknownName: there is no such accelerator, agent or base.
        TrainshedError: there are no AMIs for that agent on that base.
    """
    name = pins.base_of(accelerator, agent, base_name)
    if agent not in AGENTS:
        raise UnknownName("agent", agent, AGENTS)
    base = pins.bases[name]
    if agent in base.refused:
        raise TrainshedError(
            f"there is no AMI for {accelerator}/{agent} on {name}: "
            f"{base.refused[agent]}; choose another "
            + ("base" if pins.bases_with(accelerator, agent) else "agent")
        )
    return AmiRecipe(
        **_components(pins, accelerator, agent, name),
        **_of_base(base),
        source_ami=base.source_amis[agent],
    )


def container_recipe(pins: Pins, name: str) -> Recipe:
    """Return what a container image may take.

    Args:
        pins: of packer/pins.json.
        name: `habana`, `neuron`, `nvidia` or `cpu`.
    """
    return Recipe(**_components(pins, name, CONTAINER, pins.containers[name].base))


def component_pin(pins: Pins, component: Component, place: str, base: str) -> ComponentPin:
    """Return a component as it comes from one of its sources, on a base."""
    source = component.sources[place]
    version = source.version or component.version
    fields: dict[str, Any] = source.model_dump(exclude={"repository"}) | {"version": version}
    basis = [component.basis]
    if isinstance(source, RepositorySource):
        repository = pins.repositories[source.repository]
        fields |= repository.model_dump(exclude={"basis"})
        basis.append(repository.basis)
        if repository.suite:
            suite = pins.bases[base].suite if base in pins.bases else None
            fields["suite"] = repository.suite.replace("{suite}", suite or "")
    for field in ("url", "signature", "key"):
        if fields.get(field):
            fields[field] = fields[field].replace("{version}", version)
    return ComponentPin(**(fields | {"basis": basis}))


def recipe_files(pins: Pins) -> dict[str, str]:
    """Return the files of packer/recipes by name; where a base refuses one, it says why."""
    files = {}
    for accelerator, agent, base in recipe_names(pins):
        recipe = ami_recipe(pins, accelerator, agent, base)
        files[f"{accelerator}-{agent}-{base}.json"] = recipe_text(recipe)
        for refused, why in pins.bases[base].refused.items():
            # Packer asks for the rest before it says why.
            fields = {"refused": why, **_of_base(pins.bases[base]), "components": {}}
            text = json.dumps(fields, indent=2) + "\n"
            files[f"{accelerator}-{refused}-{base}.json"] = text
    return files


def recipe_text(recipe: Recipe) -> str:
    """Return a recipe as JSON, each component on a line of its own."""
    fields = recipe.model_dump(exclude={"components"}, exclude_none=True)
    components = ",\n".join(
        f"    {json.dumps(name)}: {component.model_dump_json(exclude_defaults=True)}"
        for name, component in recipe.components.items()
    )
    head = json.dumps(fields, indent=2).removesuffix("\n}")
    return f'{head},\n  "components": {{\n{components}\n  }}\n}}\n'


def write_recipes(packer: Path, pins: Pins) -> None:
    """Write packer/recipes again.

    Args:
        packer: folder of the Packer template.
        pins: of its pins.json.
    """
    folder = packer / "recipes"
    folder.mkdir(exist_ok=True)
    files = recipe_files(pins)
    for old in folder.glob("*.json"):
        if old.name not in files:
            old.unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def require_current_recipes(packer: Path, pins: Pins) -> None:
    """Refuse to bake what pins.json no longer says.

    Args:
        packer: folder of the Packer template.
        pins: of its pins.json.

    Raises:
        TrainshedError: a file of packer/recipes is missing, or not what the pins give.
    """
    files, folder = recipe_files(pins), packer / "recipes"
    for name in (*files, *(path.name for path in sorted(folder.glob("*.json")))):
        path = folder / name
        if not path.is_file() or read_text(path) != files.get(name):
            option = "" if packer == Path("packer") else f" --template {shlex.quote(str(packer))}"
            raise TrainshedError(
                f"{path} is not what {packer / 'pins.json'} says; write the recipes: "
                f"trainshed ami recipes{option}"
            )


def _of_base(base: Base) -> dict[str, Any]:
    return base.model_dump(include={*BaseSystem.model_fields})


def _components(pins: Pins, accelerator: str, agent: str, base: str) -> dict[str, Any]:
    return {
        "accelerator": accelerator,
        "orchestrator": agent,
        "base": base,
        "components": {
            name: component_pin(pins, component, place, base)
            for name, component in pins.components.items()
            if accelerator in component.accelerators
            and agent in component.orchestrators
            and (place := component.place_on(base))
        },
    }
