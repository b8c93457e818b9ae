"""The pinned versions of the cell that an image is of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainshed_node.documents import read_object, text
from trainshed_node.errors import NodeError

ANY_BASE = "any"
# Packages that go with one kind of NVIDIA's kernel modules: V100 has no open ones, and no CUDA 13,
# so that DCGM needs its parts for CUDA 12 there; the newest GPUs have none but open ones. Ubuntu's
# are named after the driver's branch.
_ONLY_WITH_DRIVER = {
    "kmod-nvidia-open-dkms": "open",
    "kmod-nvidia-latest-dkms": "proprietary",
    r"nvidia-(dkms|kernel-source)-\d+-open": "open",
    r"nvidia-(dkms|kernel-source)-\d+": "proprietary",
    "datacenter-gpu-manager-4(-proprietary)?-cuda12": "proprietary",
}


@dataclass(frozen=True)
class Cell:
    """Which of the images this is.

    Attributes:
        accelerator: `habana`, `neuron` or `nvidia`.
        orchestrator: `ec2`, `ecs` or `eks`.
        base: the distribution, for instance `ubuntu-22.04`.
    """

    accelerator: str
    orchestrator: str
    base: str

    def __str__(self) -> str:
        """Name it as messages do."""
        return f"{self.accelerator}/{self.orchestrator} on {self.base}"


@dataclass(frozen=True)
class Component:
    """One thing that is installed, at one version.

    Attributes:
        name: for instance `efa-installer`.
        version: as the vendor writes it, for this base.
        source: where it comes from for this base: kind, url, packages and so on.
        basis: where the version and the fingerprint were learned, and how sure that is.
    """

    name: str
    version: str
    source: Mapping[str, Any]
    basis: str

    @property
    def packages(self) -> Mapping[str, str]:
        """Exact version of each of its packages; none for an archive."""
        packages: Mapping[str, str] = self.source["packages"]
        return packages

    def field(self, name: str) -> object:
        """Return a fact, with the version filled in; None when the source does not have it."""
        own = {"version": self.version, "basis": self.basis}
        value = own.get(name, self.source.get(name))
        return value.replace("{version}", self.version) if isinstance(value, str) else value


@dataclass(frozen=True)
class Pins:
    """Everything `pins.json` says of one cell.

    Attributes:
        image: `image.json`, as it was written.
        cell: which image this is.
        base: kernel, release, suite and source AMIs.
        components: what the cell consists of, by name, in the order of the file.
    """

    image: Mapping[str, Any]
    cell: Cell
    base: Mapping[str, Any]
    components: Mapping[str, Component]

    @property
    def kernel(self) -> str:
        """The pinned kernel, as `uname -r` prints it."""
        return text(dict(self.base), "kernel", f"base {self.cell.base}")

    def component(self, name: str) -> Component:
        """Return one component.

        Raises:
            NodeError: the cell has none of that name.
        """
        if name not in self.components:
            known = ", ".join(self.components)
            raise NodeError(name, f"is no component of {self.cell}; these are: {known}")
        return self.components[name]


def read_pins(home: Path) -> Pins:
    """Read `image.json` and `pins.json` in a directory.

    Args:
        home: `/opt/trainshed`.

    Raises:
        NodeError: a file is missing or does not know this image's base.
    """
    image, versions = read_object(home / "image.json"), read_object(home / "pins.json")
    where = str(home / "image.json")
    cell = Cell(*(text(image, key, where) for key in ("accelerator", "orchestrator", "base")))
    bases = versions.get("bases", {})
    if cell.base not in bases:
        raise NodeError(cell.base, f"is no base of pins.json; these are: {', '.join(bases)}")
    base, repositories = bases[cell.base], versions.get("repositories", {})
    components = {}
    for name, entry in versions.get("components", {}).items():
        source = _source(entry, cell)
        if source is not None:
            driver = image.get("nvidia_driver")
            components[name] = _component(name, entry, source, base, driver, repositories)
    return Pins(image=image, cell=cell, base=base, components=components)


def _source(entry: Mapping[str, Any], cell: Cell) -> Mapping[str, Any] | None:
    """Where a component of the cell comes from; None when it is of other cells."""
    if cell.accelerator not in (entry.get("accelerators") or [cell.accelerator]):
        return None
    if cell.orchestrator not in (entry.get("orchestrators") or [cell.orchestrator]):
        return None
    sources: Mapping[str, Mapping[str, Any]] = entry.get("sources", {})
    # The base, then every release of its distribution.
    places = (cell.base, cell.base.rpartition("-")[0], ANY_BASE)
    return next((sources[place] for place in places if place in sources), None)


def _component(
    name: str,
    entry: Mapping[str, Any],
    own: Mapping[str, Any],
    base: Mapping[str, Any],
    driver: object,
    repositories: Mapping[str, Mapping[str, Any]],
) -> Component:
    # Where several components come from is written once; a source only names it.
    repository = repositories[own["repository"]] if "repository" in own else {}
    source = {**repository, **own}
    if "suite" in source:
        source["suite"] = source["suite"].replace("{suite}", base.get("suite", ""))
    source["packages"] = {
        package: version
        for package, version in source.get("packages", {}).items()
        if not _is_of_other_driver(package, driver)
    }
    return Component(
        name=name,
        # Two distributions seldom have the same build: a source's own version counts first.
        version=text({**entry, **source}, "version", name),
        source=source,
        basis="; ".join(part["basis"] for part in (entry, repository) if part.get("basis")),
    )


def _is_of_other_driver(package: str, driver: object) -> bool:
    return any(
        re.fullmatch(pattern, package) and kind != driver
        for pattern, kind in _ONLY_WITH_DRIVER.items()
    )
