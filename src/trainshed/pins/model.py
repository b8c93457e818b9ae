"""The pins, as values: bases, components and their sources, base images of containers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from trainshed.cells import ACCELERATORS, ORCHESTRATORS
from trainshed.errors import UnknownName

# Container images are built from the same pins; one of them is for no accelerator.
CPU, CONTAINER = "cpu", "container"
ANY = "any"


def family_of(base: str) -> str:
    """Return the distribution of a base without its release, for instance `ubuntu`."""
    return base.rpartition("-")[0]


class SourceKind(StrEnum):
    """Where a component comes from."""

    ARCHIVE = "archive"
    APT = "apt"
    DNF = "dnf"
    DISTRIBUTION = "distribution"
    GIT = "git"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAmi:
    """The AMI that a bake starts from.

    Attributes:
        name: its exact name.
        owner: account that owns it.
    """

    name: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A distribution under our images.

    Attributes:
        name: for instance `ubuntu-22.04`.
        accelerators: whose images are baked on it.
        suite: Ubuntu's name of the release, for instance `jammy`; None elsewhere.
        ssh_user: who Packer logs in as.
        root_device: device name of the root volume.
        release: of the distribution's packages: a dnf releasever, or an Ubuntu snapshot id.
        kernel: as `uname -r` prints it.
        source_amis: by orchestrator.
        refused: why there are no images for the other orchestrators, by orchestrator.
        basis: where all this was learned, and how sure it is.
    """

    name: str
    accelerators: frozenset[str]
    suite: str | None
    ssh_user: str
    root_device: str
    release: str
    kernel: str
    source_amis: Mapping[str, SourceAmi]
    refused: Mapping[str, str]
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A vendor's package repository, which several components may come from.

    Attributes:
        kind: apt or dnf.
        url: of the repository.
        suite: of an apt repository, or None; `{suite}` stands for that of the base.
        section: of an apt repository, or None for a flat one.
        key: address of the signing key.
        fingerprint: of that key. Its signing subkeys count as well.
        basis: where the fingerprint was learned, and how sure that is.
    """

    kind: SourceKind
    url: str
    suite: str | None
    section: str | None
    key: str
    fingerprint: str
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a component comes from on one base.

    Attributes:
        kind: archive (one file), apt or dnf (the vendor's repository), distribution, or git.
        version: the component's version there; of git, a commit.
        repository: name of the vendor's repository, or None.
        url: of the file or of the git repository, or None.
        sha256: of the file, None when only its signature is checked.
        signature: address of the file's signature, or None.
        key: address of the signing key, or its path in packer/scripts/lib, or None.
        fingerprint: of that key, or None.
        packages: exact version by name; empty for an archive.
    """

    kind: SourceKind
    version: str
    repository: str | None
    url: str | None
    sha256: str | None
    signature: str | None
    key: str | None
    fingerprint: str | None
    packages: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """Something that is installed into images.

    Attributes:
        name: for instance `efa-installer`.
        accelerators: images it is for; `cpu` stands for container images without one.
        orchestrators: images it is for; `container` stands for container images.
        sources: by base, by distribution of a container image, by `ubuntu` for every release of
            it, or by `any`.
        basis: where version and fingerprint were learned, and how sure that is.
    """

    name: str
    accelerators: frozenset[str]
    orchestrators: frozenset[str]
    sources: Mapping[str, Source]
    basis: str

    def source_on(self, base: str) -> Source | None:
        """Return where it comes from on a base, None when it is not installed there."""
        for name in (base, family_of(base), ANY):
            if name in self.sources:
                return self.sources[name]
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerBase:
    """The image that a container image is built from.

    Attributes:
        image: repository, with its registry.
        tag: exact tag.
        digest: `sha256:...`, or None when only the tag is pinned.
        base: its distribution, for instance `ubuntu-22.04`.
        drivers: versions of components on the host that it needs, by component, such as
            `>=1.21,<1.22`; `{version}` stands for the pinned one.
        basis: where it was learned, and how sure that is.
    """

    image: str
    tag: str
    digest: str | None
    base: str
    drivers: Mapping[str, str]
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What bakes and does not get into an image.

    Attributes:
        version: exact version.
        url: of the file, or None for a container image.
        sha256: of that file, or None for a container image.
        image: of a container, with its tag, or None for a file.
        basis: where it was learned, and how sure that is.
    """

    version: str
    url: str | None
    sha256: str | None
    image: str | None
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """All of pins.json.

    Attributes:
        bases: by name.
        repositories: by name.
        components: by name, in the order of the file.
        tools: by name.
        containers: by accelerator, and `cpu`.
    """

    bases: Mapping[str, Base]
    repositories: Mapping[str, Repository]
    components: Mapping[str, Component]
    tools: Mapping[str, Tool]
    containers: Mapping[str, ContainerBase]

    def base_of(self, accelerator: str, name: str | None = None) -> Base:
        """Return a base of an accelerator's images; by default the first one that lists it.

        Raises:
            UnknownName: no base is for that accelerator, or none of that name.
        """
        known = {
            base.name: base for base in self.bases.values() if accelerator in base.accelerators
        }
        if not known:
            raise UnknownName("accelerator", accelerator, ACCELERATORS)
        if name is None:
            return next(iter(known.values()))
        if name not in known:
            raise UnknownName(f"base of {accelerator} images", name, tuple(known))
        return known[name]

    def cells(self) -> Iterator[tuple[str, str, str]]:
        """Yield accelerator, orchestrator and base of every image that can be baked."""
        for accelerator in ACCELERATORS:
            for base in self.bases.values():
                if accelerator in base.accelerators:
                    yield from ((accelerator, each, base.name) for each in base.source_amis)

    def cell(
        self, accelerator: str, orchestrator: str, base_name: str | None = None
    ) -> Mapping[str, Source]:
        """Return what an image consists of, by component.

        Args:
            accelerator: `habana`, `neuron` or `nvidia`.
            orchestrator: `ec2`, `ecs` or `eks`.
            base_name: by default the accelerator's first base.

        Raises:
            UnknownName: there is no such accelerator, orchestrator or base.
        """
        base = self.base_of(accelerator, base_name)
        if orchestrator not in ORCHESTRATORS:
            raise UnknownName("orchestrator", orchestrator, ORCHESTRATORS)
        return {
            name: source
            for name, component in self.components.items()
            if accelerator in component.accelerators
            and orchestrator in component.orchestrators
            and (source := component.source_on(base.name)) is not None
        }
