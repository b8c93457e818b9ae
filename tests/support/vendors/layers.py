"""What the images that bakes start from bring along, over the guests' roots."""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from vendors.contents import package_contents
from vendors.debian import build_deb
from vendors.keys import KeyRing
from vendors.nodes import canonical_kubelet, kubelet, nodeadm
from vendors.package import Contents, Package
from vendors.redhat import build_rpms
from vendors.snaps import snapped_agent

from embedded_aws.guests.layers import make_layer

# What the guests' root has from Debian and scripts of RPM's packages need.
_SHELL = Package(
    name="bash", version="5.2.15-1.amzn2023.0.2", contents=Contents(provides=("/bin/sh",))
)
# Documented: what AWS's images of the pinned dates have. It is older than the pins, so that bakes
# upgrade it.
_ECS_PACKAGES = {
    "containerd": "2.1.4-1.amzn2023.0.1",
    "docker": "25.0.14-1.amzn2023.0.1",
    "ecs-init": "1.106.2-1.amzn2023",
    "runc": "1.3.2-1.amzn2023.0.1",
}
_EKS_PACKAGES = {"containerd": "2.1.4-1.amzn2023.0.1", "runc": "1.3.2-1.amzn2023.0.1"}
_NOBLE_EKS_PACKAGES = {"containerd": "1.7.28-0ubuntu1~24.04.1", "runc": "1.3.3-0ubuntu1~24.04.1"}
# Of the pinned AMIs; the patch release is anyone's.
_AMAZON_KUBERNETES, _NOBLE_KUBERNETES = ("1.34", "1.35", "1.36"), ("1.34", "1.35")
_PATCH = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Whose keys an image trusts.

    Attributes:
        root: the guests' root.
        key: where the distribution's own key lies.
        armored: whether it is text.
        owner: whose key it is in the key ring.
    """

    root: str
    key: tuple[str, ...]
    armored: bool
    owner: str


UBUNTU = Distribution(
    root="ubuntu",
    key=(
        "usr/share/keyrings/ubuntu-archive-keyring.gpg",
        "etc/apt/trusted.gpg.d/ubuntu-keyring-2018-archive.gpg",
    ),
    armored=False,
    owner="ubuntu",
)
NOBLE = replace(UBUNTU, root="noble")
AMAZON_LINUX = Distribution(
    root="amazon",
    key=("etc/pki/rpm-gpg/RPM-GPG-KEY-amazon-linux-2023",),
    armored=True,
    owner="amazon-linux-2023",
)


def build_layers(folder: Path, roots: Path, keys: KeyRing) -> None:
    """Write a layer for each flavour of image.

    Args:
        folder: gets a folder for each flavour.
        roots: where the prepared roots are.
        keys: who signs the distributions' packages.
    """
    for name, distribution, packages in (
        # The distributions' own come first: the others lie over them.
        ("ubuntu", UBUNTU, {}),
        ("noble", NOBLE, {}),
        ("amazon", AMAZON_LINUX, {}),
        *((f"noble-eks-{each}", NOBLE, _NOBLE_EKS_PACKAGES) for each in _NOBLE_KUBERNETES),
        ("amazon-ecs", AMAZON_LINUX, _ECS_PACKAGES),
        *((f"amazon-eks-{each}", AMAZON_LINUX, _EKS_PACKAGES) for each in _AMAZON_KUBERNETES),
    ):
        layer = folder / name
        if name == distribution.root:
            _trust(layer, distribution, keys)
        # Neither image has these from a package.
        if minor := name.partition("-eks-")[2]:
            version = f"{minor}.{_PATCH}"
            if distribution is AMAZON_LINUX:
                kubelet(version).unpack(layer)
                nodeadm(version).unpack(layer)
            else:
                canonical_kubelet(version).unpack(layer)
        built = [
            Package(name=name, version=version, contents=package_contents(name, version))
            for name, version in packages.items()
        ]
        if name == "amazon":
            built.append(_SHELL)
        if name in ("ubuntu", "noble"):
            # Debian's libraries refuse programs of Ubuntu's age, which here are stubs.
            make_layer(
                [roots / name, roots / "base"], layer, "sed -i /^Breaks:/d /var/lib/dpkg/status"
            )
            snapped_agent().unpack(layer)
        if built:
            lower = [roots / distribution.root, roots / "base"]
            if name != distribution.root:
                lower.insert(0, folder / distribution.root)
            _install(layer, distribution, built, lower)


def _trust(layer: Path, distribution: Distribution, keys: KeyRing) -> None:
    for place in distribution.key:
        target = layer / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(keys.public(distribution.owner, armored=distribution.armored))


def _install(
    layer: Path, distribution: Distribution, packages: list[Package], lower: list[Path]
) -> None:
    """Install packages as the image's maker did: they are in the package manager's database."""
    stubs = layer / "stubs"
    stubs.mkdir(parents=True)
    if distribution is not AMAZON_LINUX:
        for package in packages:
            build_deb(package, stubs)
        script = "dpkg --install /stubs/*.deb"
    else:
        with tempfile.TemporaryDirectory() as work:
            build_rpms(packages, stubs, Path(work))
        script = "rpm --install --force-debian --nosignature /stubs/*.rpm"
    make_layer(lower, layer, f"{script}; rm -r /stubs")
