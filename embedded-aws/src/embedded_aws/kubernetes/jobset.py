"""JobSet on a control plane: its resource, its webhooks, and its manager's settings."""

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from embedded_aws.kubernetes.certificates import Authority
from embedded_aws.kubernetes.client import ApiClient
from embedded_aws.private_files import write_private

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
_PLURALS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}


def install_jobset(client: ApiClient, folder: Path) -> None:
    """Add the resource JobSet to an API server.

    Args:
        client: an administrator's.
        folder: the manifests that were kept of its module.
    """
    for definition in _documents(folder / "crds"):
        client.call("POST", _CRDS, definition)


def jobset_arguments(
    client: ApiClient,
    authority: Authority,
    folder: Path,
    manifests: Path,
    port: int,
    names: Sequence[str],
) -> list[str]:
    """Register the manager's webhooks by their address, and return its arguments.

    In a cluster they are reached through a service. Without them the manager fails on defaults that
    are missing.

    Args:
        client: an administrator's.
        authority: of the control plane.
        folder: for the manager's settings and certificate.
        manifests: that were kept of its module.
        port: of the webhooks.
        names: of the host.
    """
    certificate, key = authority.server("jobset", *names)
    (folder / "tls.crt").symlink_to(certificate)
    (folder / "tls.key").symlink_to(key)
    settings = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"port": port, "certDir": str(folder)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": "0"},
    }
    file = folder / "settings.yaml"
    write_private(file, yaml.safe_dump(settings))
    bundle = base64.b64encode(authority.file.read_bytes()).decode()
    for configuration in _documents(manifests / "webhooks"):
        if configuration.get("kind") not in _PLURALS:
            continue
        for webhook in configuration["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {
                "url": f"https://{names[-1]}:{port}{path}",
                "caBundle": bundle,
            }
        client.call("POST", f"{_WEBHOOKS}/{_PLURALS[configuration['kind']]}", configuration)
    return [f"--config={file}"]


def _documents(folder: Path) -> Iterator[Any]:
    for file in sorted(folder.glob("*.yaml")):
        yield from filter(None, yaml.safe_load_all(file.read_text(encoding="utf-8")))
