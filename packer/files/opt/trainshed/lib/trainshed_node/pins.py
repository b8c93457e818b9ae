"""The pinned versions of the cell that an image is of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainshed_node.documents import read_object, text
from trainshed_node.errors import NodeError

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
class NodeCell:
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
    """One component, at one version.

    Attributes:
        name: for instance `efa-installer`.
        facts: version, kind, url and so on, as `cell.json` has them.
        packages: exact version of each of its packages; none for an archive.
    """

    name: str
    facts: Mapping[str, Any]
    packages: Mapping[str, str]

    @property
    def version(self) -> str:
        """As the vendor writes it, for this base."""
        return text(self.facts, "version", self.name)

    def field(self, name: str) -> object:
        """Return a fact; None when the component does not have it."""
        return self.packages if name == "packages" else self.facts.get(name)


@dataclass(frozen=True)
class Pins:
    """What this AMI or container image consists of.

    Attributes:
        image: `image.json`, as it was written.
        cell: which one this is.
        base: kernel, release and so on of its distribution.
        components: by name, in the order of `packer/pins.json`.
    """

    image: Mapping[str, Any]
    cell: NodeCell
    base: Mapping[str, Any]
    components: Mapping[str, Component]

    @property
    def kernel(self) -> str:
        """The pinned kernel, as `uname -r` prints it."""
        return text(self.base, "kernel", f"base {self.cell.base}")

    def component(self, name: str) -> Component:
        """Return one component.

        Raises:
            NodeError: the cell has none of that name.
        """
        if name not in self.components:
            known = ", ".join(self.components)
            raise NodeError(name, f"is not a component of {self.cell}; these are: {known}")
        return self.components[name]


def read_pins(home: Path) -> Pins:
    """Read `image.json` and `cell.json` in a directory.

    Args:
        home: `/opt/trainshed`.

    Raises:
        NodeError: a file is missing or wrong.
    """
    image, pins = read_object(home / "image.json"), read_object(home / "cell.json")
    where = str(home / "image.json")
    cell = NodeCell(*(text(image, key, where) for key in ("accelerator", "orchestrator", "base")))
    components = {
        name: Component(name, facts, _of_driver(facts.get("packages", {}), image))
        for name, facts in pins.pop("components", {}).items()
    }
    return Pins(image=image, cell=cell, base=pins, components=components)


def _of_driver(packages: Mapping[str, str], image: Mapping[str, Any]) -> Mapping[str, str]:
    """Leave out the packages of the NVIDIA driver that this AMI does not have."""
    driver = image.get("nvidia_driver")
    return {
        package: version
        for package, version in packages.items()
        if not any(
            re.fullmatch(pattern, package) and kind != driver
            for pattern, kind in _ONLY_WITH_DRIVER.items()
        )
    }
