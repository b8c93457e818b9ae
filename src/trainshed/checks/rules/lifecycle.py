"""What is withdrawn, or has reached its end of life."""

import re
from collections.abc import Iterator

from trainshed import catalogue
from trainshed.catalogue import LifecycleStatus
from trainshed.checks.rule import Basis, Violation, rule
from trainshed.checks.software import (
    AMAZON_LINUX_2_END,
    LAST_NEURON_SDK_ON_UBUNTU_22,
    LAST_SOFTWARE,
    NEURON_SOURCE,
    UBUNTU_20_END,
)
from trainshed.findings import Severity
from trainshed.plan import ClusterPlan

_AMI = ("instance", "ami")
# Not "amazon-linux-2023"; and AWS's parameters for the distribution itself say "amzn2".
_AMAZON_LINUX_2 = re.compile(r"amazon-linux-2(?![0-9])|/amzn2-")
_UBUNTU_20 = re.compile(r"ubuntu-20\.04|/ubuntu/server/(?:20\.04|focal)/")
_NEURON_FRAMEWORK = re.compile(r"/aws/service/neuron/dlami/([a-z-]+-[0-9][0-9.]*)/")


@rule(
    "TS-LIF-001",
    title="The EC2 API no longer lists the instance type",
    why="""
`DescribeInstanceTypes` and `DescribeInstanceTypeOfferings` no longer return the type in any
region. AWS announced nothing, prices are still published, and accounts that run such instances
may keep them, but a new launch is likely to fail: a job then waits in `RUNNABLE` for ever.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/getmoto/moto/tree/master/moto/ec2/resources",
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html",
    ),
    example="""
name: Example
region: us-west-2
instance: {type: dl1.24xlarge}
""",
)
def withdrawn_type(plan: ClusterPlan) -> Iterator[Violation]:
    """The EC2 API must list the type of the nodes."""
    lifecycle = plan.instance.lifecycle
    if plan.instance.withdrawn:
        yield Violation(
            path=("instance", "type"),
            message=f"the EC2 API has not listed {plan.instance.name} since "
            f"{lifecycle.first_missing} (last seen {lifecycle.last_seen}): it may not launch",
            remedy=f"use {_in_region(lifecycle.replacement or '', plan.region)}",
        )


@rule(
    "TS-LIF-002",
    title="AWS calls the instance type previous generation",
    severity=Severity.INFO,
    why="""
AWS still sells it, and advises to use a later one. Types that it no longer sells were called so
first.
""",
    sources=("https://aws.amazon.com/ec2/previous-generation/",),
    example="""
name: Example
region: us-west-2
instance: {type: p3dn.24xlarge, ami: v100}
""",
)
def previous_generation(plan: ClusterPlan) -> Iterator[Violation]:
    """Plans for years should not rest on a type that may go."""
    lifecycle = plan.instance.lifecycle
    if lifecycle.status is LifecycleStatus.PREVIOUS_GENERATION:
        yield Violation(
            path=("instance", "type"),
            message=f"{plan.instance.name} is of a previous generation",
            remedy=f"plan for {_in_region(lifecycle.replacement or '', plan.region)}",
        )


@rule(
    "TS-LIF-003",
    title="The AMI is of Amazon Linux 2, which gets no more updates",
    why="""
Amazon Linux 2 reached its end of life on 2026-06-30. Since then AWS Batch makes no compute
environment with its own Amazon Linux 2 AMIs, and the EFA installer no longer lists it. A launch
template that names such an AMI still works, without security updates.
""",
    sources=(
        "https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html",
        "https://aws.amazon.com/amazon-linux-2/faqs/",
    ),
    example="""
name: Example
region: us-west-2
instance:
  type: p4d.24xlarge
  ami: /aws/service/ecs/optimized-ami/amazon-linux-2/gpu/recommended/image_id
""",
)
def amazon_linux_2(plan: ClusterPlan) -> Iterator[Violation]:
    """Nodes should run what gets updates."""
    if _AMAZON_LINUX_2.search(plan.ami.asked):
        yield Violation(
            path=_AMI,
            message=f"{plan.ami.asked} is of Amazon Linux 2, whose support ended on "
            f"{AMAZON_LINUX_2_END}",
            remedy="use ami: stable, or an AMI of Amazon Linux 2023",
        )


@rule(
    "TS-LIF-004",
    title="The AMI is of Ubuntu 20.04, which gets no more updates",
    why="""
Ubuntu 20.04 gets no more public updates since 2025-05-31, and the EFA installer no longer lists it.
""",
    sources=(
        "https://ubuntu.com/about/release-cycle",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
    ),
    example="""
name: Example
region: us-west-2
orchestrator: ec2
instance:
  type: p4d.24xlarge
  ami: /aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-20.04/latest/ami-id
""",
)
def ubuntu_20(plan: ClusterPlan) -> Iterator[Violation]:
    """Nodes should run what gets updates."""
    if _UBUNTU_20.search(plan.ami.asked):
        yield Violation(
            path=_AMI,
            message=f"{plan.ami.asked} is of Ubuntu 20.04, whose public updates ended on "
            f"{UBUNTU_20_END}",
            remedy="use an AMI of Ubuntu 24.04 or Amazon Linux 2023",
        )


@rule(
    "TS-LIF-005",
    title="AWS puts no new AMI under this Neuron parameter",
    why="""
The parameters of Neuron's Deep Learning AMIs for one framework have its release in their name, and
AWS goes on under another name with the next. Those of Ubuntu 22.04 ended with SDK 2.30. What is
there stays as it is, or disappears.
""",
    sources=(
        "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/dlami/index.html",
        NEURON_SOURCE,
    ),
    example="""
name: Example
region: us-west-2
orchestrator: ec2
instance:
  type: trn1.32xlarge
  ami: /aws/service/neuron/dlami/multi-framework/ubuntu-22.04/latest/image_id
""",
)
def ended_neuron_ami(plan: ClusterPlan) -> Iterator[Violation]:
    """A parameter should be one that AWS goes on with."""
    asked = plan.ami.asked
    framework = _NEURON_FRAMEWORK.match(asked)
    if asked.startswith("/aws/service/neuron/dlami/") and "/ubuntu-22.04/" in asked:
        message = f"{asked} ended with Neuron SDK {LAST_NEURON_SDK_ON_UBUNTU_22}"
    elif framework:
        message = f"{asked} is for {framework[1]} only: the next release has another parameter"
    else:
        return
    yield Violation(
        path=_AMI,
        message=message,
        remedy="name multi-framework or base of ubuntu-24.04, or use ami: stable",
    )


@rule(
    "TS-LIF-006",
    title="The accelerator gets no new software",
    severity=Severity.INFO,
    why="""
Its maker brings out no further driver, compiler or library for it. What is there works, on the
kernels and with the frameworks of its time, and gets no fixes.
""",
    sources=tuple(dict.fromkeys(source for _, source in LAST_SOFTWARE.values())),
    example="""
name: Example
region: us-west-2
instance: {type: dl1.24xlarge}
""",
)
def last_software(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever starts with an accelerator should know how long its software lives."""
    accelerator = plan.instance.accelerator
    if accelerator.name in LAST_SOFTWARE:
        last, _ = LAST_SOFTWARE[accelerator.name]
        yield Violation(
            path=("instance", "type"),
            message=f"the last software for the {accelerator.name} of {plan.instance.name} is "
            f"{last}",
            remedy="pin what works, image and AMI, and plan the next training for another type",
        )


def _in_region(name: str, region: str) -> str:
    """Name a type, and where it is offered when that is not in the cluster's region."""
    regions = catalogue.regions_offering(name)
    if region in regions:
        return name
    return f"{name}, which {region} does not offer (offered in: {', '.join(regions)})"
