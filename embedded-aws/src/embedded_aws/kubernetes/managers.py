"""The managers of JobSet and Kueue on a control plane: resources, webhooks and settings.

In a cluster their webhooks are reached through a service, here by their address. Without them, they
fail on defaults that are missing.
"""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from embedded_aws.kubernetes.certificates import Authority, new_authority
from embedded_aws.kubernetes.client import ApiClient
from embedded_aws.private_files import write_private

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
_PLURALS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """A program that looks after resources of its own.

    Attributes:
        name: of the program, and of the folder with the manifests of its module.
        api: apiVersion of its settings.
        namespace: that it is in.
        settings: beside those that every manager gets here.
        arguments: beside the file of its settings.
        secret: in its namespace, from which it takes its certificate; None if it takes files.
    """

    name: str
    api: str
    namespace: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    secret: str | None = None


JOBSET = Manager(
    name="jobset",
    api="config.jobset.x-k8s.io/v1alpha1",
    namespace="jobset-system",
    settings={"internalCertManagement": {"enable": False}},
)
KUEUE = Manager(
    name="kueue",
    api="config.kueue.x-k8s.io/v1beta2",
    namespace="kueue-system",
    settings={"integrations": {"frameworks": ["jobset.x-k8s.io/jobset"]}},
    # It serves an API of its own at a fixed port, which a second control plane would want, too.
    arguments=("--feature-gates=VisibilityOnDemand=false",),
    # Without it, it wants certificates of its metrics at a fixed path.
    secret="kueue-webhook-server-cert",
)


def register(
    manager: Manager,
    client: ApiClient,
    *,
    folder: Path,
    manifests: Path,
    host: str,
    port: int,
) -> list[str]:
    """Register a manager's resources and webhooks, and return its arguments.

    Args:
        manager: it.
        client: an administrator's.
        folder: for its settings and certificate.
        manifests: that were kept of its module.
        host: where it serves its webhooks.
        port: on which it does.
    """
    # Kueue takes none of another name for its own.
    pair = new_authority(f"{manager.name}-ca")
    service = f"{manager.name}-webhook-service.{manager.namespace}.svc"
    certificate, key = Authority(folder, pair).server("tls", service, host)
    if manager.secret:
        files = {"tls.crt": certificate.read_text(), "tls.key": key.read_text()}
        files |= {"ca.crt": pair.certificate, "ca.key": pair.key}
        _keep_secret(client, manager.namespace, manager.secret, files)
    settings = {
        "apiVersion": manager.api,
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "webhook": {"port": port, "certDir": str(folder)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": "0"},
        **manager.settings,
    }
    file = folder / "settings.yaml"
    write_private(file, yaml.safe_dump(settings))

    def at_address(config: Mapping[str, Any]) -> dict[str, str]:
        bundle = base64.b64encode(pair.certificate.encode()).decode()
        path = config["service"]["path"]
        return {"url": f"https://{host}:{port}{path}", "caBundle": bundle}

    _add_resources(client, manifests / "crd", at_address)
    for configuration in _documents(manifests / "webhook"):
        if configuration.get("kind") not in _PLURALS:
            continue
        # Of all such modules they have the same names; kustomize puts this before them.
        configuration["metadata"]["name"] = f"{manager.name}-{configuration['metadata']['name']}"
        for webhook in configuration["webhooks"]:
            webhook["clientConfig"] = at_address(webhook["clientConfig"])
        client.call("POST", f"{_WEBHOOKS}/{_PLURALS[configuration['kind']]}", configuration)
    return [f"--config={file}", *manager.arguments]


def _keep_secret(client: ApiClient, namespace: str, name: str, files: Mapping[str, str]) -> None:
    client.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    secret = {"metadata": {"name": name}, "stringData": dict(files)}
    client.call("POST", f"/api/v1/namespaces/{namespace}/secrets", secret)


def _add_resources(
    client: ApiClient, folder: Path, at_address: Callable[[Mapping[str, Any]], dict[str, str]]
) -> None:
    """Add the resources of a folder, with the conversions that its patches ask for."""
    conversions = {
        patch["metadata"]["name"]: patch["spec"]["conversion"]
        for patch in _documents(folder / "patches")
        if "conversion" in patch.get("spec", {})
    }
    for definition in _documents(folder / "bases"):
        if conversion := conversions.get(definition["metadata"]["name"]):
            webhook = conversion["webhook"]
            webhook["clientConfig"] = at_address(webhook["clientConfig"])
            definition["spec"]["conversion"] = conversion
        client.call("POST", _CRDS, definition)


def _documents(folder: Path) -> Iterator[Any]:
    for file in sorted(folder.glob("*.yaml")):
        yield from filter(None, yaml.safe_load_all(file.read_text(encoding="utf-8")))
