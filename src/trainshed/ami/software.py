"""The packages of an AMI, as `dpkg -l` or `rpm -qa` lists them, and their bill of materials."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from trainshed.errors import TrainshedError
from trainshed.files import LARGEST_MADE, read_text

_TOOL = "distro2sbom"
# Namespace of package URLs: https://github.com/package-url/purl-spec, types deb and rpm.
_NAMESPACES = {"ubuntu": "ubuntu", "amazon-linux": "amzn"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One installed package.

    Attributes:
        name: as the package manager writes it.
        version: with its release.
        architecture: for instance `amd64`, `x86_64`, `all`.
    """

    name: str
    version: str
    architecture: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """The distribution that the packages are of.

    Attributes:
        name: `ubuntu` or `amazon-linux`.
        release: for instance `22.04`.
    """

    name: str
    release: str

    @classmethod
    def of_base(cls, base: str) -> "Distribution":
        """Return the distribution that a base of pins.json names, such as `ubuntu-22.04`.

        What follows an underscore is not the distribution's: `ubuntu-24.04_6.8` has that kernel.

        Raises:
            TrainshedError: AMIs are not made of it.
        """
        name, _, release = base.partition("_")[0].rpartition("-")
        if name not in _NAMESPACES:
            known = ", ".join(_NAMESPACES)
            raise TrainshedError(f"base {base!r} is of no known distribution; these are: {known}")
        return cls(name=name, release=release)

    @property
    def is_rpm(self) -> bool:
        """Its packages are RPM's; else they are Debian's."""
        return self.name == "amazon-linux"

    def package_url(self, package: Package) -> str:
        """Return the package URL (purl) of one of its packages."""
        namespace = _NAMESPACES[self.name]
        kind = "rpm" if self.is_rpm else "deb"
        name, version = quote(package.name, safe=""), quote(package.version, safe=":")
        qualifiers = f"arch={package.architecture}&distro={namespace}-{self.release}"
        return f"pkg:{kind}/{namespace}/{name}@{version}?{qualifiers}"


def read_packages(listing: str, distribution: Distribution) -> tuple[Package, ...]:
    """Read what `dpkg -l` or `rpm -qa` printed.

    Raises:
        TrainshedError: it lists no package.
    """
    read = _read_rpm if distribution.is_rpm else _read_dpkg
    packages = tuple(package for line in listing.splitlines() if (package := read(line)))
    if not packages:
        command = "rpm -qa" if distribution.is_rpm else "dpkg -l"
        raise TrainshedError(f"packages.txt lists no package; it must be what `{command}` prints")
    return packages


def _read_dpkg(line: str) -> Package | None:
    # Desired and actual state: `ii`, and `hi` for a package on hold.
    match = re.match(r"[a-z]i\s+([^\s:]+)(?::\S+)?\s+(\S+)\s+(\S+)", line)
    return Package(name=match[1], version=match[2], architecture=match[3]) if match else None


def _read_rpm(line: str) -> Package | None:
    # From the right: neither architecture, release nor version has the mark before it.
    match = re.fullmatch(r"(.+)-([^-]+-[^-]+)\.([^.-]+)", line.strip())
    # Keys are in RPM's database, too; they are not software.
    if not match or match[1] == "gpg-pubkey":
        return None
    return Package(name=match[1], version=match[2], architecture=match[3])


def bill_of_materials(
    packages: tuple[Package, ...], distribution: Distribution, ami: str
) -> dict[str, Any]:
    """Make a CycloneDX document of the packages, by distro2sbom.

    Args:
        packages: what is installed.
        distribution: what they are of.
        ami: name of the AMI, the document's subject.

    Raises:
        TrainshedError: distro2sbom is not installed, or failed.
    """
    if find_spec(_TOOL) is None:
        raise TrainshedError(f"{_TOOL} is not installed; pip install 'trainshed[ami]'")
    distinct = tuple({_as_tool_reads(package): package for package in packages}.values())
    with TemporaryDirectory(prefix="trainshed-sbom-") as folder:
        listing, made = Path(folder, "packages.txt"), Path(folder, "sbom.json")
        # Columns, for RPM's packages, too: in NAME-VERSION-RELEASE the tool takes the first
        # number for the version, and so misreads cuda-toolkit-13-0-13.0.1-1.
        lines = (f"ii  {each.name} {each.version} {each.architecture}" for each in distinct)
        listing.write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = subprocess.run(
            [
                *(sys.executable, "-m", f"{_TOOL}.cli", "--distro", "deb"),
                *("--input-file", str(listing), "--output-file", str(made)),
                *("--name", distribution.name, "--release", distribution.release),
                *("--distro-namespace", _NAMESPACES[distribution.name]),
                *("--product-name", ami, "--product-type", "operating-system"),
                *("--sbom", "cyclonedx", "--format", "json"),
            ],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0 or not made.exists():
            said = (done.stderr or done.stdout).strip().splitlines() or ["nothing"]
            raise TrainshedError(f"{_TOOL} made no document; it said: {said[-1]}")
        document: dict[str, Any] = json.loads(read_text(made, LARGEST_MADE))
    _give_names_back(document, distinct, distribution)
    return document


def _as_tool_reads(package: Package) -> tuple[str, str]:
    """The tool writes names in its own way, and one component per name and version."""
    return package.name.lower().replace("_", "-"), package.version


def _give_names_back(
    document: dict[str, Any], packages: tuple[Package, ...], distribution: Distribution
) -> None:
    """Set names and package URLs to what the package manager says, and check that none is lost."""
    root, *components = document["components"]
    read = [(entry["name"], entry["version"]) for entry in components]
    if read != [_as_tool_reads(package) for package in packages]:
        lost = {_as_tool_reads(package) for package in packages} - set(read)
        raise TrainshedError(
            f"{_TOOL} lost {len(lost)} of {len(packages)} packages: {sorted(lost)}"
        )
    root["name"] = distribution.name
    for component, package in zip(components, packages, strict=True):
        component["name"] = package.name
        component["purl"] = distribution.package_url(package)
