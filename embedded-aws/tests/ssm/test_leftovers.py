"""Nothing of a command stays on the machine."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from command_bench import CommandBench, until
from job_bench import job_aws
from skips import needs

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings

APART = needs(networks=True)
# In every way a process may try to outlive its instance.
ESCAPE = "(setsid sh -c '(exec sleep {0}) &'); trap '' TERM HUP; sleep {0}"


def stop(aws: EmbeddedAws) -> None:
    aws.server.stop()


def kill(aws: EmbeddedAws) -> None:
    aws.server.process.kill()


def reset(bench: CommandBench) -> None:
    bench.aws.reset()


def terminate(bench: CommandBench) -> None:
    of_the_bench = [{"Name": "subnet-id", "Values": [bench.subnet]}]
    groups = bench.ec2.describe_instances(Filters=of_the_bench)["Reservations"]
    ids = [each["InstanceId"] for group in groups for each in group["Instances"]]
    bench.ec2.terminate_instances(InstanceIds=ids)


@pytest.mark.parametrize("loopback", [True, pytest.param(False, marks=APART)])
@pytest.mark.parametrize("end", [stop, kill])
def test_nothing_is_left_of_a_running_command_when_the_embedded_aws_ends(
    tmp_path: Path, loopback: bool, end: Callable[[EmbeddedAws], None]
) -> None:
    with job_aws(tmp_path, JobSettings(loopback=loopback)) as aws:
        processes = _started(CommandBench(aws))

        end(aws)

        _, alive = psutil.wait_procs(processes, timeout=20)
    assert alive == []


@pytest.mark.parametrize("end", [reset, terminate])
def test_nothing_is_left_of_a_running_command_when_its_instance_ends(
    either: CommandBench, end: Callable[[CommandBench], None]
) -> None:
    processes = _started(either)

    end(either)

    _, alive = psutil.wait_procs(processes, timeout=20)
    assert alive == []


def _started(bench: CommandBench) -> list[psutil.Process]:
    """Run a command that tries to outlive its end on two instances; return its processes."""
    seconds = f"6{abs(hash(bench.name)) % 10**8}"
    instances = bench.launch(2)
    bench.send(ESCAPE.format(seconds), instances)

    def running() -> list[psutil.Process]:
        found = [
            process
            for process in psutil.process_iter(["cmdline"])
            if process.info["cmdline"] == ["sleep", seconds]
        ]
        return found if len(found) == 4 else []

    return list(until(running, "four processes"))
