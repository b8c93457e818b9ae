"""The heartbeats of nodes whose kubelets are the test."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from threading import Event, Thread

from embedded_aws.kubernetes.client import ApiClient

_SECONDS = 10
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


@contextmanager
def heartbeats(client: ApiClient) -> Iterator[None]:
    """Renew the leases of all nodes meanwhile, as their kubelets do.

    Kubernetes, "Node heartbeats": a node that sends none for 50 seconds is taken for unreachable,
    and gets no more pods. On a busy machine a test takes longer.
    """
    ended = Event()

    def beat() -> None:
        while not ended.wait(_SECONDS):
            # Where the server does not answer now, it may do the next time.
            with suppress(OSError):
                for node in client.call("GET", "/api/v1/nodes")["items"]:
                    _renew(client, node["metadata"]["name"])

    thread = Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _renew(client: ApiClient, node: str) -> None:
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": node},
        "spec": {
            "holderIdentity": node,
            "leaseDurationSeconds": 40,
            "renewTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
        },
    }
    client.call(
        "PATCH",
        f"{_LEASES}/{node}?fieldManager=kubelet&force=true",
        lease,
        content_type="application/apply-patch+yaml",
    )
