"""Whether the software in the container image goes with the accelerator and with the AMI.

A cluster file says little of what is in an image: these rules read its name. `trainshed container
push --ami` compares what images and AMIs say about themselves.
"""

import re
from collections.abc import Iterator

from trainshed.catalogue import AcceleratorFamily
from trainshed.checks import clusters
from trainshed.checks.default_ami import takes_default_channel
from trainshed.checks.image_names import image_name
from trainshed.checks.software import (
    DEEP_LEARNING_CONTAINERS_SOURCE,
    LAST_NEURON_SDK_OF_PYTORCH,
    LAST_SYNAPSE_OF_GAUDI,
    NEURON_SOURCE,
    PYTORCH_IMAGES_PATCHED_UNTIL,
    SYNAPSE_SOURCE,
    Version,
)
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.pins.reader import project_pins
from trainshed.plan import ClusterPlan

_GAUDI = "Gaudi HL-205"


@rule(
    "TS-SW-001",
    over=clusters,
    title="The image's SynapseAI no longer supports first-generation Gaudi",
    severity=Severity.ERROR,
    why="""
SynapseAI 1.21 is the last release for first-generation Gaudi. A later one does not know the device,
and an image runs on a driver of its own release only.
""",
    sources=(SYNAPSE_SOURCE,),
    example="""
instance: {type: dl1.24xlarge}
image: {tag: "1.22.0-pytorch-2.7.1"}
""",
)
def synapse_without_gaudi(plan: ClusterPlan) -> Iterator[Violation]:
    """First-generation Gaudi ends with SynapseAI 1.21."""
    image = image_name(plan)
    if not image or plan.instance.accelerator.name != _GAUDI:
        return
    if image.synapse and image.synapse > LAST_SYNAPSE_OF_GAUDI:
        yield Violation(
            path=image.path,
            message=f"the image is of SynapseAI {image.synapse} by its name, and "
            f"{LAST_SYNAPSE_OF_GAUDI} is the last for {plan.instance.name}",
            remedy=f"use an image of SynapseAI {LAST_SYNAPSE_OF_GAUDI}, for instance of "
            "trainshed container build habana",
        )


@rule(
    "TS-SW-002",
    over=clusters,
    title="The image's SynapseAI is not that of the AMI's driver",
    why="""
Intel supports an image only on a host whose driver has the same major and minor version. With
another one processes fail when they open a device, or later.
""",
    sources=(SYNAPSE_SOURCE,),
    example="""
instance: {type: dl1.24xlarge}
image: {tag: "1.20.0-pytorch-2.6.0"}
""",
)
def other_synapse(plan: ClusterPlan) -> Iterator[Violation]:
    """Driver and container of Gaudi move together."""
    image = image_name(plan)
    if not image or not takes_default_channel(plan) or plan.instance.accelerator.name != _GAUDI:
        return
    driver = _pinned("habana-driver")
    if image.synapse and image.synapse != driver and image.synapse <= LAST_SYNAPSE_OF_GAUDI:
        yield Violation(
            path=image.path,
            message=f"the image is of SynapseAI {image.synapse} by its name, and the driver "
            f"of our AMIs of {driver}",
            remedy="build image and AMI from the same packer/pins.json",
        )


@rule(
    "TS-SW-003",
    over=clusters,
    title="The image's Neuron SDK is newer than the AMI's",
    why="""
The runtime in the image talks to the driver of the node. Neuron's release notes ask for a driver
that is not older than the runtime: with an older one processes fail when they open a device.
""",
    basis=Basis.INFERRED,
    sources=(NEURON_SOURCE,),
    example="""
instance: {type: trn1.32xlarge}
image:
  uri: public.ecr.aws/neuron/jax-training-neuronx:0.10.0-neuronx-py313-sdk2.32.0-ubuntu24.04
""",
)
def newer_neuron_sdk(plan: ClusterPlan) -> Iterator[Violation]:
    """The node's driver must not be older than the image's runtime."""
    image = image_name(plan)
    neuron = plan.instance.accelerator.family is AcceleratorFamily.NEURON
    if not image or not neuron or not takes_default_channel(plan):
        return
    # The tools have the version of the SDK; driver and runtime count for themselves.
    of_ami = _pinned("neuron-tools")
    if image.neuron_sdk and image.neuron_sdk > of_ami:
        yield Violation(
            path=image.path,
            message=f"the image is of Neuron SDK {image.neuron_sdk} by its name, and our "
            f"AMIs are of {of_ami}",
            remedy=f"bake an AMI of that SDK and publish it, or use an image of {of_ami} or before",
        )


