"""Pods on a node of the embedded EKS."""

import base64
import json
import ssl
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import uuid4

from eks_bench import EksBench, until
from kube_bench import asked, own_credentials, token
from node_bench import NodeBench

from embedded_aws.embedded import EmbeddedAws


class PodBench:
    """A cluster with nodes, for the pods of the tests of a module.

    Args:
        aws: where.
        count: of nodes.
    """

    def __init__(self, aws: EmbeddedAws, count: int = 1) -> None:
        self.aws = aws
        self.nodes = NodeBench(EksBench(aws))
        size = {"minSize": 1, "maxSize": count, "desiredSize": count}
        self.nodes.create(scalingConfig=size)
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        until(lambda: self.ask("GET", accounts)["items"] != [])

    @property
    def cluster(self) -> str:
        """Its name."""
        return str(self.nodes.bench.name)

    def try_to(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Return the status and the answer of the API server."""
        bearer = token(self.aws, self.cluster, own_credentials(self.aws))
        return asked(self.nodes.cluster, bearer, method, path, body)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer of the API server, which must not refuse."""
        status, found = self.try_to(method, path, body)
        assert status < 300, found
        return found

    def make(self, kind: str, name: str, **fields: Any) -> Any:
        """Make an object of the core API in the namespace `default`."""
        body = {"metadata": {"name": name}, **fields}
        return self.ask("POST", f"/api/v1/namespaces/default/{kind}", body)

    def start(
        self, words: Sequence[str] = (), container: Any = None, metadata: Any = None, **spec: Any
    ) -> str:
        """Create a pod that runs once, and return its name."""
        name = f"pod-{uuid4().hex[:8]}"
        own = {"name": "one", "image": "example.com/one:1", "command": list(words)}
        body = {
            "metadata": {"name": name, **(metadata or {})},
            "spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": False,
                "containers": [{**own, **(container or {})}],
                **spec,
            },
        }
        self.ask("POST", "/api/v1/namespaces/default/pods", body)
        return name

    def pod(self, name: str) -> Any:
        return self.ask("GET", f"/api/v1/namespaces/default/pods/{name}")

    def state(self, name: str) -> Any:
        """Return the state of its container."""
        return self.container(name).get("state", {})

    def container(self, name: str) -> Any:
        """Return the status of its container; empty before its kubelet has seen it."""
        [found] = self.pod(name)["status"].get("containerStatuses", [{}])
        return found

    def events(self, name: str) -> dict[str, list[Any]]:
        """Return the events of a pod, by their reason."""
        query = f"fieldSelector=involvedObject.name={name}"
        found = self.ask("GET", f"/api/v1/namespaces/default/events?{query}")["items"]
        return {
            reason: [each for each in found if each["reason"] == reason]
            for reason in {each["reason"] for each in found}
        }

    def until_begun(self, name: str) -> None:
        """Wait until the container of a pod has a log."""
        until(lambda: bool(self.state(name).keys() & {"running", "terminated"}))

    def until_over(self, name: str) -> Any:
        """Return the status of a pod, once it has succeeded or failed."""
        until(lambda: self.pod(name)["status"]["phase"] in ("Succeeded", "Failed"))
        return self.pod(name)["status"]

    def until_waits(self, name: str, reason: str) -> str:
        """Return what a container says that waits for some reason."""
        until(lambda: self.state(name).get("waiting", {}).get("reason") == reason)
        return str(self.state(name)["waiting"].get("message", ""))

    def log(self, name: str, query: str = "") -> list[str]:
        """Return what a pod has printed, without the line of the embedded AWS.

        Args:
            name: of the pod.
            query: of the request.
        """
        return [line for line in self.whole_log(name, query) if "embedded AWS: " not in line]

    def whole_log(self, name: str, query: str = "") -> list[str]:
        """Return the lines of a pod's log; none before it has one."""
        path = f"/api/v1/namespaces/default/pods/{name}/log?{query}"
        status, said = self.text(path)
        # The API server's answers before the pod has a node, and before its container runs.
        before = (HTTPStatus.NO_CONTENT, HTTPStatus.BAD_REQUEST)
        assert status in (HTTPStatus.OK, *before), f"{status}: {said!r}"
        return said.splitlines() if status == HTTPStatus.OK else []

    def shown(self, name: str) -> tuple[str, str]:
        """Return what `kubectl get pod` shows of a pod: READY and STATUS."""
        table = "application/json;as=Table;v=v1;g=meta.k8s.io"
        status, said = self.text(f"/api/v1/namespaces/default/pods/{name}", table)
        assert status == HTTPStatus.OK, said
        found = json.loads(said)
        names = [each["name"] for each in found["columnDefinitions"]]
        cells = dict(zip(names, found["rows"][0]["cells"], strict=True))
        return cells["Ready"], cells["Status"]

    def text(self, path: str, accept: str = "*/*") -> tuple[int, str]:
        """Return the status and the answer of the API server, which may be no JSON."""
        authority = base64.b64decode(self.nodes.cluster["certificateAuthority"]["data"]).decode()
        bearer = token(self.aws, self.cluster, own_credentials(self.aws))
        request = Request(
            f"{self.nodes.cluster['endpoint']}{path}",
            headers={"Authorization": f"Bearer {bearer}", "Accept": accept},
        )
        context = ssl.create_default_context(cadata=authority)
        try:
            with urlopen(request, context=context) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.read().decode()
