"""Pods that run on a node of the embedded EKS: one cluster for all of them."""

import os
import re
import ssl
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from eks_bench import until
from image_bench import Layer, push
from image_registry import serving_registry
from job_bench import job_aws
from pod_bench import PodBench
from skips import unless

from embedded_aws.eks.kubelet_port import KubeletPort
from embedded_aws.job_settings import JobSettings
from embedded_aws.kubernetes.certificates import Authority, new_authority

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def bench(built_kubernetes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodBench]:
    """One node, t3.medium, in an account with a registry."""
    unless("docker-registry", networks=True)
    folder = tmp_path_factory.mktemp("pods")
    with (
        serving_registry(folder) as registry,
        job_aws(folder, JobSettings(speed=3000), kubernetes=True, registry=registry) as aws,
    ):
        yield PodBench(aws)


@pytest.fixture(scope="module")
def image(bench: PodBench) -> str:
    """URI of an image with a shell, whose own command greets."""
    layer = Layer()
    for name in ("sh", "cat", "ls", "sleep", "grep"):
        layer.add_program(f"tools/{name}", name)
    config = {"Env": ["PATH=/tools"], "Entrypoint": ["sh", "-c"], "Cmd": ["echo greetings"]}
    return push(bench.aws, "tools", [layer], config)[0]


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


