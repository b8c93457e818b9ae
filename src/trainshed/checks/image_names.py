"""What the name of a container image says about the software in it."""

import re
from dataclasses import dataclass

from trainshed.catalogue import AcceleratorFamily
from trainshed.checks.software import Version
from trainshed.documents.problems import Path
from trainshed.plan import ClusterPlan

_WORDS = re.compile(r"[^a-z0-9]+")
_OF_FAMILY = {
    AcceleratorFamily.HABANA: re.compile(r"habana|gaudi\d?|synapse|synapseai|hpu"),
    AcceleratorFamily.NEURON: re.compile(r"neuronx?"),
    AcceleratorFamily.NVIDIA: re.compile(r"cuda[0-9]*|cu1[0-9]{2}|nvcr|nvidia|gpu"),
}
_CUDA = re.compile(r"(?:^|[^a-z0-9])(?:cu(\d\d)(\d)|cuda[-:_]?(\d\d)\.(\d+))(?![0-9])")
_EFA_INSTALLER = re.compile(r"(?:^|[^a-z0-9])efa[-_]?(\d+)\.(\d+)")
_NEURON_SDK = re.compile(r"sdk[-_]?(\d+)\.(\d+)")
_SYNAPSE = re.compile(r"[/:_-](1)\.([12][0-9])(?:\.\d+)?(?![.\d])")
_DEEP_LEARNING_CONTAINER = re.compile(
    r"(?:763104351884\.dkr\.ecr\.|public\.ecr\.aws/deep-learning-containers/)"
    r".*pytorch-(?:training|inference)[^:]*:(\d+\.\d+)\."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageName:
    """The name of the image that jobs run.

    Attributes:
        name: repository and tag, with the registry of an image from elsewhere; lower case.
        path: field of the cluster file that gives it.
    """

    name: str
    path: Path

    @property
    def families(self) -> set[AcceleratorFamily]:
        """Whose accelerators its words name."""
        words = _WORDS.split(self.name)
        return {
            family
            for family, pattern in _OF_FAMILY.items()
            if any(pattern.fullmatch(word) for word in words)
        }

    @property
    def cuda(self) -> Version | None:
        """Release of CUDA."""
        found = _CUDA.search(self.name)
        if not found:
            return None
        major, minor = [part for part in found.groups() if part]
        return Version(int(major), int(minor))

    @property
    def efa_installer(self) -> Version | None:
        """Release of the EFA installer."""
        return _version(_EFA_INSTALLER, self.name)

    @property
    def neuron_sdk(self) -> Version | None:
        """Release of Neuron's SDK."""
        return _version(_NEURON_SDK, self.name)

    @property
    def synapse(self) -> Version | None:
        """Release of SynapseAI."""
        return _version(_SYNAPSE, self.name)

    @property
    def deep_learning_container(self) -> str | None:
        """Release of PyTorch in one of AWS's Deep Learning Containers."""
        found = _DEEP_LEARNING_CONTAINER.search(self.name)
        return found[1] if found else None


def image_name(plan: ClusterPlan) -> ImageName | None:
    """Return the name of the cluster's image; None when it has none, or a digest only."""
    image, repository = plan.jobs.image, plan.repository
    if image is None:
        return None
    if image.uri:
        return ImageName(name=image.uri.lower(), path=("image", "uri"))
    if image.tag and repository:
        return ImageName(name=f"{repository.name}:{image.tag}".lower(), path=("image", "tag"))
    return None


def _version(pattern: re.Pattern[str], name: str) -> Version | None:
    found = pattern.search(name)
    return Version(int(found[1]), int(found[2])) if found else None
