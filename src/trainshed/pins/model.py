"""pins.json: bases, repositories, components and their sources, tools, bases of containers."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from trainshed.documents.forms import ACCOUNT, IMAGE_DIGEST
from trainshed.documents.model import Model
from trainshed.errors import UnknownName, did_you_mean
from trainshed.nodes.cells import ACCELERATORS, AGENTS
from trainshed.pins import forms

# Container images are built from the same pins; one of them is for no accelerator.
CPU, CONTAINER = "cpu", "container"
ANY = "any"
_SURE = ("documented", "inferred", "unverified")


def family_of(base: str) -> str:
    """Return the distribution of a base without its release, for instance `ubuntu`."""
    return base.rpartition("-")[0]


def _one_of(*allowed: str) -> Callable[[str], str]:
    def check(name: str) -> str:
        if name not in allowed:
            near = did_you_mean(name, allowed)
            raise ValueError(f"{name!r} is not allowed{near} (allowed: {', '.join(allowed)})")
        return name

    return check


def _says_how_sure(basis: str) -> str:
    if not any(word in basis for word in _SURE):
        raise ValueError(f"does not say how sure it is: write one of {', '.join(_SURE)}")
    return basis


def _has_version(url: str) -> str:
    if "{version}" not in url:
        raise ValueError("has no {version} in it; the address must follow the pin")
    return url


Text = Annotated[str, Field(min_length=1)]
Version = Annotated[str, Field(pattern=forms.VERSION.pattern)]
Url = Annotated[str, Field(pattern=forms.URL.pattern)]
Sha256 = Annotated[str, Field(pattern=forms.SHA256.pattern)]
Key = Annotated[str, Field(pattern=forms.KEY.pattern)]
Fingerprint = Annotated[str, Field(pattern=forms.FINGERPRINT.pattern)]
Packages = Annotated[dict[str, Version], Field(min_length=1)]
Basis = Annotated[str, AfterValidator(_says_how_sure)]
"""Where a pin was learned, and how sure that is."""


class Pinned(Model):
    """What all parts of the file have in common."""

    # For the forms that say what a text must not be.
    model_config = ConfigDict(regex_engine="python-re")


class SourceAmi(Pinned):
    """The AMI that a bake starts from."""

    name: Annotated[str, Field(pattern=forms.AMI_NAME.pattern)]
    """Its exact name."""
    owner: Annotated[str, Field(pattern=ACCOUNT.pattern)]
    """Account that owns it."""


class BaseSystem(Pinned):
    """What an AMI has from its distribution."""

    suite: Annotated[str, Field(pattern=forms.SUITE.pattern)] | None = None
    """Ubuntu's name of the release."""
    ssh_user: Text
    """Who Packer logs in as."""
    root_device: Annotated[str, Field(pattern=forms.DEVICE.pattern)]
    """Device name of the root volume."""
    release: Version
    """Of the distribution's packages: a dnf releasever, or the id of an Ubuntu snapshot."""
    kernel: Version
    """As `uname -r` prints it."""


class Base(BaseSystem):
    """A distribution under our AMIs."""

    accelerators: Annotated[
        tuple[Annotated[str, AfterValidator(_one_of(*ACCELERATORS))], ...], Field(min_length=1)
    ] = ACCELERATORS
    """Whose AMIs are baked on it."""
    source_amis: dict[str, SourceAmi]
    """By agent."""
    refused: dict[str, Text] = Field(default_factory=dict)
    """Why there is no AMI for each of the other agents, by agent."""
    basis: Basis

    @model_validator(mode="after")
    def _every_agent(self) -> Self:
        if sorted((*self.source_amis, *self.refused)) != sorted(AGENTS):
            raise ValueError(
                f"name an AMI for each of {', '.join(AGENTS)} in source_amis, or in refused "
                "why there is none"
            )
        return self


class PackageRepository(Pinned):
    """A vendor's package repository, which several components may come from."""

    kind: Literal["apt", "dnf"]
    url: Url
    suite: Text | None = None
    """Of an apt repository; `{suite}` stands for that of the base."""
    section: Text | None = None
    """Of an apt repository; a flat one has none."""
    key: Key
    """Address of the signing key."""
    fingerprint: Fingerprint
    """Of that key. Its signing subkeys count too."""
    basis: Basis

    @model_validator(mode="after")
    def _apt_has_a_suite(self) -> Self:
        if self.kind == "apt" and self.suite is None:
            raise ValueError("suite is missing; an apt repository needs it")
        if self.kind == "dnf" and (self.suite or self.section):
            raise ValueError("suite and section are for apt; leave them out")
        return self


class _Source(Pinned):
    version: Version | None = None
    """Instead of the component's, on this base."""


class RepositorySource(_Source):
    """Packages of a vendor's repository."""

    repository: str
    packages: Packages


class DistributionSource(_Source):
    """Packages of the distribution."""

    kind: Literal["distribution"]
    packages: Packages


class ArchiveSource(_Source):
    """One file, confirmed by its checksum, by its signature, or by both."""

    kind: Literal["archive"]
    url: Annotated[Url, AfterValidator(_has_version)]
    sha256: Sha256 | None = None
    signature: Url | None = None
    """Address of the file's signature."""
    key: Key | None = None
    """Address of the signing key, or its path in packer/scripts/lib."""
    fingerprint: Fingerprint | None = None
    """Of that key."""

    @model_validator(mode="after")
    def _confirmed(self) -> Self:
        signed = (self.signature, self.key, self.fingerprint)
        if any(signed) and not all(signed):
            raise ValueError("signature, key and fingerprint belong together; give all or none")
        if not self.sha256 and not all(signed):
            raise ValueError("has neither sha256 nor a signature, so nothing confirms the file")
        return self


