"""Whether the AMI has what the nodes need."""

from collections.abc import Iterator

from trainshed.ami.channel import names_a_channel
from trainshed.checks.rule import Basis, Violation, rule
from trainshed.plan import ClusterPlan

_PATH = ("instance", "ami")


@rule(
    "TS-AMI-001",
    title="The AMI is one of AWS's own ECS AMIs",
    why="""
AWS's ECS-optimized AMIs have neither the EFA installer nor a Lustre client: nodes fall back to
the kernel's own EFA driver, if there is one, and cannot mount `/fsx`.
""",
    basis=Basis.OBSERVED,
    sources=("https://github.com/aws/amazon-ecs-ami",),
    example="""
name: Example
region: us-west-2
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
    "TS-AMI-002",
    title="An AMI that is not of a channel may have no Lustre client",
    why="""
The file system is mounted by the first-boot program of the AMIs that `trainshed ami build`
bakes. Another AMI starts without it, and jobs would write into an empty folder of the root
volume.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/fsx/latest/LustreGuide/install-lustre-client.html",),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge, ami: ami-0123456789abcdef0}
storage: {lustre: {}}
""",
)
def lustre_client(plan: ClusterPlan) -> Iterator[Violation]:
    """An AMI of somebody else's may lack the Lustre client."""
    if plan.lustre and not names_a_channel(plan.ami.asked):
        yield Violation(
            path=_PATH,
            message=f"{plan.ami.asked} is not one of our channels: it may have no Lustre client, "
            f"and {plan.lustre.spec.mount} is mounted by the first-boot program of our AMIs",
            remedy="use ami: stable, or an AMI baked by trainshed ami build, or one that has the "
            "Lustre client and mounts what /etc/trainshed/first-boot.json says",
        )


@rule(
    "TS-AMI-003",
    title="The default channel's kernel modules do not drive a V100",
    why="""
NVIDIA's open kernel modules, which our AMIs have by default, drive GPUs from Turing on. On a
V100 no GPU appears, the node's device check fails, and the node takes no job.
""",
    sources=("https://github.com/NVIDIA/open-gpu-kernel-modules",),
    example="""
name: Example
region: us-west-2
instance: {type: p3dn.24xlarge}
""",
)
def v100_modules(plan: ClusterPlan) -> Iterator[Violation]:
    """A V100 needs NVIDIA's proprietary kernel modules."""
    # A channel of another name was made for a purpose, which may be this one.
    channel = plan.spec.instance.ami.partition(":")[0]
    if plan.instance.accelerator.name == "V100" and channel == "stable":
        yield Violation(
            path=_PATH,
            message="our AMIs have NVIDIA's open kernel modules by default, which do not drive the "
            f"V100 of {plan.instance.name}",
            remedy="bake one with --var nvidia_driver=proprietary, publish it to a channel of its "
            "own, and name that in instance.ami",
        )
