"""Which software still serves which accelerator: data that change, each with its source and date.

A rule is a function of its input, so it names these dates and asks no clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from trainshed.pins.agreement import LAST_FOR_GAUDI_1


class Version(NamedTuple):
    """The first two numbers of a version."""

    major: int
    minor: int

    def __str__(self) -> str:
        """Return for instance `1.21`."""
        return f"{self.major}.{self.minor}"


LAST_SYNAPSE_OF_GAUDI = Version(*LAST_FOR_GAUDI_1)
SYNAPSE_SOURCE = "https://docs.habana.ai/en/latest/Support_Matrix/Support_Matrix_v1.22.0.html"

# The last training image with PyTorch/XLA, which Neuron no longer supports, is of SDK 2.30 (May
# 2026). Seen 2026-11.
LAST_NEURON_SDK_OF_PYTORCH = Version(2, 30)
NEURON_SOURCE = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/release-notes/index.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaRange:
    """The releases of CUDA whose libraries have code for a GPU.

    Attributes:
        first: the first one.
        last: the last one; None while there is no end.
    """

    first: Version
    last: Version | None = None


# CUDA's release notes and the compatibility guides of Ampere, Hopper and Blackwell. Seen 2026-11.
CUDA_OF_GPU: Mapping[str, CudaRange] = {
    "V100": CudaRange(first=Version(9, 0), last=Version(12, 9)),
    "T4": CudaRange(first=Version(10, 0)),
    "A100": CudaRange(first=Version(11, 0)),
    "A10G": CudaRange(first=Version(11, 1)),
    "L4": CudaRange(first=Version(11, 8)),
    "L40S": CudaRange(first=Version(11, 8)),
    "H100": CudaRange(first=Version(11, 8)),
    "H200": CudaRange(first=Version(11, 8)),
    "B200": CudaRange(first=Version(12, 8)),
    "B300": CudaRange(first=Version(12, 8)),
    "RTX PRO 4500": CudaRange(first=Version(12, 8)),
    "RTX PRO Server 6000": CudaRange(first=Version(12, 8)),
}
CUDA_SOURCES = (
    "https://docs.nvidia.com/cuda/archive/13.0.0/cuda-toolkit-release-notes/index.html",
    "https://docs.nvidia.com/cuda/blackwell-compatibility-guide/index.html",
    "https://docs.nvidia.com/cuda/hopper-compatibility-guide/index.html",
)

# Until when AWS patches its Deep Learning Containers with a release of PyTorch. Seen 2026-11.
PYTORCH_IMAGES_PATCHED_UNTIL: Mapping[str, str] = {
    "2.8": "2026-08-06",
    "2.9": "2026-10-15",
    "2.10": "2027-01-21",
}
DEEP_LEARNING_CONTAINERS_SOURCE = "https://aws.github.io/deep-learning-containers/"

LAST_NEURON_DRIVER_OF_INFERENTIA = (2, 24)

# Accelerators whose makers release no further software, and the last that serves each.
LAST_SOFTWARE: Mapping[str, tuple[str, str]] = {
    "Gaudi HL-205": ("SynapseAI 1.21 (2025)", SYNAPSE_SOURCE),
    "Inferentia": (
        f"Neuron driver {'.'.join(map(str, LAST_NEURON_DRIVER_OF_INFERENTIA))} (2025)",
        NEURON_SOURCE,
    ),
}
# The Deep Learning AMIs and containers of Ubuntu 22.04 ended with it.
LAST_NEURON_SDK_ON_UBUNTU_22 = Version(2, 30)

# Amazon Linux 2 FAQs.
AMAZON_LINUX_2_END = "2026-06-30"
# Ubuntu's release cycle, standard support.
UBUNTU_20_END = "2025-05-31"
UBUNTU_18_END = "2023-05-31"
# CentOS's list of ends of life.
CENTOS_7_END = "2024-06-30"
