"""Whether AMIs of AWS have what the nodes need."""

from collections.abc import Iterator

from trainshed.catalogue import AcceleratorFamily
from trainshed.checks import clusters
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import ClusterPlan

_PATH = ("instance", "ami")
_OF_AWS = "/aws/service/"
_ECS = "/aws/service/ecs/optimized-ami/"
_ECS_AMIS = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-optimized_AMI.html"
# The level of a parameter of ECS AMIs that says whose driver they have.
_ECS_DRIVERS = {
    "gpu": AcceleratorFamily.NVIDIA,
    "inf": AcceleratorFamily.NEURON,
    "neuron": AcceleratorFamily.NEURON,
}


@rule(
    "TS-AMI-001",
    over=clusters,
    title="The AMI is one of AWS's own ECS AMIs",
    why="""
AWS's ECS-optimized AMIs have neither the EFA installer nor a Lustre client: nodes fall back to
the kernel's own EFA driver, if there is one, and cannot mount `/fsx`.
""",
    basis=Basis.OBSERVED,
    sources=("https://github.com/aws/amazon-ecs-ami",),
    example="""
instance:
  type: trn1.32xlarge
  ami: /aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id
""",
)
def ecs_ami(plan: ClusterPlan) -> Iterator[Violation]:
    """AWS's own ECS AMIs lack EFA and Lustre."""
    if plan.ami.asked.startswith("/aws/service/ecs/"):
        yield Violation(
            path=_PATH,
            message=f"{plan.ami.asked} is AWS's ECS AMI: it has no EFA installer and no Lustre "
            "client",
            remedy="use one of our AMIs, ami: stable, or bake one that has both",
        )


@rule(
    "TS-AMI-005",
    over=clusters,
    title="The ECS AMI has no driver for the accelerator",
    severity=Severity.ERROR,
    why="""
Of AWS's ECS AMIs, `gpu` has NVIDIA's driver, `neuron` that of Neuron, and the others none; Gaudi's
is in none of them, and SynapseAI 1.15 was the last for Amazon Linux. Nodes without the driver show
no accelerator: the job's check of its devices fails on each.
""",
    sources=(_ECS_AMIS,),
    example="""
instance:
  type: trn1.32xlarge
  ami: /aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id
""",
)
def other_driver(plan: ClusterPlan) -> Iterator[Violation]:
    """The AMI's driver must be that of the accelerator."""
    asked, accelerator = plan.ami.asked, plan.instance.accelerator
    if not asked.startswith(_ECS):
        return
    drivers = [_ECS_DRIVERS[level] for level in asked.split("/") if level in _ECS_DRIVERS]
    if accelerator.family not in drivers:
        has = f"the driver of {drivers[0]}" if drivers else "no driver of any accelerator"
        yield Violation(
            path=_PATH,
            message=f"{asked} has {has}, and {plan.instance.name} has {accelerator.name} "
            f"({accelerator.family})",
            remedy="use ami: stable, which has driver, EFA and Lustre",
        )


@rule(
    "TS-AMI-006",
    over=clusters,
    title="AWS's NVIDIA AMIs for Amazon Linux 2023 do not drive a V100",
    severity=Severity.ERROR,
    why="""
AWS Batch's API reference says that `ECS_AL2023_NVIDIA` does not support P3: the AMI has NVIDIA's
open kernel modules, which drive GPUs from Turing on. The Deep Learning AMIs with the open driver
leave P3 out, too.
""",
    sources=(
        "https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html",
        "https://github.com/NVIDIA/open-gpu-kernel-modules",
    ),
    example="""
instance:
  type: p3dn.24xlarge
  ami: /aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id
""",
)
def v100_on_al2023(plan: ClusterPlan) -> Iterator[Violation]:
    """A V100 needs an AMI with the proprietary driver."""
    asked = plan.ami.asked
    open_driver = asked.startswith(f"{_ECS}amazon-linux-2023/gpu/") or "oss-nvidia" in asked
    if plan.instance.accelerator.name == "V100" and open_driver:
        yield Violation(
            path=_PATH,
            message=f"{asked} has NVIDIA's open kernel modules, which do not drive the V100 of "
            f"{plan.instance.name}",
            remedy="bake an AMI with --var nvidia_driver=proprietary, publish it to a channel of "
            "its own, and name that",
        )


@rule(
    "TS-AMI-007",
    over=clusters,
    title="The AMI is for another processor",
    severity=Severity.ERROR,
    why="""
EC2 refuses to launch an instance from an AMI of another architecture than the type's, so AWS Batch
gets no node, and jobs wait in `RUNNABLE` forever.
""",
    sources=(
        "https://docs.aws.amazon.com/batch/latest/userguide/batch-ami-spec.html",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ComponentsAMIs.html",
    ),
    example="""
instance:
  type: trn1.32xlarge
  ami: /aws/service/ecs/optimized-ami/amazon-linux-2023/arm64/recommended/image_id
""",
)
def other_architecture(plan: ClusterPlan) -> Iterator[Violation]:
    """The AMI must be for the type's processor."""
    levels = plan.ami.asked.replace("-", "/").split("/")
    other = {"x86_64": "arm64", "arm64": "x86_64"}[plan.instance.architecture]
    if plan.ami.asked.startswith(_OF_AWS) and other in levels:
        yield Violation(
            path=_PATH,
            message=f"{plan.ami.asked} is for {other}, and {plan.instance.name} is "
            f"{plan.instance.architecture}",
            remedy=f"name the AMI for {plan.instance.architecture}",
        )


@rule(
    "TS-AMI-010",
    over=clusters,
    title="The cluster keeps the AMI that a parameter of AWS has today",
    severity=Severity.INFO,
    why="""
trainshed reads the parameter when the cluster is first deployed with it, and keeps the id. When AWS
publishes a new AMI there, with security updates for instance, nodes go on with the old one until
`instance.ami` changes. That is on purpose: a new AMI replaces nodes.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-public-parameters-ami.html",
    ),
    example="""
orchestrator: ec2
instance:
  type: trn1.32xlarge
  ami: /aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id
""",
)
def read_once(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever names a parameter of AWS should know when it is read."""
    if plan.ami.asked.startswith(_OF_AWS) and plan.ami.version is None:
        yield Violation(
            path=_PATH,
            message=f"{plan.ami.asked} is read at the first deployment: a later AMI reaches no "
            "node by itself",
            remedy="give the AMI's id when you want another one, and change it for the next",
        )
