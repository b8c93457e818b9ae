"""Probes of the containers of pods on a node of the embedded EKS."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eks_bench import until
from job_bench import job_aws
from pod_bench import PodBench
from skips import needs

from embedded_aws.job_settings import JobSettings

pytestmark = pytest.mark.server

_FOREVER = "while :; do sleep 0.05; done"
_HEARS = f"trap 'exit 7' TERM; echo ready; {_FOREVER}"


@pytest.fixture(scope="module")
def bench(built_kubernetes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodBench]:
    folder = tmp_path_factory.mktemp("pods")
    with job_aws(folder, JobSettings(speed=3000), kubernetes=True) as aws:
        yield PodBench(aws)


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


def probe(script: str, **more: Any) -> dict[str, Any]:
    """Return a probe by a command, which is asked each second and may fail once."""
    return {"exec": {"command": sh(script)}, "periodSeconds": 1, "failureThreshold": 2, **more}


def messages(bench: PodBench, name: str, reason: str) -> list[str]:
    return [each["message"] for each in bench.events(name).get(reason, [])]


def delete(bench: PodBench, name: str) -> None:
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def test_a_container_that_does_not_live_gets_sigterm_and_runs_again(bench: PodBench) -> None:
    name = bench.start(
        sh(_HEARS),
        {"livenessProbe": probe("echo stuck; exit 1")},
        restartPolicy="Always",
        terminationGracePeriodSeconds=30000,
    )

    until(lambda: bench.container(name).get("restartCount") == 1)

    assert bench.container(name)["lastState"]["terminated"]["exitCode"] == 7
    [unhealthy] = bench.events(name)["Unhealthy"]
    assert (unhealthy["type"], unhealthy["message"]) == (
        "Warning",
        "Liveness probe failed: stuck\n",
    )
    assert unhealthy["count"] >= 2
    assert unhealthy["involvedObject"]["fieldPath"] == "spec.containers{one}"
    assert "Container one failed liveness probe, will be restarted" in messages(
        bench, name, "Killing"
    )
    delete(bench, name)


def test_a_container_that_does_not_hear_is_killed_after_the_time_of_its_probe(
    bench: PodBench,
) -> None:
    name = bench.start(
        sh(f"trap '' TERM; {_FOREVER}"),
        {"livenessProbe": probe("exit 1", failureThreshold=1, terminationGracePeriodSeconds=1)},
        terminationGracePeriodSeconds=300000,
    )

    assert bench.until_over(name)["phase"] == "Failed"

    assert bench.state(name)["terminated"]["exitCode"] == 137
    assert messages(bench, name, "Killing") == ["Container one failed liveness probe"]


def test_a_container_whose_probe_succeeds_in_between_lives(bench: PodBench, tmp_path: Path) -> None:
    file = tmp_path / "asked"
    every_other = f"echo asked >> {file}; test $(($(wc -l < {file}) % 2)) = 0"
    name = bench.start(sh(_FOREVER), {"livenessProbe": probe(every_other)})

    until(lambda: file.exists() and len(file.read_text().split()) >= 5)

    assert "running" in bench.state(name)
    assert bench.container(name)["restartCount"] == 0
    delete(bench, name)


def test_a_startup_probe_holds_the_others_back(bench: PodBench, tmp_path: Path) -> None:
    started, lives, ready = (tmp_path / name for name in ("started", "lives", "ready"))
    name = bench.start(
        sh(_FOREVER),
        {
            "startupProbe": probe(f"test -e {started}", failureThreshold=1000),
            "livenessProbe": probe(f"echo asked >> {lives}"),
            "readinessProbe": probe(f"test -e {started} && touch {ready}"),
        },
    )
    until(lambda: "Unhealthy" in bench.events(name))

    status = bench.container(name)
    assert (status["started"], status["ready"]) == (False, False)
    assert not lives.exists()
    started.touch()
    until(lambda: bench.container(name)["ready"])

    assert bench.container(name)["started"]
    assert ready.exists()
    until(lives.exists)
    said = messages(bench, name, "Unhealthy")
    assert said == ["Startup probe failed: "]
    delete(bench, name)


def test_a_container_that_does_not_start_is_killed(bench: PodBench) -> None:
    name = bench.start(
        sh(_HEARS),
        {"startupProbe": probe("exit 1"), "livenessProbe": probe("exit 0")},
        terminationGracePeriodSeconds=30000,
    )

    assert bench.until_over(name)["phase"] == "Failed"

    assert bench.state(name)["terminated"]["exitCode"] == 7
    assert messages(bench, name, "Killing") == ["Container one failed startup probe"]


def test_a_sidecar_lets_the_next_start_once_its_startup_probe_succeeds(
    bench: PodBench, tmp_path: Path
) -> None:
    started, lives = tmp_path / "started", tmp_path / "lives"
    beside = {
        "name": "beside",
        "image": "example.com/one:1",
        "command": sh(_HEARS),
        "restartPolicy": "Always",
        "startupProbe": probe(f"test -e {started}", failureThreshold=1000),
        "livenessProbe": probe(f"test -e {lives}"),
    }
    name = bench.start(sh(_FOREVER), initContainers=[beside], terminationGracePeriodSeconds=30000)
    until(lambda: any(each["count"] > 2 for each in bench.events(name).get("Unhealthy", [])))

    assert bench.pod(name)["status"]["phase"] == "Pending"
    assert bench.state(name) == {"waiting": {"reason": "PodInitializing"}}
    started.touch()
    until(lambda: "running" in bench.state(name))

    def restarts() -> int:
        [found] = bench.pod(name)["status"]["initContainerStatuses"]
        return int(found["restartCount"])

    until(lambda: restarts() == 1)
    assert "Init container beside failed liveness probe" in messages(bench, name, "Killing")
    assert bench.pod(name)["status"]["phase"] == "Running"
    assert bench.container(name)["restartCount"] == 0
    delete(bench, name)


def test_a_command_that_takes_too_long_fails(bench: PodBench) -> None:
    probes = {"readinessProbe": probe("sleep 600", timeoutSeconds=1)}
    name = bench.start(sh(_FOREVER), probes)

    until(lambda: "Unhealthy" in bench.events(name))

    [said] = messages(bench, name, "Unhealthy")
    assert said == "Readiness probe failed: command timed out: 'sh -c sleep 600' timed out after 1s"
    assert not bench.container(name)["ready"]
    delete(bench, name)


def test_a_command_that_is_not_there_says_nothing_of_the_container(bench: PodBench) -> None:
    missing = {"exec": {"command": ["no-such-program"]}, "failureThreshold": 1, "periodSeconds": 1}
    name = bench.start(sh(_FOREVER), {"livenessProbe": missing})

    until(lambda: any(each["count"] > 1 for each in bench.events(name).get("Unhealthy", [])))

    [said] = messages(bench, name, "Unhealthy")
    assert said.startswith("Liveness probe errored and resulted in unknown state: ")
    assert "no-such-program" in said
    assert "running" in bench.state(name)
    delete(bench, name)


def test_the_command_of_a_probe_has_the_variables_of_its_container(bench: PodBench) -> None:
    environment = [{"name": "A", "value": "is"}, {"name": "B", "value": "set"}]
    name = bench.start(
        sh(_FOREVER),
        {"env": environment, "readinessProbe": probe('test "$(A) $B" = "is set"')},
    )

    until(lambda: bench.container(name).get("ready", False))

    delete(bench, name)


# A child that has ended, and that nobody has waited for, is asked to let another process in.
_LATE = """
import os, subprocess, sys
from embedded_aws.hosts.container import Container, start
from embedded_aws.hosts.container_mounts import Files, call

