"""The pins, as values: bases, components and their sources, base images of containers."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from trainshed.errors import UnknownName

ACCELERATORS = ("habana", "neuron", "nvidia")
ORCHESTRATORS = ("ec2", "ecs", "eks")
# Container images are built from the same pins; one of them is for no accelerator.
CPU, CONTAINER = "cpu", "container"
ANY = "any"


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
        ssh_user: who Packer logs in as.
        root_device: device name of the root volume.
        release: of the distribution's packages: a dnf releasever, or an Ubuntu snapshot id.
        kernel: as `uname -r` prints it.
        source_amis: by orchestrator.
        basis: where all this was learned, and how sure it is.
    """

    name: str
    accelerators: frozenset[str]
    ssh_user: str
    root_device: str
    release: str
    kernel: str
    source_amis: Mapping[str, SourceAmi]
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A vendor's package repository, which several components may come from.

    Attributes:
        kind: apt or dnf.
        url: of the repository.
        suite: of an apt repository, or None.
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
        sources: by base, by distribution of a container image, or by `any`.
        basis: where version and fingerprint were learned, and how sure that is.
    """

    name: str
    accelerators: frozenset[str]
    orchestrators: frozenset[str]
    sources: Mapping[str, Source]
    basis: str

    def source_on(self, base: str) -> Source | None:
        """Return where it comes from on a base, None when it is not installed there."""
        return self.sources.get(base, self.sources.get(ANY))


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
    """All of versions.json.

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

    def base_of(self, accelerator: str) -> Base:
        """Return the base of an accelerator's images.

        Raises:
            UnknownName: no base is for that accelerator.
        """
        for base in self.bases.values():
            if accelerator in base.accelerators:
                return base
        raise UnknownName("accelerator", accelerator, ACCELERATORS)

    def cell(self, accelerator: str, orchestrator: str) -> Mapping[str, Source]:
        """Return what an image consists of, by component.

        Raises:
            UnknownName: there is no such accelerator or orchestrator.
        """
        base = self.base_of(accelerator)
        if orchestrator not in ORCHESTRATORS:
            raise UnknownName("orchestrator", orchestrator, ORCHESTRATORS)
        return {
            name: source
            for name, component in self.components.items()
            if accelerator in component.accelerators
            and orchestrator in component.orchestrators
            and (source := component.source_on(base.name)) is not None
        }
