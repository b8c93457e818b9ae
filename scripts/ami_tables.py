"""The tables of docs/amis.md, written from the pins and from the template's variables."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from trainshed.errors import TrainshedError
from trainshed.findings.pages import as_markdown
from trainshed.nodes.cells import Cell
from trainshed.pins.model import ANY, CONTAINER, Component, Pins
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import AmiRecipe, ComponentPin, ami_recipe, component_pin, recipe_names
from trainshed.pins.storage_clients import STORAGE_CLIENTS, bases_that_mount

_DRIVERS = {"habana": "habana-driver", "neuron": "neuron-dkms", "nvidia": "nvidia-driver"}
_RUNTIMES = {"habana": "habana-container-runtime", "nvidia": "nvidia-container-toolkit"}
_VARIABLE = re.compile(r'^variable "(\w+)" \{\n(.*?)^\}', re.MULTILINE | re.DOTALL)
_DESCRIPTION = re.compile(r'^ +description = "(.*)"$', re.MULTILINE)
_DEFAULT = re.compile(r"^ +default +=( .*)$", re.MULTILINE)


def with_tables(document: str, pins: Pins, variables: str) -> str:
    """Return the document with its tables written again.

    Args:
        document: text of docs/amis.md.
        pins: of packer/pins.json.
        variables: text of packer/variables.pkr.hcl.

    Raises:
        TrainshedError: a table has no place in it.
    """
    tables = {
        "cells": cells_table(pins),
        "variables": variables_table(variables),
        "pins": pins_table(pins),
    }
    for name, table in tables.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, mark, rest = document.partition(begin)
        _, other_mark, after = rest.partition(end)
        if not mark or not other_mark:
            raise TrainshedError(f"the document has no line {begin.strip()!r} followed by {end!r}")
        document = f"{before}{begin}\n{table}\n{end}{after}"
    return document


def cells_table(pins: Pins) -> str:
    """Return every AMI: base, kernel, driver, runtime, agent and storage; or why there is none."""
    rows = []
    for accelerator, agent, base in recipe_names(pins):
        recipe = ami_recipe(pins, accelerator, agent, base)
        parts = [_RUNTIMES.get(accelerator), "docker", "ecs-init"]
        mounted = [
            kind
            for kind in STORAGE_CLIENTS
            if base in bases_that_mount(pins, kind, accelerator, agent)
        ]
        rows.append(
            [
                f"{accelerator}/{agent}",
                f"{base}: `{recipe.source_ami.name}`",
                f"`{recipe.kernel}`",
                _named(recipe, [_DRIVERS[accelerator]]),
                _named(recipe, [part for part in parts if part]) or "containerd of the base",
                ", ".join(mounted),
            ]
        )
    for cell in Cell:
        if why := pins.why_none(cell.accelerator, cell.agent):
            rows.append([str(cell), f"none: {why}", "", "", "", ""])
    columns = ["cell", "base and its AMI", "kernel", "driver", "runs containers", "mounts"]
    return _table(columns, rows)


def variables_table(text: str) -> str:
    """Return the variables of a bake, in the order of the template."""
    rows = []
    for name, body in _VARIABLE.findall(text):
        description, default = _DESCRIPTION.search(body), _DEFAULT.search(body)
        what = as_markdown(description.group(1).replace('\\"', '"')) if description else ""
        rows.append([f"`{name}`", f"`{default.group(1).strip()}`" if default else "required", what])
    return _table(["variable", "default", "what it is"], rows)


def pins_table(pins: Pins) -> str:
    """Return every component of the AMIs: version, origin, proof, and how sure that is.

    Components of which all that is the same share a row.
    """
    names: dict[tuple[str, str, str], list[str]] = {}
    for name, component in pins.components.items():
        if component.orchestrators == (CONTAINER,):
            continue
        places = [component_pin(pins, component, place, place) for place in component.sources]
        facts = (
            "<br>".join(_versions(component)),
            "<br>".join(dict.fromkeys(map(_proof, places))),
            "; ".join(dict.fromkeys(basis for pin in places for basis in pin.basis)),
        )
        names.setdefault(facts, []).append(name)
    rows = [["<br>".join(alike), *facts] for facts, alike in names.items()]
    return _table(["component", "version", "confirmed by", "how sure"], rows)


def _named(recipe: AmiRecipe, components: Sequence[str]) -> str:
    pins = recipe.components
    return "<br>".join(f"{name} {pins[name].version}" for name in components if name in pins)


def _versions(component: Component) -> Iterator[str]:
    versions = component.versions()
    if len(set(versions.values())) == 1:
        yield next(iter(versions.values()))
        return
    for base, version in versions.items():
        yield version if base == ANY else f"{version} ({base})"


def _proof(pin: ComponentPin) -> str:
    if pin.kind == "distribution":
        return "the distribution's key"
    proofs = []
    if pin.sha256:
        proofs.append(f"sha256 `{pin.sha256[:12]}...`")
    if pin.fingerprint:
        proofs.append(f"key `{pin.fingerprint}`")
    return " and ".join(proofs)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    page, template = Path("docs/amis.md"), Path("packer")
    page.write_text(
        with_tables(
            page.read_text(encoding="utf-8"),
            read_pins(template / "pins.json"),
            (template / "variables.pkr.hcl").read_text(encoding="utf-8"),
        ),
        encoding="utf-8",
    )