@rule(
    "TS-SW-004",
    over=clusters,
    title="There is no PyTorch training image of this Neuron SDK",
    severity=Severity.ERROR,
    why="""
Neuron no longer supports training by PyTorch/XLA (`torch-neuronx`): the last training image with it
is of SDK 2.30, and AWS publishes none from 2.31 on. Nodes cannot pull such an image, and the job
fails. JAX goes on.
""",
    sources=(
        NEURON_SOURCE,
        "https://github.com/aws-neuron/deep-learning-containers",
    ),
    example="""
instance: {type: trn1.32xlarge}
image:
  uri: public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.31.0-ubuntu24.04
""",
)
def neuron_without_pytorch(plan: ClusterPlan) -> Iterator[Violation]:
    """Training by torch-neuronx ends with SDK 2.30."""
    image = image_name(plan)
    if not image or "pytorch-training-neuronx" not in image.name:
        return
    if image.neuron_sdk and image.neuron_sdk > LAST_NEURON_SDK_OF_PYTORCH:
        yield Violation(
            path=image.path,
            message=f"the image is of Neuron SDK {image.neuron_sdk} by its name, and "
            f"{LAST_NEURON_SDK_OF_PYTORCH} is the last with PyTorch training",
            remedy=f"use the image of SDK {LAST_NEURON_SDK_OF_PYTORCH}, "
            f"{_neuron_base()}, or train with JAX",
        )


@rule(
    "TS-SW-007",
    over=clusters,
    title="The image's EFA libraries are newer than the AMI's driver",
    why="""
libfabric in the image uses the EFA driver of the node. AWS tests them as they come in one EFA
installer; a driver that is older than the libraries may lack what they ask for.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html",),
    example="""
instance: {type: p4d.24xlarge}
image: {tag: cuda13.0-efa1.99.0}
""",
)
def newer_efa(plan: ClusterPlan) -> Iterator[Violation]:
    """The node's EFA driver must not be older than the image's libraries."""
    image = image_name(plan)
    if not image or not takes_default_channel(plan) or not plan.devices.get("efa"):
        return
    of_ami = _pinned("efa-installer")
    if image.efa_installer and image.efa_installer > of_ami:
        yield Violation(
            path=image.path,
            message=f"the image has EFA installer {image.efa_installer} by its name, and "
            f"our AMIs have {of_ami}",
            remedy="bake an AMI with that EFA installer and publish it, or use an older image",
        )


@rule(
    "TS-SW-008",
    over=clusters,
    title="AWS patches the image until a published date",
    severity=Severity.INFO,
    why="""
AWS rebuilds its Deep Learning Containers with security updates until a year or less after the
release of the framework in them. Afterwards the same image stays as it is.
""",
    sources=(DEEP_LEARNING_CONTAINERS_SOURCE,),
    example="""
instance: {type: p4d.24xlarge}
image:
  uri: >-
    763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.9.0-gpu-py312-cu130-ubuntu22.04-ec2
""",
)
def patched_until(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever uses AWS's image should know how long AWS patches it."""
    image = image_name(plan)
    release = image.deep_learning_container if image else None
    until = PYTORCH_IMAGES_PATCHED_UNTIL.get(release or "")
    if image and until:
        yield Violation(
            path=image.path,
            message=f"AWS patches its images of PyTorch {release} until {until}",
            remedy="take a later release of PyTorch after that date",
        )


def _pinned(component: str) -> Version:
    major, minor = re.findall(r"\d+", project_pins().components[component].version)[:2]
    return Version(int(major), int(minor))


def _neuron_base() -> str:
    base = project_pins().containers["neuron"]
    return f"{base.image}:{base.tag}"
