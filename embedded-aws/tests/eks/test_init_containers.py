"""Init containers of pods on a node of the embedded EKS, and sidecars among them."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from eks_bench import until
from job_bench import job_aws
from pod_bench import PodBench

from embedded_aws.job_settings import JobSettings

pytestmark = pytest.mark.server

_FOREVER = "while :; do sleep 0.05; done"


@pytest.fixture(scope="module")
def bench(built_kubernetes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodBench]:
    folder = tmp_path_factory.mktemp("pods")
    with job_aws(folder, JobSettings(speed=3000), kubernetes=True) as aws:
        yield PodBench(aws)


def container(name: str, script: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "image": "example.com/one:1", "command": ["sh", "-c", script], **more}


def sidecar(name: str, script: str, **more: Any) -> dict[str, Any]:
    return container(name, script, restartPolicy="Always", **more)


def init(bench: PodBench, name: str) -> dict[str, Any]:
    """Return the statuses of the init containers of a pod."""
    found = bench.pod(name)["status"].get("initContainerStatuses", [])
    return {each["name"]: each for each in found}


def until_all_are_ready(bench: PodBench, name: str, *containers: str) -> None:
    """Wait until each container of a pod has said so."""
    until(lambda: all(bench.log(name, f"container={each}") == ["ready"] for each in containers))


def condition(bench: PodBench, name: str, kind: str) -> dict[str, Any]:
    found = {each["type"]: each for each in bench.pod(name)["status"]["conditions"]}
    return {key: found[kind].get(key) for key in ("status", "reason", "message")}


def delete(bench: PodBench, name: str) -> None:
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def test_init_containers_run_one_after_the_other_before_the_container(
    bench: PodBench, tmp_path: Path
) -> None:
    file = tmp_path / "order"
    name = bench.start(
        ["sh", "-c", f"echo own >> {file}"],
        initContainers=[
            container("first", f"sleep 0.3; echo first >> {file}; echo said by first"),
            container("second", f"echo second >> {file}"),
        ],
    )

    assert bench.until_over(name)["phase"] == "Succeeded"

    assert file.read_text().split() == ["first", "second", "own"]
    assert bench.log(name, "container=first") == ["said by first"]
    statuses = init(bench, name)
    assert [each["ready"] for each in statuses.values()] == [True, True]
    assert statuses["first"]["state"]["terminated"]["reason"] == "Completed"
    assert condition(bench, name, "Initialized")["reason"] == "PodCompleted"


def test_a_pod_waits_for_its_init_containers_and_says_so(bench: PodBench) -> None:
    name = bench.start(
        ["true"], initContainers=[container("first", _FOREVER), container("second", "true")]
    )

    until(lambda: "running" in init(bench, name).get("first", {}).get("state", {}))

    status = bench.pod(name)["status"]
    assert status["phase"] == "Pending"
    assert bench.state(name) == {"waiting": {"reason": "PodInitializing"}}
    assert init(bench, name)["second"]["state"] == {"waiting": {"reason": "PodInitializing"}}
    assert condition(bench, name, "Initialized") == {
        "status": "False",
        "reason": "ContainersNotInitialized",
        "message": "containers with incomplete status: [first second]",
    }
    delete(bench, name)


def test_kubectl_shows_how_far_a_pod_is(bench: PodBench, tmp_path: Path) -> None:
    first, last = tmp_path / "first", tmp_path / "last"
    name = bench.start(
        ["sh", "-c", f"until test -e {last}; do sleep 0.05; done"],
        terminationGracePeriodSeconds=30000,
        initContainers=[
            container("first", f"until test -e {first}; do sleep 0.05; done"),
            sidecar("beside", f"trap 'exit 0' TERM; {_FOREVER}"),
        ],
    )
    failing = bench.start(["true"], initContainers=[container("first", "exit 3")])

    until(lambda: bench.shown(name) == ("0/2", "Init:0/2"))
    first.touch()
    until(lambda: bench.shown(name) == ("2/2", "Running"))
    last.touch()
    until(lambda: bench.shown(name) == ("0/2", "Completed"))
    until(lambda: bench.shown(failing) == ("0/1", "Init:Error"))


def test_a_pod_fails_with_an_init_container_that_may_not_run_again(bench: PodBench) -> None:
    name = bench.start(
        ["true"], initContainers=[container("first", "exit 3"), container("second", "true")]
    )

    assert bench.until_over(name)["phase"] == "Failed"

    statuses = init(bench, name)
    assert statuses["first"]["state"]["terminated"]["exitCode"] == 3
    assert "waiting" in statuses["second"]["state"]
    assert "waiting" in bench.state(name)
    assert condition(bench, name, "Ready")["reason"] == "PodFailed"


@pytest.mark.parametrize("policy", ["OnFailure", "Always"])
def test_an_init_container_runs_again_until_it_succeeds_and_then_no_more(
    bench: PodBench, tmp_path: Path, policy: str
) -> None:
    file = tmp_path / "runs"
    script = f"echo run >> {file}; test $(wc -l < {file}) -ge 3"
    name = bench.start(
        ["sh", "-c", _FOREVER], restartPolicy=policy, initContainers=[container("first", script)]
    )

    until(lambda: "running" in bench.state(name))

    first = init(bench, name)["first"]
    assert (first["restartCount"], first["state"]["terminated"]["exitCode"]) == (2, 0)
    assert file.read_text().split() == ["run"] * 3
    delete(bench, name)


def test_a_sidecar_runs_beside_the_container_and_ends_after_it(
    bench: PodBench, tmp_path: Path
) -> None:
    file = tmp_path / "order"
    ends = f"trap 'echo sidecar ends >> {file}; exit 0' TERM; echo ready; {_FOREVER}"
    name = bench.start(
        ["sh", "-c", f"echo own ends >> {file}"],
        terminationGracePeriodSeconds=30000,
        initContainers=[
            sidecar("beside", f"echo sidecar >> {file}; {ends}"),
            # The second starts once the first has started, which does not end.
            container("after", f"until grep -q sidecar {file}; do sleep 0.05; done"),
        ],
    )

    assert bench.until_over(name)["phase"] == "Succeeded"

    assert file.read_text().splitlines() == ["sidecar", "own ends", "sidecar ends"]
    assert init(bench, name)["beside"]["state"]["terminated"]["exitCode"] == 0


def test_sidecars_end_in_the_opposite_order_once_the_container_of_a_deleted_pod_has_ended(
    bench: PodBench, tmp_path: Path
) -> None:
    file = tmp_path / "order"

    def ends(name: str) -> str:
        trap = f"trap 'sleep 0.2; echo {name} >> {file}; exit 0' TERM"
        return f"{trap}; echo ready; {_FOREVER}"

    name = bench.start(
        ["sh", "-c", ends("own")],
        metadata={"finalizers": ["example.com/kept"]},
        terminationGracePeriodSeconds=30000,
        initContainers=[sidecar("first", ends("first")), sidecar("last", ends("last"))],
    )
    until_all_are_ready(bench, name, "first", "last", "one")

    delete(bench, name)

    assert bench.until_over(name)["phase"] == "Succeeded"
    assert file.read_text().split() == ["own", "last", "first"]


def test_a_sidecar_that_does_not_hear_is_killed_after_its_container(bench: PodBench) -> None:
    name = bench.start(
        ["sh", "-c", f"trap '' TERM; echo ready; {_FOREVER}"],
        metadata={"finalizers": ["example.com/kept"]},
        terminationGracePeriodSeconds=1,
        initContainers=[sidecar("beside", f"trap '' TERM; echo ready; {_FOREVER}")],
    )
    until_all_are_ready(bench, name, "beside", "one")

    delete(bench, name)

    assert bench.until_over(name)["phase"] == "Failed"
    assert bench.state(name)["terminated"]["exitCode"] == 137
    assert init(bench, name)["beside"]["state"]["terminated"]["exitCode"] == 137


def test_a_sidecar_runs_again_and_holds_up_nothing_that_it_let_start(bench: PodBench) -> None:
    name = bench.start(
        ["sh", "-c", _FOREVER], initContainers=[sidecar("beside", "sleep 0.2; exit 1")]
    )

    until(lambda: init(bench, name).get("beside", {}).get("restartCount", 0) >= 2)

    assert bench.pod(name)["status"]["phase"] == "Running"
    assert bench.container(name)["restartCount"] == 0
    assert condition(bench, name, "Initialized")["status"] == "True"
    until(lambda: "beside" in str(condition(bench, name, "Ready")["message"]))
    delete(bench, name)


def test_a_pod_that_is_deleted_while_its_init_container_runs_never_starts_its_container(
    bench: PodBench,
) -> None:
    name = bench.start(
        ["sh", "-c", "echo never"],
        metadata={"finalizers": ["example.com/kept"]},
        terminationGracePeriodSeconds=30000,
        initContainers=[container("first", f"trap 'exit 0' TERM; echo ready; {_FOREVER}")],
    )
    until(lambda: bench.log(name, "container=first") == ["ready"])

    delete(bench, name)

    assert bench.until_over(name)["phase"] == "Failed"
    assert "waiting" in bench.state(name)
    assert bench.log(name, "container=one") == []


def test_what_an_init_container_leaves_running_ends_with_it(bench: PodBench) -> None:
    name = bench.start(["true"], initContainers=[container("first", "sleep 987.6 & true")])

    assert bench.until_over(name)["phase"] == "Succeeded"

    assert "987.6" not in os.popen("ps -eo args").read()


def test_a_pod_is_pending_until_each_of_its_containers_has_begun(bench: PodBench) -> None:
    missing = "123456789012.dkr.ecr.us-west-2.amazonaws.com/no:1"
    name = bench.start(containers=[container("one", _FOREVER), {"name": "two", "image": missing}])

    def states() -> dict[str, Any]:
        found = bench.pod(name)["status"].get("containerStatuses", [])
        return {each["name"]: each["state"] for each in found}

    until(lambda: "running" in states().get("one", {}))

    assert "waiting" in states()["two"]
    assert bench.pod(name)["status"]["phase"] == "Pending"
    delete(bench, name)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {
                "restartPolicy": "Never",
                "restartPolicyRules": [
                    {"action": "Restart", "exitCodes": {"operator": "In", "values": [3]}}
                ],
            },
            "restartPolicyRules of containers",
        ),
        ({"lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}, "preStop of the lifecycle"),
    ],
    ids=["rules of restarts", "hooks"],
)
def test_what_is_not_known_keeps_the_container_waiting(
    bench: PodBench, asked: dict[str, Any], said: str
) -> None:
    name = bench.start(["true"], asked)

    assert f"the embedded AWS does not know {said}" in bench.until_waits(
        name, "CreateContainerConfigError"
    )
    delete(bench, name)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"hostPID": True}, "does not know hostPID of pods"),
        ({"hostIPC": True}, "does not know hostIPC of pods"),
        (
            {
                "shareProcessNamespace": True,
                "initContainers": [sidecar("beside", _FOREVER)],
            },
            "shares no process namespace between containers",
        ),
    ],
    ids=["hostPID", "hostIPC", "shareProcessNamespace"],
)
def test_namespaces_that_are_not_made_keep_the_pod_waiting(
    bench: PodBench, asked: dict[str, Any], said: str
) -> None:
    name = bench.start(["true"], **asked)

    until(lambda: said in str(bench.pod(name)["status"]))

    assert bench.pod(name)["status"]["phase"] == "Pending"
    delete(bench, name)


def test_a_container_has_a_restart_policy_of_its_own(bench: PodBench) -> None:
    name = bench.start(["sh", "-c", "exit 1"], {"restartPolicy": "Never"}, restartPolicy="Always")

    assert bench.until_over(name)["phase"] == "Failed"


def test_a_vendors_init_container_keeps_the_pods_of_a_set_waiting(bench: PodBench) -> None:
    """What the set's container runs would be known: ECR has no such image."""
    ecr = "123456789012.dkr.ecr.us-west-2.amazonaws.com/no:1"
    labels = {"of": f"set-{uuid4().hex[:8]}"}
    spec = {"containers": [{"name": "one", "image": ecr}], "initContainers": [container("a", ":")]}
    path = "/apis/apps/v1/namespaces/default/replicasets"
    template = {"metadata": {"labels": labels}, "spec": spec}
    replicas = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    bench.ask("POST", path, {"metadata": {"name": labels["of"]}, "spec": replicas})

    def state() -> str:
        query = f"labelSelector=of={labels['of']}"
        pods = bench.ask("GET", f"/api/v1/namespaces/default/pods?{query}")["items"]
        return str([each["status"].get("containerStatuses") for each in pods])

    until(lambda: "the embedded AWS does not run this image" in state())

    assert "PodInitializing" in state()
    bench.ask("DELETE", f"{path}/{labels['of']}")
