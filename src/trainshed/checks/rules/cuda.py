"""Whether the CUDA in the container image goes with the GPU; read from its name."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.checks.image_names import image_name
from trainshed.checks.software import CUDA_OF_GPU, CUDA_SOURCES
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import ClusterPlan


@rule(
    "TS-SW-005",
    over=clusters,
    title="The image's CUDA no longer supports the GPU",
    severity=Severity.ERROR,
    why="""
CUDA 13 has no code for V100, and does not compile any. Programs end with `no kernel image is
available for execution on the device`.
""",
    sources=CUDA_SOURCES,
    example="""
instance: {type: p3dn.24xlarge, ami: v100}
image: {tag: "2.10.0-cu130"}
""",
)
def cuda_without_gpu(plan: ClusterPlan) -> Iterator[Violation]:
    """The GPU must not be older than the image's CUDA allows."""
    image, gpu = image_name(plan), plan.instance.accelerator.name
    known = CUDA_OF_GPU.get(gpu)
    if image and image.cuda and known and known.last and image.cuda > known.last:
        yield Violation(
            path=image.path,
            message=f"the image has CUDA {image.cuda} by its name, and "
            f"{known.last} is the last for the {gpu} of {plan.instance.name}",
            remedy=f"use an image with CUDA {known.last} or before, and a PyTorch whose "
            f"packages still have code for {gpu}",
        )


@rule(
    "TS-SW-006",
    over=clusters,
    title="The image's CUDA is older than the GPU",
    why="""
A release of CUDA has code for the GPUs of its time. On a later one, libraries such as cuDNN and
NCCL fail with `no kernel image is available`, unless they carry PTX, which the driver compiles.
""",
    sources=CUDA_SOURCES,
    example="""
instance: {type: p6-b200.48xlarge}
image: {tag: "2.5.1-cu124"}
""",
)
def cuda_before_gpu(plan: ClusterPlan) -> Iterator[Violation]:
    """The image's CUDA must know the GPU of each type that a node may be of."""
    image = image_name(plan)
    for each in plan.types:
        known = CUDA_OF_GPU.get(each.accelerator.name)
        if image and image.cuda and known and image.cuda < known.first:
            yield Violation(
                path=image.path,
                message=f"the image has CUDA {image.cuda} by its name, and "
                f"{known.first} is the first for the {each.accelerator.name} of {each.name}",
                remedy=f"use an image with CUDA {known.first} or later",
            )
