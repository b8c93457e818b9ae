"""How the AMI of a cluster is made, and what to do when it does not exist."""

from trainshed.ami.channel import Channel, is_channel_name
from trainshed.catalogue import InstanceType
from trainshed.nodes.cells import ACCELERATORS
from trainshed.orchestrators import Orchestrator, traits
from trainshed.pins.reader import project_pins
from trainshed.plan.control_plane import ControlPlanePlan

_DEFAULT_CHANNEL, _V100_CHANNEL = "stable", "v100"


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


def bake_commands(
    asked: str, cell: str | None, instance: InstanceType, region: str | None
) -> tuple[str, ...]:
    """Return the commands that bake the AMI that `instance.ami` asks for, and publish it there.

    None where no AMI is baked for the nodes, or `instance.ami` is not a channel that takes it.

    Args:
        asked: the value of `instance.ami`.
        cell: which of our AMIs it must be; None when we bake none for the nodes.
        instance: the nodes' type.
        region: the cluster's.
    """
    if cell is None or project_pins().why_none(*cell.split("/")):
        return ()
    channel = _our_channel(asked, cell)
    if channel is None or (_is_v100(instance) and channel == _DEFAULT_CHANNEL):
        return ()
    return _commands(cell, channel, instance, region)


def remedy_for(asked: str, cell: str | None, instance: InstanceType, region: str | None) -> str:
    """Say which commands bake and publish the AMI that `instance.ami` asks for.

    Each command has a line of its own, to be copied from what the CDK CLI prints.

    Args:
        asked: as for `bake_commands`.
        cell: as for `bake_commands`.
        instance: as for `bake_commands`.
        region: as for `bake_commands`.
    """
    if cell is None:
        return "name another AMI in instance.ami"
    if why := project_pins().why_none(*cell.split("/")):
        return f"name an AMI of your own in instance.ami, because none is baked for {cell}: {why}"
    channel = _our_channel(asked, cell)
    target, after = channel or _DEFAULT_CHANNEL, ""
    # Other types take the default channel.
    if _is_v100(instance) and target == _DEFAULT_CHANNEL:
        target = _V100_CHANNEL
        after = f", and give instance.ami: {_V100_CHANNEL}"
    leave_out = "" if after else "leave it out, "
    other = "" if channel else f"name another AMI in instance.ami; or {leave_out}"
    commands = _commands(cell, target, instance, region)
    return "\n  ".join((f"{other}bake an AMI and publish it{after}:", *commands))


def _our_channel(asked: str, cell: str) -> str | None:
    """Return the name of the channel that `instance.ami` asks for, if it is one of the cell."""
    name = asked.partition(":")[0]
    if name.startswith("/"):
        channel = Channel.of_parameter(name)
        return channel.name if channel and channel.cell == cell else None
    return name if is_channel_name(name) and not name.startswith("ami-") else None


def _is_v100(instance: InstanceType) -> bool:
    # NVIDIA's open modules, the default, do not drive it.
    return instance.accelerator.name == "V100"


def _commands(
    cell: str, channel: str, instance: InstanceType, region: str | None
) -> tuple[str, ...]:
    accelerator, _, agent = cell.partition("/")
    driver = " --var nvidia_driver=proprietary" if _is_v100(instance) else ""
    return (
        f"trainshed ami build {accelerator} {agent} --region {region}{driver}",
        f"trainshed ami publish build/{accelerator}-{agent}/manifest.json --channel {channel}",
    )
