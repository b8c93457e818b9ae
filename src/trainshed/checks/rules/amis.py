"""Whether our AMIs have what the nodes need."""

from collections.abc import Iterator

from trainshed.ami.channel import Channel, names_a_channel
from trainshed.checks import clusters
from trainshed.checks.default_ami import takes_default_channel
from trainshed.checks.software import LAST_NEURON_DRIVER_OF_INFERENTIA, LAST_SOFTWARE
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.pins.reader import project_pins
from trainshed.pins.storage_clients import bases_that_mount
from trainshed.plan import ClusterPlan

_PATH = ("instance", "ami")
# The default of root_gib in packer/variables.pkr.hcl.
BAKED_ROOT_GIB = 100


@rule(
    "TS-AMI-002",
    over=clusters,
    title="An AMI that is not of a channel may have no client of the shared storage",
    why="""
Shared storage is mounted by the first-boot program of the AMIs that `trainshed ami build`
bakes. Another AMI starts without it, and jobs would write into an empty folder of the root
volume.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/fsx/latest/LustreGuide/install-lustre-client.html",),
    example="""
instance: {type: trn1.32xlarge, ami: ami-0123456789abcdef0}
storage: {lustre: {}}
""",
)
def storage_client(plan: ClusterPlan) -> Iterator[Violation]:
    """An AMI of somebody else's may lack the client of Lustre or of other storage."""
    mounted = [each for each in plan.storages if each.mount]
    if mounted and not names_a_channel(plan.ami.asked):
        clients = " or ".join(each.client for each in mounted)
        paths = " and ".join(str(each.mount) for each in mounted)
        are = "is" if len(mounted) == 1 else "are"
        yield Violation(
            path=_PATH,
            message=f"{plan.ami.asked} is not one of our channels: it may have no {clients}, "
            f"and {paths} {are} mounted by the first-boot program of our AMIs",
            remedy="use ami: stable, or an AMI baked by trainshed ami build, or one that has the "
            f"{clients} and mounts what /etc/trainshed/first-boot.json says",
        )


@rule(
    "TS-AMI-003",
    over=clusters,
    title="The default channel's kernel modules do not drive a V100",
    why="""
NVIDIA's open kernel modules, which our AMIs have by default, drive GPUs from Turing on. On a
V100 no GPU appears, the node's device check fails, and the node takes no job.
""",
    sources=("https://github.com/NVIDIA/open-gpu-kernel-modules",),
    example="instance: {type: p3dn.24xlarge}",
)
def v100_modules(plan: ClusterPlan) -> Iterator[Violation]:
    """A V100 needs NVIDIA's proprietary kernel modules."""
    if plan.instance.accelerator.name == "V100" and takes_default_channel(plan):
        yield Violation(
            path=_PATH,
            message="our AMIs have NVIDIA's open kernel modules by default, which do not drive the "
            f"V100 of {plan.instance.name}",
            remedy="bake one with --var nvidia_driver=proprietary, publish it to a channel of its "
            "own, and name that in instance.ami",
        )


@rule(
    "TS-AMI-008",
    over=clusters,
    title="The channel is for another accelerator or agent",
    severity=Severity.ERROR,
    why="""
Each of our channels is for one accelerator and one agent. The prerequisites stack looks at
the AMI before anything else is deployed, and fails when it is of another cell.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-ec2-aliases.html",
    ),
    example="instance: {type: trn1.32xlarge, ami: /trainshed/ami/nvidia/ecs/stable}",
)
def other_cell(plan: ClusterPlan) -> Iterator[Violation]:
    """The channel must be that of the nodes' accelerator and agent."""
    channel = Channel.of_parameter(plan.ami.asked)
    if channel and plan.ami.cell and channel.cell != plan.ami.cell:
        yield Violation(
            path=_PATH,
            message=f"{plan.ami.asked} has AMIs of {channel.cell}, and the nodes need one of "
            f"{plan.ami.cell}",
            remedy=f"give ami: {channel.name}, the channel for {plan.ami.cell}",
        )


@rule(
    "TS-AMI-013",
    over=clusters,
    title="trainshed bakes no AMI for the nodes",
    why="""
A channel has AMIs that `trainshed ami build` baked. For some accelerators and agents it bakes none,
because no base is known that would do, so the channel stays empty unless you publish an AMI that
you made otherwise; without one, the deployment fails.
""",
    basis=Basis.OBSERVED,
    sources=("https://cloud-images.ubuntu.com/aws-eks/",),
    example="""
orchestrator: eks
instance: {type: dl1.24xlarge}
kubernetes: {access: [{role: Operator, policy: cluster-admin}], version: "1.36"}
""",
)
def none_is_baked(plan: ClusterPlan) -> Iterator[Violation]:
    """The channel should be one that can have an AMI."""
    cell = plan.ami.cell
    if not cell or not names_a_channel(plan.ami.asked):
        return
    if why := project_pins().why_none(*cell.split("/")):
        yield Violation(
            path=_PATH,
            message=f"no AMI is baked for {cell}: {why}",
            remedy="name an AMI of your own, or change what the cell follows from: "
            "the instance type, the orchestrator, kubernetes.version",
        )


@rule(
    "TS-AMI-014",
    over=clusters,
    title="No AMI of ours has the client of the shared storage",
    severity=Severity.ERROR,
    why="""
Nodes mount shared storage at their first boot, by a client that is in the AMI. A node without it
says so and powers off; after a few of them no more are launched. AWS has `amazon-efs-utils` in the
repositories of Amazon Linux; for Ubuntu no package with a signature that can be checked was found.
""",
    basis=Basis.OBSERVED,
    sources=("https://docs.aws.amazon.com/efs/latest/ug/installing-amazon-efs-utils.html",),
    example="""
instance: {type: dl1.24xlarge}
storage: {efs: {mount: /home}}
""",
)
def no_client(plan: ClusterPlan) -> Iterator[Violation]:
    """One of the bases of the nodes' AMI should have the client."""
    cell = plan.ami.cell
    if not cell or not names_a_channel(plan.ami.asked) or project_pins().why_none(*cell.split("/")):
        return
    for storage in plan.storages:
        if not bases_that_mount(project_pins(), storage.kind, *cell.split("/")):
            yield Violation(
                path=tuple(storage.field.split(".")),
                message=f"no AMI that is baked for {cell} has {storage.client}, so nodes cannot "
                f"mount {storage.mount}",
                remedy="take storage.openzfs or storage.lustre, or name an AMI of your own that "
                "has it in instance.ami",
            )


@rule(
    "TS-AMI-009",
    over=clusters,
    title="The driver of our AMIs no longer supports the first Inferentia",
    severity=Severity.ERROR,
    why="""
Neuron's driver supports Inf1 up to 2.24. Nodes that boot a later one show no accelerator. The rule
looks at the driver that `packer/pins.json` names.
""",
    sources=(LAST_SOFTWARE["Inferentia"][1],),
    example="instance: {type: inf1.6xlarge}",
)
def first_inferentia(plan: ClusterPlan) -> Iterator[Violation]:
    """The first Inferentia needs an older driver than we pin."""
    if plan.instance.accelerator.name != "Inferentia" or not takes_default_channel(plan):
        return
    driver = project_pins().components["neuron-dkms"].version
    if tuple(map(int, driver.split(".")[:2])) > LAST_NEURON_DRIVER_OF_INFERENTIA:
        last, _ = LAST_SOFTWARE["Inferentia"]
        yield Violation(
            path=_PATH,
            message=f"our AMIs have Neuron driver {driver}, and the last for "
            f"{plan.instance.name} is {last}",
            remedy="use inf2 or trn1, or an AMI with that driver",
        )


@rule(
    "TS-AMI-011",
    over=clusters,
    title="The root volume may be smaller than the AMI",
    why="""
EC2 refuses to launch an instance whose root volume is smaller than the AMI's snapshot: `Volume of
size 50GB is smaller than snapshot, expect size >= 100GB`. AWS Batch then gets no node, and jobs
wait in `RUNNABLE`. Our AMIs are baked with 100 GiB unless `--var root_gib` says otherwise.
""",
    sources=("https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_EbsBlockDevice.html",),
    example="instance: {type: trn1.32xlarge, root_gib: 50}",
)
def small_root_volume(plan: ClusterPlan) -> Iterator[Violation]:
    """The root volume must hold the AMI's snapshot."""
    root_gib = plan.root_volume.gib
    if names_a_channel(plan.ami.asked) and root_gib < BAKED_ROOT_GIB:
        yield Violation(
            path=("instance", "root_gib"),
            message=f"the root volume has {root_gib} GiB, and our AMIs are baked with "
            f"{BAKED_ROOT_GIB}: EC2 launches no node with less",
            remedy=f"give {BAKED_ROOT_GIB} GiB or more, or bake with --var root_gib={root_gib}",
        )