def test_a_pod_runs_and_its_status_says_how_it_ended(bench: PodBench) -> None:
    well, ill = bench.start(sh("echo well")), bench.start(sh("echo ill >&2; exit 3"))

    assert bench.until_over(well)["phase"] == "Succeeded"
    status = bench.until_over(ill)

    assert status["phase"] == "Failed"
    ended = bench.state(ill)["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (3, "Error")
    assert bench.state(well)["terminated"]["reason"] == "Completed"
    ready = {each["type"]: each["status"] for each in status["conditions"]}
    assert (ready["Ready"], ready["PodScheduled"]) == ("False", "True")
    assert bench.log(well) == ["well"]
    assert bench.log(ill) == ["ill"]
    assert "on this machine's own files, not in example.com/one:1" in bench.whole_log(well)[0]


def test_a_pod_has_an_address_of_its_own_from_its_nodes_subnet(bench: PodBench) -> None:
    def assigned() -> set[str]:
        [instance] = bench.nodes.instances()
        [interface] = instance["NetworkInterfaces"]
        return {each["PrivateIpAddress"] for each in interface["PrivateIpAddresses"]}

    name = bench.start(sh("cat /etc/hosts; hostname; sleep 60"))

    until(lambda: bench.log(name)[-1:] == [name])

    [instance] = bench.nodes.instances()
    status = bench.pod(name)["status"]
    assert status["hostIP"] == instance["PrivateIpAddress"]
    assert status["podIP"] in assigned() - {status["hostIP"]}
    assert f"{status['podIP']}\t{name}" in bench.log(name)
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")
    until(lambda: bench.try_to("GET", f"/api/v1/namespaces/default/pods/{name}")[0] == 404)
    # The VPC CNI gives it back once the pod is gone.
    until(lambda: status["podIP"] not in assigned())


def test_a_pod_has_the_aliases_of_hosts_that_it_asks_for(bench: PodBench) -> None:
    aliases = [{"ip": "10.1.2.3", "hostnames": ["first.example.com", "first"]}]
    name = bench.start(sh("getent hosts first.example.com"), hostAliases=aliases)

    bench.until_over(name)

    assert bench.log(name)[0].split() == ["10.1.2.3", "first.example.com", "first"]


def test_a_pod_is_ready_once_its_readiness_gates_are_open(bench: PodBench) -> None:
    gate = "example.com/gate"
    name = bench.start(sh("sleep 60"), readinessGates=[{"conditionType": gate}])

    def ready() -> dict[str, Any]:
        conditions = bench.pod(name)["status"].get("conditions", [])
        found = {each["type"]: each for each in conditions}
        return dict(found.get("Ready", {}))

    until(lambda: ready().get("reason") == "ReadinessGatesNotReady")
    assert ready()["message"] == (
        f'corresponding condition of pod readiness gate "{gate}" does not exist.'
    )

    def is_opened() -> bool:
        pod = bench.pod(name)
        pod["status"]["conditions"].append({"type": gate, "status": "True"})
        path = f"/api/v1/namespaces/default/pods/{name}/status"
        return bench.try_to("PUT", path, pod)[0] == 200

    until(is_opened)

    until(lambda: ready()["status"] == "True")
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def test_variables_come_from_fields_and_config_maps_and_name_one_another(bench: PodBench) -> None:
    config = f"config-{uuid4().hex[:8]}"
    bench.make(
        "configmaps", config, data={"key": "of the map", "WHOLE": "all"}, binaryData={"B": "eA=="}
    )
    reference = {"configMapKeyRef": {"name": config, "key": "key"}}
    field = {"fieldRef": {"fieldPath": "metadata.annotations['example.com/index']"}}
    environment = [
        {"name": "FIRST", "value": "a"},
        {"name": "SECOND", "value": "$(FIRST)-$$(FIRST)-$(LATER)"},
        {"name": "LATER", "value": "b"},
        {"name": "INDEX", "valueFrom": field},
        {"name": "ADDRESS", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "KEY", "valueFrom": reference},
    ]
    name = bench.start(
        sh("echo $(FIRST) $SECOND $INDEX $ADDRESS $KEY $WHOLE; env"),
        {"env": environment, "envFrom": [{"configMapRef": {"name": config}}]},
        metadata={"annotations": {"example.com/index": "7"}},
        enableServiceLinks=False,
    )

    bench.until_over(name)

    said, *variables = bench.log(name)
    address = bench.pod(name)["status"]["podIP"]
    assert said == f"a a-$(FIRST)-$(LATER) 7 {address} of the map all"
    assert [each for each in variables if each.startswith("KUBERNETES_SERVICE_HOST=")]
    assert not [each for each in variables if each.startswith(("AWS_CONTAINER", "B="))]


@pytest.mark.parametrize(
    ("container", "reason", "said"),
    [
        pytest.param(
            {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "no", "key": "k"}}}]},
            "CreateContainerConfigError",
            'configmap "no" not found',
            id="a ConfigMap that is not there",
        ),
        pytest.param(
            {"image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/no:1"},
            "ImagePullBackOff",
            "ErrImagePull: failed to pull and unpack image",
            id="an image that is not there",
        ),
        pytest.param(
            {"command": []}, "CreateContainerError", "does not know the command", id="no command"
        ),
    ],
)
def test_a_container_that_cannot_start_waits_and_says_why(
    bench: PodBench, container: dict[str, Any], reason: str, said: str
) -> None:
    name = bench.start(["true"], container)

    assert said in bench.until_waits(name, reason)
    assert bench.pod(name)["status"]["phase"] == "Pending"
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def test_a_volume_of_a_kind_that_is_not_known_keeps_the_pod_waiting(bench: PodBench) -> None:
    nfs = {"name": "data", "nfs": {"server": "example.com", "path": "/"}}
    name = bench.start(["true"], volumes=[nfs])

    until(lambda: "volume type nfs" in str(bench.state(name)))
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def test_an_image_runs_its_own_command_in_its_own_files(bench: PodBench, image: str) -> None:
    name = bench.start(container={"image": image})
    other = bench.start(container={"image": image, "args": ["ls /"]})

    bench.until_over(name)
    bench.until_over(other)

    assert bench.log(name) == ["greetings"]
    assert "in the file system of image" in bench.whole_log(name)[0]
    assert {"tools", "dev", "proc"} <= set(bench.log(other))
    assert "root" not in bench.log(other)


