"""The tables of docs/amis.md, written from the pins and from the template's variables."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trainshed.errors import TrainshedError
from trainshed.pins import (
    ANY,
    CONTAINER,
    Component,
    Pins,
    Source,
    SourceKind,
    read_pins,
)

_DRIVERS = {"habana": "habana-driver", "neuron": "neuron-dkms", "nvidia": "nvidia-driver"}
_RUNTIMES = {"habana": "habana-container-runtime", "nvidia": "nvidia-container-toolkit"}
_VARIABLE = re.compile(r'^variable "(\w+)" \{\n(.*?)^\}', re.MULTILINE | re.DOTALL)
_DESCRIPTION = re.compile(r'^ +description = "(.*)"$', re.MULTILINE)
_DEFAULT = re.compile(r"^ +default +=( .*)$", re.MULTILINE)


class PageError(TrainshedError):
    """A document without the marks that its tables belong between."""


def with_tables(document: str, pins: Pins, variables: str) -> str:
    """Return the document with its tables written anew.

    Args:
        document: text of docs/amis.md.
        pins: of packer/pins.json.
        variables: text of packer/variables.pkr.hcl.

    Raises:
        PageError: a table has no place in it.
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
            raise PageError(f"the document has no line {begin.strip()!r} followed by {end!r}")
        document = f"{before}{begin}\n{table}\n{end}{after}"
    return document


def cells_table(pins: Pins) -> str:
    """Return every image: base, kernel, driver, runtime and orchestrator of each."""
    rows = []
    for accelerator, orchestrator, name in pins.cells():
        base, cell = pins.bases[name], pins.cell(accelerator, orchestrator, name)
        parts = [_RUNTIMES.get(accelerator), "docker", "ecs-init"]
        rows.append(
            [
                f"{accelerator}/{orchestrator}",
                f"{name}: `{base.source_amis[orchestrator].name}`",
                f"`{base.kernel}`",
                _named(cell, [_DRIVERS[accelerator]]),
                _named(cell, [part for part in parts if part]) or "containerd of the base",
            ]
        )
    return _table(["cell", "base and its AMI", "kernel", "driver", "runs containers"], rows)


def variables_table(text: str) -> str:
    """Return what can be asked of a bake, in the order of the template."""
    rows = []
    for name, body in _VARIABLE.findall(text):
        description, default = _DESCRIPTION.search(body), _DEFAULT.search(body)
        told = description.group(1).replace('\\"', '"') if description else ""
        rows.append(
            [f"`{name}`", f"`{default.group(1).strip()}`" if default else "has to be given", told]
        )
    return _table(["variable", "default", "what it is"], rows)


def pins_table(pins: Pins) -> str:
    """Return every component of the images: version, origin, proof, and how sure that is."""
    rows = [
        [
            name,
            "<br>".join(_versions(component)),
            "<br>".join(dict.fromkeys(_proof(source) for source in component.sources.values())),
            "; ".join(_bases(component, pins)),
        ]
        for name, component in pins.components.items()
        if component.orchestrators != {CONTAINER}
    ]
    return _table(["component", "version", "confirmed by", "how sure"], rows)


def _named(cell: Mapping[str, Source], components: Sequence[str]) -> str:
    return "<br>".join(f"{name} {cell[name].version}" for name in components if name in cell)


def _versions(component: Component) -> Iterator[str]:
    versions = {base: source.version for base, source in component.sources.items()}
    if len(set(versions.values())) == 1:
        yield next(iter(versions.values()))
        return
    for base, version in versions.items():
        yield version if base == ANY else f"{version} ({base})"


def _bases(component: Component, pins: Pins) -> Iterator[str]:
    """Where version and fingerprint were learned; the latter is told once for a repository."""
    yield component.basis
    names = [source.repository for source in component.sources.values() if source.repository]
    yield from dict.fromkeys(pins.repositories[name].basis for name in names)


def _proof(source: Source) -> str:
    if source.kind is SourceKind.DISTRIBUTION:
        return "the distribution's key"
    proofs = []
    if source.sha256:
        proofs.append(f"sha256 `{source.sha256[:12]}...`")
    if source.fingerprint:
        proofs.append(f"key `{source.fingerprint}`")
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
