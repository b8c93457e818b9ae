"""Jobs in their networks, and that nothing of them stays on the machine."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from command_bench import until
from job_bench import JobBench, job_aws
from skips import needs

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings

# In every way a process may try to outlive its job.
ESCAPE = "(setsid sh -c '(exec sleep {0}) &'); trap '' TERM HUP; echo running; sleep {0}"


def stop(aws: EmbeddedAws) -> None:
    aws.server.stop()


def kill(aws: EmbeddedAws) -> None:
    aws.server.process.kill()


def kill_the_serving_process(aws: EmbeddedAws) -> None:
    for child in psutil.Process(aws.server.process.pid).children():
        child.kill()


APART = needs(networks=True)


@pytest.mark.parametrize(
    ("loopback", "end"),
    [
        pytest.param(False, stop, marks=APART, id="apart-stop"),
        pytest.param(False, kill, marks=APART, id="apart-kill"),
        pytest.param(True, kill, id="loopback-kill"),
        pytest.param(True, kill_the_serving_process, id="loopback-serving"),
    ],
)
def test_nothing_is_left_of_a_running_job(
    tmp_path: Path, loopback: bool, end: Callable[[EmbeddedAws], None]
) -> None:
    # A number that no other process sleeps for.
    seconds = f"9{os.getpid()}.{abs(hash((loopback, end.__name__))) % 10**6}"
    links, mounts = _links(), Path("/proc/self/mountinfo").read_text()
    with job_aws(tmp_path, JobSettings(loopback=loopback)) as aws:
        processes = _started(JobBench(aws), seconds)

        end(aws)

        _, alive = psutil.wait_procs(processes, timeout=20)
    assert alive == []
    assert (_links(), Path("/proc/self/mountinfo").read_text()) == (links, mounts)


def test_nothing_is_left_of_a_running_job_after_a_reset(either: JobBench) -> None:
    seconds = f"7{os.getpid()}.{abs(hash(either.name)) % 10**6}"
    processes = _started(either, seconds)

    either.aws.reset()

    _, alive = psutil.wait_procs(processes, timeout=20)
    assert alive == []


def _started(bench: JobBench, seconds: str) -> list[psutil.Process]:
    """Run a job that tries to outlive its end; return its processes."""
    job = bench.submit(bench.define(ESCAPE.format(seconds), nodes=2))
    bench.wait_for_line(f"{job}#1", "running")

    # The line is printed before the last of them starts.
    def all_four() -> list[psutil.Process]:
        found = _sleeping(seconds)
        return found if len(found) == 4 else []

    return list(until(all_four, "four processes"))


def test_nothing_is_left_after_the_end_of_a_job(either: JobBench) -> None:
    seconds = f"8{os.getpid()}.{abs(hash(either.name)) % 10**6}"

    job = either.run(f"(setsid sleep {seconds} &); sleep 0.1; pwd; touch here", nodes=2)

    assert job["status"] == "SUCCEEDED"
    [folder] = either.lines(either.describe(f"{job['jobId']}#0"))
    assert not Path(folder).exists()
    assert _sleeping(seconds) == []


def test_nodes_reach_each_other_by_their_addresses(namespaces: JobBench) -> None:
    listen = (
        "import os, socket\n"
        "main = os.environ.get('AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS')\n"
        "if main:\n"
        "    while True:\n"
        "        try: s = socket.create_connection((main, 5000), 5); break\n"
        "        except ConnectionRefusedError: pass\n"
        "    s.sendall(socket.gethostname().encode())\n"
        "else:\n"
        "    with socket.create_server(('0.0.0.0', 5000)) as server:\n"
        "        s, (address, _) = server.accept()\n"
        "        print(socket.gethostname(), address, s.recv(99).decode())\n"
    )

    job = namespaces.run(["python3", "-I", "-c", listen], nodes=2)

    main, child = (
        namespaces.describe(f"{job['jobId']}#{index}")["container"]["networkInterfaces"][0][
            "privateIpv4Address"
        ]
        for index in range(2)
    )
    names = [f"ip-{address.replace('.', '-')}" for address in (main, child)]
    assert namespaces.lines(namespaces.describe(f"{job['jobId']}#0")) == [
        f"{names[0]} {child} {names[1]}"
    ]


def test_nodes_have_nothing_of_the_machines_network(namespaces: JobBench) -> None:
    job = namespaces.run("ip -brief link | wc -l; ls -d /proc/[0-9]* | wc -l")

    links, processes = map(int, namespaces.lines(job))
    assert links == 2
    assert processes < 6


def _sleeping(seconds: str) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"] == ["sleep", seconds]
    ]


def _links() -> str:
    if os.geteuid():
        return ""
    shown = subprocess.run(["ip", "-brief", "link"], capture_output=True, text=True, check=True)
    names = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True)
    return shown.stdout + names.stdout
