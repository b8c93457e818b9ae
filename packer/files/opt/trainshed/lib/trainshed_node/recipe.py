"""What an AMI or a container image consists of, at which versions."""

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
class Component:
    """One component, at one version.

    Attributes:
        name: for instance `efa-installer`.
        fields: version, kind, url and so on, as `recipe.json` has them.
        packages: exact version of each of its packages; none for an archive.
    """

    name: str
    fields: Mapping[str, Any]
    packages: Mapping[str, str]

    @property
    def version(self) -> str:
        """As the vendor writes it, for this base."""
        return text(self.fields, "version", self.name)

    def field(self, name: str) -> object:
        """Return a field; None when the component does not have it."""
        return self.packages if name == "packages" else self.fields.get(name)


@dataclass(frozen=True)
class Recipe:
    """What this AMI or container image consists of.

    Attributes:
        accelerator: `habana`, `neuron` or `nvidia`; `cpu` for a container image without one.
        agent: `ec2`, `ecs`, or for instance `eks-1.35`; `container` for a container image.
        base: the distribution, for instance `ubuntu-22.04`.
        base_fields: its kernel, release and so on; empty for a container image.
        components: by name, in the order of `packer/pins.json`.
        ami: `ami.json`: when the AMI was built, of which commit, and with which NVIDIA driver;
            empty for a container image.
    """

    accelerator: str
    agent: str
    base: str
    base_fields: Mapping[str, Any]
    components: Mapping[str, Component]
    ami: Mapping[str, Any]

    @property
    def kernel(self) -> str:
        """The pinned kernel, as `uname -r` prints it."""
        return text(self.base_fields, "kernel", f"base {self.base}")

    @property
    def kubernetes(self) -> str:
        """Minor version of Kubernetes of a node of EKS, for instance `1.35`; empty elsewhere."""
        return self.agent.partition("eks-")[2]

    def __str__(self) -> str:
        """Name it as messages do."""
        return f"{self.accelerator}/{self.agent} on {self.base}"

    def component(self, name: str) -> Component:
        """Return one component.

        Raises:
            NodeError: there is none of that name.
        """
        if name not in self.components:
            known = ", ".join(self.components)
            raise NodeError(name, f"is not a component of {self}; these are: {known}")
        return self.components[name]


def read_recipe(home: Path) -> Recipe:
    """Read `recipe.json`, and in an AMI `ami.json`, in a directory.

    Args:
        home: `/opt/trainshed`.

    Raises:
        NodeError: a file is missing or wrong.
    """
    path = home / "recipe.json"
    fields = read_object(path)
    accelerator, agent, base = (
        text(fields, key, str(path)) for key in ("accelerator", "orchestrator", "base")
    )
    ami = {} if agent == "container" else read_object(home / "ami.json")
    components = {
        name: Component(name, each, _of_driver(each.get("packages", {}), ami))
        for name, each in fields.pop("components", {}).items()
    }
    return Recipe(accelerator, agent, base, fields, components, ami)


def _of_driver(packages: Mapping[str, str], ami: Mapping[str, Any]) -> Mapping[str, str]:
    """Leave out the packages of the NVIDIA driver that this AMI does not have."""
    driver = ami.get("nvidia_driver")
    return {
        package: version
        for package, version in packages.items()
        if not any(
            re.fullmatch(pattern, package) and kind != driver
            for pattern, kind in _ONLY_WITH_DRIVER.items()
        )
    }
