"""AMIs that get no more updates."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.checks.ami_parameters import (
    ended_neuron_parameter,
    names_amazon_linux_2,
    names_ubuntu_20,
)
from trainshed.checks.software import AMAZON_LINUX_2_END, NEURON_SOURCE, UBUNTU_20_END
from trainshed.findings import Violation, rule
from trainshed.plan import ClusterPlan

_AMI = ("instance", "ami")


@rule(
    "TS-LIF-003",
    over=clusters,
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
instance:
  type: p4d.24xlarge
  ami: /aws/service/ecs/optimized-ami/amazon-linux-2/gpu/recommended/image_id
""",
)
def amazon_linux_2(plan: ClusterPlan) -> Iterator[Violation]:
    """Nodes should run what gets updates."""
    if names_amazon_linux_2(plan.ami.asked):
        yield Violation(
            path=_AMI,
            message=f"{plan.ami.asked} is of Amazon Linux 2, whose support ended on "
            f"{AMAZON_LINUX_2_END}",
            remedy="use ami: stable, or an AMI of Amazon Linux 2023",
        )


@rule(
    "TS-LIF-004",
    over=clusters,
    title="The AMI is of Ubuntu 20.04, which gets no more updates",
    why="""
Ubuntu 20.04 gets no more public updates since 2025-05-31, and the EFA installer no longer lists it.
""",
    sources=(
        "https://ubuntu.com/about/release-cycle",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
    ),
    example="""
orchestrator: ec2
instance:
  type: p4d.24xlarge
  ami: /aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-20.04/latest/ami-id
""",
)
def ubuntu_20(plan: ClusterPlan) -> Iterator[Violation]:
    """Nodes should run what gets updates."""
    if names_ubuntu_20(plan.ami.asked):
        yield Violation(
            path=_AMI,
            message=f"{plan.ami.asked} is of Ubuntu 20.04, whose public updates ended on "
            f"{UBUNTU_20_END}",
            remedy="use an AMI of Ubuntu 24.04 or Amazon Linux 2023",
        )


@rule(
    "TS-LIF-005",
    over=clusters,
    title="AWS puts no new AMI under this Neuron parameter",
    why="""
The parameters of Neuron's Deep Learning AMIs for one framework have its release in their name, and
AWS goes on under another name with the next. Those of Ubuntu 22.04 ended with SDK 2.30. Existing
AMIs stay as they are, or disappear.
""",
    sources=(
        "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/dlami/index.html",
        NEURON_SOURCE,
    ),
    example="""
orchestrator: ec2
instance:
  type: trn1.32xlarge
  ami: /aws/service/neuron/dlami/multi-framework/ubuntu-22.04/latest/image_id
""",
)
def ended_neuron_ami(plan: ClusterPlan) -> Iterator[Violation]:
    """A parameter should be one that AWS goes on with."""
    if message := ended_neuron_parameter(plan.ami.asked):
        yield Violation(
            path=_AMI,
            message=message,
            remedy="name multi-framework or base of ubuntu-24.04, or use ami: stable",
        )