def test_the_containers_of_a_pod_share_its_volumes(bench: PodBench, image: str) -> None:
    config = f"config-{uuid4().hex[:8]}"
    bench.make("configmaps", config, data={"greeting": "hello"})
    shared, memory = {"name": "shared", "mountPath": "/s"}, {"name": "m", "mountPath": "/dev/shm"}
    token = {"serviceAccountToken": {"path": "token", "audience": "example.com"}}
    volumes = [
        {"name": "shared", "emptyDir": {}},
        {"name": "m", "emptyDir": {"medium": "Memory", "sizeLimit": "8Mi"}},
        {"name": "config", "configMap": {"name": config}},
        {"name": "token", "projected": {"sources": [token]}},
    ]
    writes = {
        "name": "writes",
        "image": image,
        "args": ["cat /config/greeting /token/token > /s/new; while :; do sleep 1; done"],
        "volumeMounts": [
            shared,
            {"name": "config", "mountPath": "/config"},
            {"name": "token", "mountPath": "/token", "readOnly": True},
        ],
    }
    script = (
        "while ! grep -q hello /s/new; do sleep 0.1; done; cat /s/new; echo; grep shm /proc/mounts"
    )
    reads = {"name": "reads", "image": image, "args": [script], "volumeMounts": [shared, memory]}
    name = bench.start(containers=[writes, reads], volumes=volumes)

    until(lambda: "shm" in str(bench.log(name, "container=reads")))

    said, mount = bench.log(name, "container=reads")
    assert said.startswith("helloey")
    assert "size=8192k" in mount
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def test_an_init_container_leaves_files_and_nothing_else_to_the_container(
    bench: PodBench, image: str
) -> None:
    mount = {"volumeMounts": [{"name": "shared", "mountPath": "/s"}]}
    first = {"name": "first", "image": image, "args": ["echo left > /s/file; echo x > /own"]}
    name = bench.start(
        container={"image": image, "args": ["cat /s/file; ls /"], **mount},
        initContainers=[{**first, **mount}],
        volumes=[{"name": "shared", "emptyDir": {}}],
    )

    assert bench.until_over(name)["phase"] == "Succeeded"

    said = bench.log(name)
    assert said[0] == "left"
    assert "own" not in said


def test_files_of_a_config_map_have_their_mode_and_cannot_be_written(
    bench: PodBench, image: str
) -> None:
    config = f"config-{uuid4().hex[:8]}"
    bench.make("configmaps", config, data={"a": "of text"}, binaryData={"b": "/w=="})
    items = [{"key": "a", "path": "folder/a", "mode": 0o500}, {"key": "b", "path": "b"}]
    script = (
        "ls -l /c /c/folder; cat /c/b; echo x >/c/b || echo refused; echo y >/e/sub/y; cat /e/sub/y"
    )
    name = bench.start(
        container={
            "image": image,
            "args": [script],
            "volumeMounts": [
                {"name": "config", "mountPath": "/c"},
                {"name": "empty", "mountPath": "/e/sub", "subPath": "made/now"},
            ],
        },
        volumes=[
            {"name": "config", "configMap": {"name": config, "defaultMode": 0o440, "items": items}},
            {"name": "empty", "emptyDir": {}},
        ],
    )

    bench.until_over(name)

    said = "\n".join(bench.log(name))
    assert "-r-x------" in said
    assert "-r--r-----" in said
    assert said.endswith("refused\ny")


def test_an_image_that_would_run_as_root_is_refused_where_a_pod_forbids_it(
    bench: PodBench, image: str
) -> None:
    forbids = {"runAsNonRoot": True}
    refused = bench.start(container={"image": image}, securityContext=forbids)
    runs = bench.start(
        container={"image": image, "securityContext": {"runAsUser": 1000}}, securityContext=forbids
    )

    said = bench.until_waits(refused, "CreateContainerConfigError")

    assert "container has runAsNonRoot and image will run as root" in said
    assert bench.until_over(runs)["phase"] == "Succeeded"
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{refused}")


