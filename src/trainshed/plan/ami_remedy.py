"""What to do when the AMI of a cluster does not exist."""

from trainshed.ami.channel import Channel, is_channel_name
from trainshed.catalogue import InstanceType
from trainshed.nodes.cells import ACCELERATORS
from trainshed.orchestrators import Orchestrator, traits
from trainshed.pins.reader import project_pins
from trainshed.plan.control_plane import ControlPlanePlan

_V100_CHANNEL = "v100"


def cell_of(
    instance: InstanceType, orchestrator: Orchestrator, control_plane: ControlPlanePlan | None
) -> str | None:
    """Return the cell of our AMIs, such as `neuron/ecs`, or None when there is none.

    Args:
        instance: the nodes' type.
        orchestrator: what starts the jobs.
        control_plane: that the nodes join, if any.
    """
    family = instance.accelerator.family
    baked = family in ACCELERATORS and instance.architecture == "x86_64"
    agent = traits(orchestrator).agent
    if control_plane:
        agent += f"-{control_plane.version.name}"
    return f"{family}/{agent}" if baked else None


def remedy_for(asked: str, cell: str | None, instance: InstanceType, region: str | None) -> str:
    """Say which commands bake and publish the AMI that `instance.ami` asks for.

    Each command has a line of its own, to be copied from what the CDK CLI prints.

    Args:
        asked: the value of `instance.ami`.
        cell: which of our AMIs it must be; None when we bake none for the nodes.
        instance: the nodes' type.
        region: the cluster's.
    """
    if cell is None:
        return "name another AMI in instance.ami"
    name = asked.partition(":")[0]
    if name.startswith("/"):
        channel = Channel.of_parameter(name)
        name = channel.name if channel and channel.cell == cell else ""
    accelerator, _, agent = cell.partition("/")
    if why := project_pins().why_none(accelerator, agent):
        return f"name an AMI of your own in instance.ami, because none is baked for {cell}: {why}"
    ours = is_channel_name(name) and not name.startswith("ami-")
    target, driver, after = name if ours else "stable", "", ""
    # NVIDIA's open modules, the default, do not drive it; and other types take the default channel.
    if instance.accelerator.name == "V100":
        driver = " --var nvidia_driver=proprietary"
        if target == "stable":
            target = _V100_CHANNEL
            after = f", and give instance.ami: {_V100_CHANNEL}"
    commands = (
        f"trainshed ami build {accelerator} {agent} --region {region}{driver}",
        f"trainshed ami publish build/{accelerator}-{agent}/manifest.json --channel {target}",
    )
    leave_out = "" if after else "leave it out, "
    other = "" if ours else f"name another AMI in instance.ami; or {leave_out}"
    return "\n  ".join((f"{other}bake an AMI and publish it{after}:", *commands))