outside = os.open("/proc/self/ns/pid", os.O_RDONLY)
call("unshare", 0x20000000)
gone = os.fork()
if not gone:
    os._exit(0)
call("setns", outside, 0x20000000)
os.waitid(os.P_PID, gone, os.WEXITED | os.WNOWAIT)
container = Container(files=Files(image=None, folder=""), user="", folder="/")
try:
    start(container, ["true"], {}, 1, 2, beside=gone)
except ProcessLookupError:
    print("gone", subprocess.run(["true"]).returncode)
"""


@needs(root="containers are made by root")
def test_a_probe_of_a_container_that_has_just_ended_harms_no_later_process() -> None:
    ran = subprocess.run([sys.executable, "-c", _LATE], capture_output=True, text=True)

    assert ran.stdout == "gone 0\n", ran.stderr


@pytest.mark.parametrize(
    ("probes", "said"),
    [
        ({"livenessProbe": {"grpc": {"port": 80}}}, "asks no livenessProbe by gRPC"),
        (
            {"readinessProbe": {"httpGet": {"port": 80, "host": "example.com"}}},
            "asks no other host for a readinessProbe: example.com",
        ),
    ],
    ids=["gRPC", "another host"],
)
def test_a_probe_that_is_not_known_keeps_the_container_waiting(
    bench: PodBench, probes: dict[str, Any], said: str
) -> None:
    name = bench.start(["true"], probes)

    assert said in bench.until_waits(name, "CreateContainerConfigError")
    delete(bench, name)
