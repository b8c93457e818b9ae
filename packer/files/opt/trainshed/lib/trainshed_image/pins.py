"""The pinned versions of the cell that an image is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainshed_image.documents import read_object, text
from trainshed_image.errors import ImageError

ANY_BASE = "any"
# One of them per image: V100 has no open driver, the newest GPUs have no other.
_NVIDIA_MODULES = {"open": "kmod-nvidia-open-dkms", "proprietary": "kmod-nvidia-latest-dkms"}


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
    """Everything `versions.json` says of one cell.

    Attributes:
        image: `image.json`, as it was written.
        cell: which image this is.
        base: kernel, release and source AMIs.
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
            ImageError: the cell has none of that name.
        """
        if name not in self.components:
            known = ", ".join(self.components)
            raise ImageError(name, f"is no component of {self.cell}; these are: {known}")
        return self.components[name]


def read_pins(home: Path) -> Pins:
    """Read `image.json` and `versions.json` in a directory.

    Args:
        home: `/opt/trainshed`.

    Raises:
        ImageError: a file is missing or does not know this image's base.
    """
    image, versions = read_object(home / "image.json"), read_object(home / "versions.json")
    where = str(home / "image.json")
    cell = Cell(*(text(image, key, where) for key in ("accelerator", "orchestrator", "base")))
    bases = versions.get("bases", {})
    if cell.base not in bases:
        raise ImageError(cell.base, f"is no base of versions.json; these are: {', '.join(bases)}")
    repositories = versions.get("repositories", {})
    components = {
        name: _component(name, entry, cell, image.get("nvidia_driver"), repositories)
        for name, entry in versions.get("components", {}).items()
        if _is_of(entry, cell)
    }
    return Pins(image=image, cell=cell, base=bases[cell.base], components=components)


def _is_of(entry: Mapping[str, Any], cell: Cell) -> bool:
    accelerators = entry.get("accelerators") or [cell.accelerator]
    orchestrators = entry.get("orchestrators") or [cell.orchestrator]
    sources = entry.get("sources", {})
    return (
        cell.accelerator in accelerators
        and cell.orchestrator in orchestrators
        and (cell.base in sources or ANY_BASE in sources)
    )


def _component(
    name: str,
    entry: Mapping[str, Any],
    cell: Cell,
    driver: object,
    repositories: Mapping[str, Mapping[str, Any]],
) -> Component:
    sources = entry["sources"]
    own = sources.get(cell.base, sources.get(ANY_BASE))
    # Where several components come from is written once; a source only names it.
    repository = repositories[own["repository"]] if "repository" in own else {}
    source = {**repository, **own}
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
    return package in _NVIDIA_MODULES.values() and package != _NVIDIA_MODULES.get(str(driver))
