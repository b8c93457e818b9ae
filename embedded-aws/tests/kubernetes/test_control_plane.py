"""A real control plane: it verifies, places whole-node pods, and ends with who needs it."""

import json
import os
import signal
import ssl
import subprocess
import sys
from http.client import HTTPSConnection
from pathlib import Path

import psutil
import pytest
from cluster_bench import (
    JOBSETS,
    KUEUE,
    add_nodes,
    add_queue,
    eventually,
    jobset,
    namespace,
    not_placed,
    placed,
)

from embedded_aws.errors import EmbeddedAwsError, ServerError
from embedded_aws.kubernetes.client import ApiRefusal
from embedded_aws.kubernetes.control_plane import ControlPlane, start
from embedded_aws.kubernetes.modules import DEFAULT_KUBERNETES, patch_of
from embedded_aws.kubernetes.settings import ControlPlaneSettings

pytestmark = pytest.mark.server

# Starts a control plane and is killed, as a test run may be.
KILLED = """
import os, signal, sys
from embedded_aws.kubernetes.control_plane import start
from embedded_aws.kubernetes.settings import ControlPlaneSettings
found = start(ControlPlaneSettings(folder=sys.argv[1]))
print(found.process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_says_its_true_version(control_plane: ControlPlane) -> None:
    said = control_plane.administrator.call("GET", "/version")

    assert said["gitVersion"] == f"v{patch_of(DEFAULT_KUBERNETES)}"
    assert f"{said['major']}.{said['minor']}" == DEFAULT_KUBERNETES


def test_its_certificate_is_verified_by_its_own_authority_alone(
    control_plane: ControlPlane,
) -> None:
    own = ssl.create_default_context(cafile=str(control_plane.authority))
    connection = HTTPSConnection("localhost", control_plane.port, context=own)
    connection.request("GET", "/version")
    assert connection.getresponse().status == 200
    connection.close()

    stranger = HTTPSConnection(
        "localhost", control_plane.port, context=ssl.create_default_context()
    )
    with pytest.raises(ssl.SSLCertVerificationError):
        stranger.request("GET", "/version")


def test_nobody_comes_in_without_a_certificate(control_plane: ControlPlane) -> None:
    own = ssl.create_default_context(cafile=str(control_plane.authority))
    connection = HTTPSConnection("localhost", control_plane.port, context=own)
    connection.request("GET", "/api/v1/nodes")

    assert connection.getresponse().status == 403
    connection.close()


def test_other_api_servers_learn_by_which_authority_it_says_who_asks(
    control_plane: ControlPlane,
) -> None:
    name = "extension-apiserver-authentication"

    found = control_plane.administrator.call(
        "GET", f"/api/v1/namespaces/kube-system/configmaps/{name}"
    )["data"]

    assert json.loads(found["requestheader-allowed-names"]) == ["front-proxy-client"]
    proxies = found["requestheader-client-ca-file"]
    assert "BEGIN CERTIFICATE" in proxies
    # A client with a certificate of the same authority could say that it is anybody.
    assert proxies != found["client-ca-file"]


def test_whole_node_pods_are_placed_one_a_node_and_the_next_is_explained(
    control_plane: ControlPlane,
) -> None:
    space = namespace(control_plane, "whole")
    add_nodes(control_plane, "whole", 4)
    call = control_plane.administrator.call

    call("POST", JOBSETS.format(space), jobset("first", "whole", 4))
    eventually(lambda: len(placed(control_plane, space)) == 4)
    call("POST", JOBSETS.format(space), jobset("second", "whole", 1))
    said = eventually(lambda: not_placed(control_plane, space, "second"))

    assert placed(control_plane, space) == [f"whole-{index}" for index in range(4)]
    assert "4 Insufficient habana.ai/gaudi" in said[-1]
    assert "4 Insufficient vpc.amazonaws.com/efa" in said[-1]


def test_devices_are_asked_for_as_they_are_limited(control_plane: ControlPlane) -> None:
    space = namespace(control_plane, "pages")
    resources = {
        "requests": {"hugepages-2Mi": "1Gi", "vpc.amazonaws.com/efa": "1", "memory": "1Gi"},
        "limits": {"hugepages-2Mi": "2Gi", "vpc.amazonaws.com/efa": "2", "memory": "1Gi"},
    }
    container = {"name": "train", "image": "train", "resources": resources}
    pod = {"metadata": {"name": "pod"}, "spec": {"containers": [container]}}

    with pytest.raises(ApiRefusal, match=r"must be equal to .*efa limit") as refused:
        control_plane.administrator.call("POST", f"/api/v1/namespaces/{space}/pods", pod)

    assert "must be equal to hugepages-2Mi limit" in str(refused.value)
    assert refused.value.code == 422


def test_a_jobset_that_is_wrong_is_refused_by_its_own_rules(control_plane: ControlPlane) -> None:
    space = namespace(control_plane, "wrong")
    wrong = json.loads(json.dumps(jobset("wrong", "whole", 1)))
    wrong["spec"]["failurePolicy"] = {"maxRestarts": "three"}

    with pytest.raises(ApiRefusal, match="maxRestarts"):
        control_plane.administrator.call("POST", JOBSETS.format(space), wrong)


def test_a_jobset_of_a_queue_begins_when_there_is_quota_for_all_its_pods(
    control_plane: ControlPlane,
) -> None:
    space = namespace(control_plane, "queued")
    add_nodes(control_plane, "queued", 3)
    add_queue(control_plane, space, gaudis=16)
    call, jobsets = control_plane.administrator.call, JOBSETS.format(space)

    call("POST", jobsets, jobset("first", "queued", 2, queue="jobs"))
    eventually(lambda: len(placed(control_plane, space)) == 2)
    second = call("POST", jobsets, jobset("second", "queued", 2, queue="jobs"))

    assert second["spec"]["suspend"] is True
    said = eventually(lambda: waits(control_plane, space, second["metadata"]["uid"]))
    assert "insufficient unused quota for habana.ai/gaudi" in said
    assert len(placed(control_plane, space)) == 2

    call("DELETE", f"{jobsets}/first?propagationPolicy=Background")
    for each in call("GET", f"/api/v1/namespaces/{space}/pods")["items"]:
        path = f"/api/v1/namespaces/{space}/pods/{each['metadata']['name']}"
        call("DELETE", f"{path}?gracePeriodSeconds=0")

    eventually(lambda: call("GET", f"{jobsets}/second")["spec"]["suspend"] is False)


def waits(control_plane: ControlPlane, space: str, uid: str) -> str:
    """Return what Kueue says of a JobSet that waits."""
    path = f"{KUEUE}/namespaces/{space}/workloads?labelSelector=kueue.x-k8s.io/job-uid%3D{uid}"
    return "; ".join(
        condition["message"]
        for workload in control_plane.administrator.call("GET", path)["items"]
        for condition in workload.get("status", {}).get("conditions", [])
        if (condition["type"], condition["status"]) == ("QuotaReserved", "False")
    )


def test_kueue_converts_its_objects_and_refuses_wrong_ones(control_plane: ControlPlane) -> None:
    call = control_plane.administrator.call
    space = namespace(control_plane, "converted")
    add_queue(control_plane, space, gaudis=8)

    old = call("GET", f"{KUEUE.replace('v1beta2', 'v1beta1')}/clusterqueues/{space}")
    assert old["apiVersion"] == "kueue.x-k8s.io/v1beta1"

    group = {"coveredResources": ["cpu"], "flavors": [{"name": "any", "resources": []}]}
    wrong = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "wrong"},
        "spec": {"cohortName": "same", "resourceGroups": [group, group]},
    }
    with pytest.raises(ApiRefusal, match="coveredResources") as refused:
        call("POST", f"{KUEUE}/clusterqueues", wrong)
    assert refused.value.code in (403, 422)


def test_an_update_keeps_the_endpoint_keys_and_objects(folder: Path) -> None:
    found = start(ControlPlaneSettings(folder=str(folder)))
    call = found.administrator.call
    try:
        namespace(found, "kept")
        eventually(lambda: call("GET", "/api/v1/namespaces/kept/serviceaccounts")["items"])
        account = "/api/v1/namespaces/kept/serviceaccounts/default/token"
        spec = {"spec": {"expirationSeconds": 3600}}
        token = call("POST", account, spec)["status"]["token"]
        before, log = running(found), folder / "kube-apiserver.log"
        said = log.read_text()

        found.update(DEFAULT_KUBERNETES)

        review = {"spec": {"token": token}}
        judged = call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)["status"]
        assert judged["user"]["username"] == "system:serviceaccount:kept:default"
        after = running(found)
        assert before["etcd"] == after["etcd"]
        assert log.read_text().startswith(said)
        kubernetes = {"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
        assert {name for name in before if before[name] != after[name]} == kubernetes
        namespace(found, "new")
        eventually(lambda: call("GET", "/api/v1/namespaces/new/serviceaccounts")["items"])
    finally:
        found.stop()


def running(control_plane: ControlPlane) -> dict[str, int]:
    """Return the process of each program."""
    supervisor = psutil.Process(control_plane.process.pid)
    return {each.name(): each.pid for each in supervisor.children(recursive=True)}


def test_an_update_that_fails_is_told_and_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = start(ControlPlaneSettings(folder=str(folder)))
    with pytest.raises(EmbeddedAwsError, match=r"1\.20 is not built here"):
        found.update("1.20")
    found.administrator.call("GET", "/version")
    started = psutil.Process(found.process.pid).children(recursive=True)

    # The API server reads it when it starts.
    (folder / "ca.crt").write_text("no certificate")
    with pytest.raises(ServerError, match=r"kube-apiserver ended with 1"):
        found.update(DEFAULT_KUBERNETES)

    assert not [each for each in started if each.is_running()]


def test_two_at_once_know_nothing_of_each_other(control_plane: ControlPlane, folder: Path) -> None:
    # A port of Kueue is fixed unless it is told otherwise.
    other = start(ControlPlaneSettings(folder=str(folder), kueue=True))
    try:
        namespace(other, "mine")

        with pytest.raises(ApiRefusal, match="not found"):
            control_plane.administrator.call("GET", "/api/v1/namespaces/mine")
    finally:
        started = psutil.Process(other.process.pid).children(recursive=True)
        other.stop()

    assert len(started) == 5
    assert not [each for each in started if each.is_running()]


def test_it_ends_with_a_process_that_is_killed(folder: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, text=True
    )
    supervisor = int(killed.stdout)

    assert killed.returncode == -signal.SIGKILL
    eventually(lambda: not psutil.pid_exists(supervisor))
    assert not [each for each in psutil.process_iter(["cmdline"]) if str(folder) in str(each.info)]


def test_one_that_nobody_waits_for_is_not_started_to_its_end(folder: Path) -> None:
    settings = ControlPlaneSettings(folder=str(folder)).to_json()

    done = subprocess.run(
        [sys.executable, "-m", "embedded_aws.kubernetes.supervisor"],
        input=f"{settings}\n",
        stdout=subprocess.PIPE,
        text=True,
    )

    assert (done.returncode, done.stdout) == (0, "")
    assert not [each for each in psutil.process_iter(["cmdline"]) if str(folder) in str(each.info)]


def test_programs_end_with_a_supervisor_that_is_killed(folder: Path) -> None:
    found = start(ControlPlaneSettings(folder=str(folder)))
    started = psutil.Process(found.process.pid).children(recursive=True)

    os.kill(found.process.pid, signal.SIGKILL)
    found.stop()

    eventually(lambda: not [each for each in started if each.is_running()])


def test_what_fails_is_told_with_the_end_of_its_log(folder: Path) -> None:
    wrong = ControlPlaneSettings(folder=str(folder), service_cidr="10.0.0.0/30")

    with pytest.raises(ServerError) as failed:
        start(wrong)

    assert "kube-apiserver ended with 1" in str(failed.value)
    assert "range must be at least 8 IP addresses" in str(failed.value)
    assert not [each for each in psutil.process_iter(["cmdline"]) if str(folder) in str(each.info)]


def test_a_version_that_is_not_built_here_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedAwsError, match=r"1\.20 is not built here \(known: 1\.34, 1\.35"):
        start(ControlPlaneSettings(folder=str(tmp_path), kubernetes="1.20"))
