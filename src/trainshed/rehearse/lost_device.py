"""A node that loses its devices while the command of a job runs there, in a container."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import sleep

import psutil

from embedded_aws.embedded import EmbeddedAws
from trainshed.rehearse.faults import kill

# By which trainshed-launch knows that its node lacks the devices that the job definition counts on:
# without it, it looks for none, as this machine has none.
LOST_DEVICES = "run/trainshed/lost-devices"
# trainshed-launch sets it for the command, and has none itself.
_OF_THE_COMMAND = "NODE_RANK"
_LOOK_SECONDS = 0.1


def lose_devices(
    child_processes: Callable[[EmbeddedAws, str], list[psutil.Process]],
    aws: EmbeddedAws,
    job: str,
    processes: Sequence[psutil.Process],
) -> None:
    """Have the instance of the child lose its devices, by which its command fails.

    Args:
        child_processes: finds the processes of the child.
        aws: where the job is.
        job: its id.
        processes: of the child now.
    """
    (Path(processes[0].environ()["EMBEDDED_AWS_NODE"]) / LOST_DEVICES).touch()
    # The command may begin after its launcher.
    while processes and not (command := list(filter(_is_of_the_command, processes))):
        sleep(_LOOK_SECONDS)
        processes = child_processes(aws, job)
    kill(aws, job, command)


def _is_of_the_command(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return _OF_THE_COMMAND in process.environ()
    return False
