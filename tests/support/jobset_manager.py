"""JobSet on a cluster of the embedded EKS, as its user installs it."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from eks_bench import until
from kube_bench import asked, credentials_of, token

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.kubernetes.cache import built
from embedded_aws.kubernetes.managers import JOBSET, register

_ACCOUNTS = "/api/v1/namespaces/kube-system/serviceaccounts"
_BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


class _Administrator:
    """Asks the API server as a role."""

    def __init__(self, aws: EmbeddedAws, cluster: str, role: str) -> None:
        self._aws, self._role = aws, role
        self.cluster = aws.client("eks").describe_cluster(name=cluster)["cluster"]

    def call(self, method: str, path: str, body: object = None) -> Any:
        bearer = token(self._aws, self.cluster["name"], credentials_of(self._aws, self._role))
        status, found = asked(self.cluster, bearer, method, path, body)
        assert status < 300, found
        return found


@contextmanager
def jobset_manager(aws: EmbeddedAws, cluster: str, role: str, folder: Path) -> Iterator[None]:
    """Install JobSet, whose manager runs beside the cluster until the block ends.

    Args:
        aws: where the cluster is.
        cluster: its name.
        role: ARN of an administrator's.
        folder: for the manager's files.
    """
    administrator = _Administrator(aws, cluster, role)
    programs = built(administrator.cluster["version"])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = register(
        JOBSET,
        administrator,  # type: ignore[arg-type]
        folder=folder,
        manifests=programs / "jobset",
        host="127.0.0.1",
        port=port,
    )
    words = [str(programs / "bin/jobset"), f"--kubeconfig={_kubeconfig(administrator, folder)}"]
    with (folder / "jobset.log").open("w") as log:
        manager = subprocess.Popen([*words, *arguments], stdout=log, stderr=log, env=_environment())
    try:
        until(lambda: _listens(port))
        yield
    finally:
        manager.kill()
        manager.wait()


def _kubeconfig(administrator: _Administrator, folder: Path) -> Path:
    """Write one for a service account that may do everything."""
    administrator.call("POST", _ACCOUNTS, {"metadata": {"name": "jobset"}})
    account = {"kind": "ServiceAccount", "name": "jobset", "namespace": "kube-system"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {"metadata": {"name": "jobset"}, "subjects": [account], "roleRef": role}
    administrator.call("POST", _BINDINGS, binding)
    given = administrator.call("POST", f"{_ACCOUNTS}/jobset/token", {"spec": {}})
    cluster = {
        "server": administrator.cluster["endpoint"],
        "certificate-authority-data": administrator.cluster["certificateAuthority"]["data"],
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "it", "user": {"token": given["status"]["token"]}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "current-context": "it",
    }
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return file


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if not name.lower().endswith("_proxy")}


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
