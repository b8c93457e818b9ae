"""Jobs of plain EC2 nodes beside Systems Manager's agent, under real systemd.

The agent is a stub that runs lines of a pipe as the agent runs a command: as its child, in its
cgroup. Its unit is as amazon-ssm-agent's package has it (packaging/linux/amazon-ssm-agent.service
of aws/amazon-ssm-agent).
"""

import base64
import json
import re
import shlex
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from guest_bench import AMAZON, UBUNTU, Bench, Guest

FILES = Path(__file__).parents[2] / "packer" / "files"
AGENT = "amazon-ssm-agent.service"
SET_UP = f"""
set -eu
tar -x --no-same-owner -C /
cat >/etc/systemd/system/{AGENT} <<'END'
[Unit]
Description=amazon-ssm-agent
[Service]
Type=simple
ExecStart=/usr/bin/amazon-ssm-agent
KillMode=process
Restart=on-failure
RestartForceExitStatus=SIGPIPE
RestartSec=15min
END
cat >/usr/bin/amazon-ssm-agent <<'END'
#!/bin/bash
# Open for both: a reader that opened it anew would lose what came meanwhile.
exec 3<>/run/jobs
while read -r line <&3; do bash -c "$line" 3<&- & done
END
chmod 755 /usr/bin/amazon-ssm-agent
mkfifo /run/jobs
systemctl daemon-reload
systemctl start {AGENT}
"""


@pytest.fixture(scope="module", params=[pytest.param("ubuntu"), pytest.param("ec2-user")])
def node(request: pytest.FixtureRequest, bench: Bench) -> Iterator[Guest]:
    """A guest with our node programs, and the stub of the agent."""
    base = {"ubuntu": UBUNTU, "ec2-user": AMAZON}[request.param]
    with bench.launched(bench.image_id(base), user=request.param) as guest:
        names = ("opt", f"etc/systemd/system/{AGENT}.d")
        pack = ["tar", "-c", "-C", str(FILES), *names]
        packed = subprocess.run(pack, check=True, capture_output=True).stdout
        ssh = ("ssh", "-i", str(guest.key), "-o", "StrictHostKeyChecking=no")
        known = ("-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR")
        host = f"{guest.user}@{guest.address}"
        done = subprocess.run(
            [*ssh, *known, host, f"sudo sh -c {shlex.quote(SET_UP)}"],
            input=packed,
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr.decode()
        yield guest


def launcher() -> tuple[str, ...]:
    """Return the launcher on a port of its own: guests share this machine's network."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return ("trainshed-launch", "--port", str(listener.getsockname()[1]))


def start(node: Guest, name: str, *command: str) -> None:
    """Have the agent run a job; what it prints, and its code, will be in /run."""
    job: dict[str, Any] = {"name": name, "hosts": ["127.0.0.1"], "command": command}
    encoded = base64.b64encode(json.dumps(job).encode()).decode()
    run = f"/opt/trainshed/trainshed-run-job {encoded} >/run/{name}.log 2>&1"
    line = f"echo $$ >/run/{name}.pid; {run}; echo $? >/run/{name}.code"
    node.ssh(f"sudo sh -c {shlex.quote(f'echo {shlex.quote(line)} >/run/jobs')}")


def ended(node: Guest, name: str) -> tuple[int, str]:
    """Return exit code and output of a job, when it is over."""
    node.wait_for(
        f"the end of {name}", lambda: node.try_ssh(f"test -s /run/{name}.code").returncode == 0
    )
    return int(node.ssh(f"cat /run/{name}.code")), node.ssh(f"sudo cat /run/{name}.log")


def agent(node: Guest, *names: str) -> dict[str, str]:
    shown = node.ssh(f"systemctl show {AGENT} --property {','.join(names)}")
    return dict(line.split("=", 1) for line in shown.splitlines())


def test_the_agent_is_hard_to_kill_and_soon_back(node: Guest) -> None:
    assert agent(node, "OOMScoreAdjust", "OOMPolicy", "RestartUSec", "ActiveState") == {
        "OOMScoreAdjust": "-900",
        "OOMPolicy": "continue",
        "RestartUSec": "15s",
        "ActiveState": "active",
    }


def test_a_job_is_in_a_scope_of_its_own_with_a_limit_and_an_ordinary_score(node: Guest) -> None:
    look = "cat /proc/self/cgroup /proc/self/oom_score_adj; systemctl show --property MemoryMax "
    look += "$(grep -o 'run-[^/]*[.]scope' /proc/self/cgroup | head -n 1)"

    start(node, "looks", *launcher(), "sh", "-c", f"{look}; exit 7")

    code, said = ended(node, "looks")
    assert code == 7, said
    # In any hierarchy of cgroups.
    assert "amazon-ssm-agent" not in said
    assert "/system.slice/run-" in said
    assert "\n0\n" in said
    found = re.search(r"MemoryMax=(\d+)", said)
    total = int(node.ssh("sed -n 's/MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo")) * 1024
    assert found and 0.8 * total < int(found[1]) < 0.96 * total


def test_a_job_hears_when_the_agent_kills_what_it_started(node: Guest) -> None:
    training = (
        "trap 'echo written >/run/checkpoint; exit 3' TERM; echo begun; while :; do sleep 0.1; done"
    )
    start(node, "train", *launcher(), "sh", "-c", training)
    node.wait_for("a step", lambda: "begun" in node.ssh("sudo cat /run/train.log || true"))

    # As the agent does when a command is cancelled.
    node.ssh("sudo kill -KILL $(pgrep --parent $(cat /run/train.pid))")

    node.wait_for("a checkpoint", lambda: node.try_ssh("test -s /run/checkpoint").returncode == 0)
    assert agent(node, "ActiveState") == {"ActiveState": "active"}


def test_a_program_that_is_not_there_has_the_code_of_a_shell(node: Guest) -> None:
    start(node, "missing", "no-such-program")

    assert ended(node, "missing") == (
        127,
        "trainshed-launch: ERROR: no-such-program cannot be started: No such file or directory",
    )