class GitSource(_Source):
    """A commit of a git repository, whose id is the version."""

    kind: Literal["git"]
    url: Url


def _kind_of(source: Any) -> str | None:
    if not isinstance(source, dict):
        return None
    return "repository" if "repository" in source else source.get("kind")


Source = Annotated[
    Annotated[RepositorySource, Tag("repository")]
    | Annotated[DistributionSource, Tag("distribution")]
    | Annotated[ArchiveSource, Tag("archive")]
    | Annotated[GitSource, Tag("git")],
    Discriminator(
        _kind_of,
        custom_error_type="no_such_source",
        custom_error_message="give repository, or kind: archive, distribution or git",
    ),
]


class Component(Pinned):
    """Something that is installed into AMIs and container images."""

    version: Version
    accelerators: Annotated[
        tuple[Annotated[str, AfterValidator(_one_of(*ACCELERATORS, CPU))], ...],
        Field(min_length=1),
    ] = (*ACCELERATORS, CPU)
    """Whose AMIs and container images it is for; `cpu` is the container image without one."""
    orchestrators: Annotated[
        tuple[Annotated[str, AfterValidator(_one_of(*AGENTS, CONTAINER))], ...],
        Field(min_length=1),
    ] = (*AGENTS, CONTAINER)
    """Whose AMIs it is for; `container` stands for container images."""
    sources: Annotated[dict[str, Source], Field(min_length=1)]
    """By base, by distribution of a container image, by `ubuntu` for all its releases, or `any`."""
    basis: Basis

    def place_on(self, base: str) -> str | None:
        """Return which source counts on a base; None when it is not installed there."""
        return next((name for name in (base, family_of(base), ANY) if name in self.sources), None)

    def versions(self) -> dict[str, str]:
        """Return its version in each source."""
        return {place: source.version or self.version for place, source in self.sources.items()}


class ContainerBase(Pinned):
    """The image that a container image is built from."""

    image: Annotated[str, Field(pattern=forms.IMAGE.pattern)]
    """Repository, with its registry."""
    tag: Version
    digest: Annotated[str, Field(pattern=IMAGE_DIGEST.pattern)] | None = None
    """None when only the tag is pinned."""
    base: Text
    """Its distribution, for instance `ubuntu-22.04`."""
    drivers: dict[str, Annotated[str, Field(pattern=forms.RANGE.pattern)]]
    """Versions of components on the host that it needs; `{version}` stands for the pinned one."""
    basis: Basis


class _Tool(Pinned):
    version: Version
    basis: Basis

    @field_validator("url", "image", check_fields=False)
    @classmethod
    def _of_the_version(cls, address: str, read: ValidationInfo) -> str:
        return address.replace("{version}", read.data.get("version", ""))


class FileTool(_Tool):
    """A file that bakes and does not get into an AMI."""

    url: Url
    sha256: Sha256


class ImageTool(_Tool):
    """An image that AWS CodeBuild bakes in."""

    image: Annotated[str, Field(pattern=forms.BUILD_IMAGE.pattern)]


class BuildTools(Pinned):
    """What bakes and does not get into an AMI."""

    packer: FileTool
    plugin: FileTool = Field(alias="packer-plugin-amazon")
    session_manager: FileTool = Field(alias="session-manager-plugin")
    codebuild: ImageTool = Field(alias="codebuild-image")

    @property
    def image(self) -> str:
        """The image of AWS CodeBuild, at a version."""
        return self.codebuild.image


class Pins(Pinned):
    """All of pins.json."""

    bases: Annotated[dict[str, Base], Field(min_length=1)]
    repositories: dict[str, PackageRepository]
    components: Annotated[dict[str, Component], Field(min_length=1)]
    tools: BuildTools
    containers: Annotated[dict[str, ContainerBase], Field(min_length=1)]

    def bases_with(self, accelerator: str, agent: str) -> tuple[str, ...]:
        """Return the names of the bases on which the AMIs of a cell can be baked."""
        return tuple(
            name
            for name, base in self.bases.items()
            if accelerator in base.accelerators and agent in base.source_amis
        )

    def why_none(self, accelerator: str, agent: str) -> str | None:
        """Return why there is no AMI for a cell on any base; None when there is one."""
        if self.bases_with(accelerator, agent):
            return None
        return self.bases[self.base_of(accelerator, agent)].refused[agent]

    def base_of(self, accelerator: str, agent: str, name: str | None = None) -> str:
        """Return the name of the base of a cell's AMIs.

        Args:
            accelerator: `habana`, `neuron` or `nvidia`.
            agent: `ec2`, `ecs`, or `eks-` and a minor version of Kubernetes.
            name: of the base; by default the first that has an AMI for the cell, or the first of
                the accelerator where none has.

        Raises:
            UnknownName: no base is for that accelerator, or none of that name.
        """
        known = [each for each, base in self.bases.items() if accelerator in base.accelerators]
        if not known:
            raise UnknownName("accelerator", accelerator, ACCELERATORS)
        if name is None:
            return next(iter(self.bases_with(accelerator, agent)), known[0])
        if name not in known:
            raise UnknownName(f"base of {accelerator} AMIs", name, known)
        return name