def test_a_pod_that_gets_no_token_holds_up_no_other(bench: PodBench) -> None:
    account = f"account-{uuid4().hex[:8]}"
    bench.make("serviceaccounts", account)
    sources = [{"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}]
    # It is scheduled by hand once its account is gone.
    held = bench.start(
        ["true"],
        serviceAccountName=account,
        schedulingGates=[{"name": "example.com/held"}],
        volumes=[{"name": "token", "projected": {"sources": sources}}],
    )
    bench.ask("DELETE", f"/api/v1/namespaces/default/serviceaccounts/{account}")
    path = f"/api/v1/namespaces/default/pods/{held}"
    pod = bench.ask("GET", path)
    pod["spec"]["schedulingGates"] = []
    bench.ask("PUT", path, pod)

    until(lambda: account in str(bench.state(held).get("waiting")))

    assert bench.until_over(bench.start(["true"]))["phase"] == "Succeeded"
    bench.ask("DELETE", path)


def test_a_program_that_is_not_there_ends_the_pod(bench: PodBench) -> None:
    name = bench.start(["no-such-program"])

    assert bench.until_over(name)["phase"] == "Failed"
    ended = bench.state(name)["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("StartError", 128)
    assert 'exec: "no-such-program": executable file not found in $PATH' in ended["message"]


def test_a_container_that_fails_again_and_again_backs_off(bench: PodBench) -> None:
    name = bench.start(sh("echo run; exit 1"), restartPolicy="OnFailure")

    # The first restart comes at once.
    until(lambda: "terminated" in bench.state(name))
    assert "back-off 10s restarting failed" in bench.until_waits(name, "CrashLoopBackOff")
    until(lambda: bench.container(name).get("restartCount", 0) >= 2)

    status = bench.pod(name)["status"]
    [container] = status["containerStatuses"]
    assert status["phase"] == "Running"
    assert container["lastState"]["terminated"]["exitCode"] == 1
    assert bench.log(name, "previous=true") == ["run"]
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def test_a_pod_that_is_deleted_gets_sigterm_and_time(bench: PodBench) -> None:
    # The log goes with the pod, so that a finalizer keeps it.
    script = "trap 'echo asked; exit 5' TERM; echo ready; while true; do sleep 0.1; done"
    name = bench.start(sh(script), metadata={"finalizers": ["example.com/kept"]})
    until(lambda: bench.log(name) == ["ready"])

    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")

    status = bench.until_over(name)
    assert status["phase"] == "Failed"
    assert bench.state(name)["terminated"]["exitCode"] == 5
    assert bench.log(name) == ["ready", "asked"]


def test_a_pod_that_is_active_too_long_fails(bench: PodBench) -> None:
    name = bench.start(
        sh("trap 'exit 0' TERM; while true; do sleep 0.1; done"),
        restartPolicy="Always",
        activeDeadlineSeconds=1,
        terminationGracePeriodSeconds=30000,
    )

    status = bench.until_over(name)

    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert bench.state(name)["terminated"]["exitCode"] == 0
    assert "DeadlineExceeded" in bench.events(name)


def test_a_pod_that_does_not_hear_is_killed(bench: PodBench) -> None:
    script = "trap '' TERM; echo ready; while true; do sleep 0.1; done"
    name = bench.start(sh(script), metadata={"finalizers": ["example.com/kept"]})
    until(lambda: bench.log(name) == ["ready"])

    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")

    bench.until_over(name)
    assert bench.state(name)["terminated"]["exitCode"] == 137


def test_logs_are_followed_cut_and_have_times(bench: PodBench) -> None:
    name = bench.start(sh("for i in 1 2 3; do echo line $i; done; sleep 0.5; echo last"))
    bench.until_begun(name)

    followed = bench.log(name, "follow=true")

    assert followed == ["line 1", "line 2", "line 3", "last"]
    assert bench.log(name, "tailLines=1") == ["last"]
    [stamped] = bench.log(name, "tailLines=1&timestamps=true")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z last", stamped)
    assert bench.log(name, "sinceTime=2100-01-01T00:00:00Z") == []
    assert len("".join(bench.whole_log(name, "limitBytes=5"))) == 5


def test_pods_of_a_headless_service_find_one_another_by_name(bench: PodBench) -> None:
    service = f"s{uuid4().hex[:8]}"
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"of": service}}
    bench.make("services", service, spec=spec)
    fqdn = f"first.{service}.default.svc.cluster.local"
    first = bench.start(
        sh("python3 -c 'import socket; print(socket.getfqdn())'; sleep 60"),
        metadata={"labels": {"of": service}},
        hostname="first",
        subdomain=service,
    )
    # It has no address at all.
    outside = {"type": "ExternalName", "externalName": "example.com"}
    bench.make("services", f"{service}-outside", spec=outside)
    looks = f"for each in {fqdn} first.{service}.default first.{service} {service}; do"
    second = bench.start(
        sh(
            f"{looks} until getent hosts $each; do sleep 0.1; done; done; "
            f"getent hosts other.{service} || echo nobody"
        )
    )

    bench.until_over(second)

    address = bench.pod(first)["status"]["podIP"]
    assert [line.split()[0] for line in bench.log(second)] == [address] * 4 + ["nobody"]
    assert bench.log(first) == [fqdn]
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{first}")


def test_a_service_leads_the_api_server_to_what_listens_in_a_pod(bench: PodBench) -> None:
    service = f"s{uuid4().hex[:8]}"
    ports = [{"name": "web", "port": 80, "targetPort": 8000}]
    bench.make("services", service, spec={"selector": {"of": service}, "ports": ports})
    script = """
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'"from the pod"')
http.server.HTTPServer(("", 8000), Answer).serve_forever()
"""
    name = bench.start(["python3", "-c", script], metadata={"labels": {"of": service}})
    path = f"/api/v1/namespaces/default/services/{service}:web/proxy/"

    until(lambda: bench.try_to("GET", path) == (200, "from the pod"))

    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def test_a_pod_asks_the_api_server_by_the_address_of_its_service(bench: PodBench) -> None:
    account = f"account-{uuid4().hex[:8]}"
    bench.make("serviceaccounts", account)
    path = f"/api/v1/namespaces/default/serviceaccounts/{account}/token"
    token = bench.ask("POST", path, {"spec": {}})["status"]["token"]
    authority = b64decode(bench.nodes.cluster["certificateAuthority"]["data"]).decode()
    script = """
import json, os, ssl, urllib.request
host, port = (os.environ[f"KUBERNETES_SERVICE_{name}"] for name in ("HOST", "PORT"))
context = ssl.create_default_context(cadata=os.environ["AUTHORITY"])
review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
request = urllib.request.Request(
    f"https://{host}:{port}/apis/authentication.k8s.io/v1/selfsubjectreviews",
    json.dumps(review).encode(),
    {"Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": "application/json"},
)
with urllib.request.urlopen(request, context=context) as answer:
    print(host, json.load(answer)["status"]["userInfo"]["username"])
"""
    given = {"TOKEN": token, "AUTHORITY": authority}
    environment = [{"name": name, "value": value} for name, value in given.items()]
    name = bench.start(["python3", "-c", script], {"env": environment})

    bench.until_over(name)

    service = bench.ask("GET", "/api/v1/namespaces/default/services/kubernetes")
    address = service["spec"]["clusterIP"]
    assert bench.log(name) == [f"{address} system:serviceaccount:default:{account}"]


def test_a_pod_is_ready_when_its_probe_says_so(bench: PodBench) -> None:
    web = ["python3", "-m", "http.server", "8000"]
    ports = [{"name": "web", "containerPort": 8000}]
    probes: dict[str, dict[str, Any]] = {
        "well": {"httpGet": {"path": "/", "port": "web"}},
        "ill": {"httpGet": {"path": "/missing", "port": 8000}},
        "open": {"tcpSocket": {"port": 8000}},
        "closed": {"tcpSocket": {"port": 8001}},
        "unknown": {"tcpSocket": {"port": "nowhere"}},
    }
    without = ("ill", "closed", "unknown")
    pods = {
        name: bench.start(web, {"ports": ports, "readinessProbe": {"periodSeconds": 1, **probe}})
        for name, probe in probes.items()
    }

    until(lambda: all(bench.container(pods[name]).get("ready") for name in ("well", "open")))
    until(lambda: all("running" in bench.state(pods[name]) for name in without))

    for name in without:
        assert not bench.container(pods[name])["ready"]
        conditions = {each["type"]: each for each in bench.pod(pods[name])["status"]["conditions"]}
        assert conditions["Ready"]["reason"] == "ContainersNotReady"
    for pod in pods.values():
        bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{pod}")


def test_the_command_of_a_probe_runs_in_the_files_of_its_container_as_its_user(
    bench: PodBench, image: str
) -> None:
    # `$$` stands for `$`, as in all commands of containers.
    script = "cat /dev/shm/own && test $$$$ != 1 && echo made > /dev/shm/made"
    own = "echo own > /dev/shm/own; until cat /dev/shm/made; do sleep 0.1; done; ls -l /dev/shm"
    name = bench.start(
        container={
            "image": image,
            "args": [own],
            "securityContext": {"runAsUser": 1234},
            "livenessProbe": {"exec": {"command": ["sh", "-c", script]}, "periodSeconds": 1},
        },
    )

    assert bench.until_over(name)["phase"] == "Succeeded"

    [made] = [line for line in bench.log(name) if line.endswith(" made")]
    assert "1234" in made


def test_the_files_of_a_secret_follow_it(bench: PodBench, image: str) -> None:
    """The managers of JobSet and Kueue fill theirs, and wait for the files."""
    secret = f"secret-{uuid4().hex[:8]}"
    bench.make("secrets", secret, stringData={"old": "x"})
    script = "until grep -qs filled /s/new; do sleep 0.1; done; ls /s"
    name = bench.start(
        container={
            "image": image,
            "args": [script],
            "volumeMounts": [{"name": "s", "mountPath": "/s"}],
        },
        volumes=[{"name": "s", "secret": {"secretName": secret}}],
    )
    until(lambda: "running" in bench.state(name))

    body = {"metadata": {"name": secret}, "stringData": {"new": "filled"}}
    bench.ask("PUT", f"/api/v1/namespaces/default/secrets/{secret}", body)

    bench.until_over(name)
    assert bench.log(name) == ["new"]


@pytest.mark.parametrize("tag", ["v0.1.0", "latest"])
def test_an_image_of_a_manager_has_the_tag_of_its_release_alone(bench: PodBench, tag: str) -> None:
    image = f"registry.k8s.io/jobset/jobset:{tag}"
    name = bench.start(container={"image": image})

    assert f"{image}: not found" in bench.until_waits(name, "ImagePullBackOff")
    bench.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def test_a_pod_has_the_role_of_its_service_account_with_the_agent_alone(bench: PodBench) -> None:
    account = f"account-{uuid4().hex[:8]}"
    bench.make("serviceaccounts", account)
    role = bench.nodes.bench.role("pods.eks.amazonaws.com")
    bench.nodes.eks.create_pod_identity_association(
        clusterName=bench.cluster, namespace="default", serviceAccount=account, roleArn=role
    )
    script = """
import json, os, urllib.request
uri = os.environ.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
if uri is None:
    print("none")
else:
    token = {"Authorization": os.environ["AWS_CONTAINER_AUTHORIZATION_TOKEN"]}
    with urllib.request.urlopen(urllib.request.Request(uri, headers=token)) as answer:
        print(json.load(answer)["RoleArn"], os.environ["AWS_REGION"])
"""

    def said(account: str) -> list[str]:
        name = bench.start(["python3", "-c", script], serviceAccountName=account)
        bench.until_over(name)
        return bench.log(name)

    without_agent = said(account)
    agent = {"clusterName": bench.cluster, "addonName": "eks-pod-identity-agent"}
    bench.nodes.eks.create_addon(**agent)
    until(lambda: bench.nodes.eks.describe_addon(**agent)["addon"]["status"] == "ACTIVE")

    assert without_agent == ["none"]
    assert said(account) == [f"{role} us-west-2"]
    assert said("default") == ["none"]


def test_nobody_but_the_api_server_reads_logs_at_a_kubelet(tmp_path: Path) -> None:
    authority = Authority(tmp_path, pair := new_authority())
    port = KubeletPort(pair, tmp_path, lambda *_: None)
    context = ssl.create_default_context(cafile=str(authority.file))
    context.load_cert_chain(*authority.client("stranger", "stranger", "system:masters"))

    with context.wrap_socket(port.connect("10.0.0.1"), server_hostname="10.0.0.1") as asking:
        asking.sendall(b"GET /containerLogs/default/pod/one HTTP/1.1\r\nHost: it\r\n\r\n")
        answer = asking.recv(4096)

    assert answer.startswith(b"HTTP/1.1 403")
    without = ssl.create_default_context(cafile=str(authority.file))
    with (
        pytest.raises(OSError),
        without.wrap_socket(port.connect("10.0.0.1"), server_hostname="10.0.0.1") as asking,
    ):
        asking.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert asking.recv(4096) == b""
        raise OSError("closed without an answer")


def test_a_kubelet_serves_logs_alone(bench: PodBench) -> None:
    [node] = bench.ask("GET", "/api/v1/nodes")["items"]

    path = f"/api/v1/nodes/{node['metadata']['name']}/proxy/pods"

    assert node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] == 10250
    assert bench.text(path) == (404, "404 page not found\n")


def test_processes_of_a_pod_die_with_their_node(bench: PodBench) -> None:
    """Last: it takes the node."""
    name = bench.start(sh("sleep 1234.5 & wait"))
    bench.until_begun(name)

    [instance] = bench.nodes.instances()
    bench.nodes.ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])

    until(lambda: "1234.5" not in os.popen("ps -eo args").read())
