"""Nothing of a command stays on the machine."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from command_bench import CommandBench, until
from job_bench import job_aws
from skips import needs

from embedded_aws.batch.job_settings import JobSettings
from embedded_aws.embedded import EmbeddedAws

APART = needs("ip", "unshare", "nsenter", root="each instance has a network namespace of its own")
# In every way a process may try to outlive its instance.
ESCAPE = "(setsid sh -c '(exec sleep {0}) &'); trap '' TERM HUP; sleep {0}"


def stop(aws: EmbeddedAws) -> None:
    aws.server.stop()


def kill(aws: EmbeddedAws) -> None:
    aws.server.process.kill()


def reset(aws: EmbeddedAws) -> None:
    aws.reset()


def terminate(aws: EmbeddedAws) -> None:
    ec2 = aws.client("ec2")
    groups = ec2.describe_instances()["Reservations"]
    ids = [each["InstanceId"] for group in groups for each in group["Instances"]]
    ec2.terminate_instances(InstanceIds=ids)


@pytest.mark.parametrize("loopback", [True, pytest.param(False, marks=APART)])
@pytest.mark.parametrize("end", [stop, kill, reset, terminate])
def test_nothing_is_left_of_a_running_command(
    tmp_path: Path, loopback: bool, end: Callable[[EmbeddedAws], None]
) -> None:
    with job_aws(tmp_path, JobSettings(loopback=loopback)) as aws:
        bench = CommandBench(aws)
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

        processes = until(running, "four processes")

        end(aws)

        _, alive = psutil.wait_procs(processes, timeout=20)
    assert alive == []
