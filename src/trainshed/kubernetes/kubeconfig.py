"""The kubeconfig by which kubectl and others use a cluster with our tokens."""

import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from trainshed.errors import TrainshedError
from trainshed.files import MissingFile, read_text
from trainshed.kubernetes.cluster import EksCluster

_NOT_OURS = ("is not a kubeconfig", "name another file with --kubeconfig")


def kubeconfig_file(environment: Mapping[str, str]) -> Path:
    """Return the file that kubectl writes to: the first of KUBECONFIG, or ~/.kube/config."""
    for name in environment.get("KUBECONFIG", "").split(os.pathsep):
        if name:
            return Path(name)
    return Path(environment.get("HOME", "/")) / ".kube" / "config"


def write_context(
    file: Path, cluster: EksCluster, *, context: str, namespace: str, profile: str | None
) -> None:
    """Put a context into a kubeconfig and make it the current one; all else in it stays.

    Args:
        file: the kubeconfig; it is made when it is not there.
        cluster: that the context leads to.
        context: its name, and that of its entries for cluster and user, which it replaces.
        namespace: of commands that name none.
        profile: AWS profile of the token; by default the one of the environment then.

    Raises:
        TrainshedError: the file is no kubeconfig, or cannot be read.
        OSError: it cannot be written.
    """
    yaml = YAML()
    config = _read(yaml, file)
    for kind, key, entry in (
        (
            "clusters",
            "cluster",
            {"server": cluster.endpoint, "certificate-authority-data": cluster.authority},
        ),
        ("users", "user", {"exec": _exec(cluster, profile)}),
        (
            "contexts",
            "context",
            {"cluster": context, "user": context, "namespace": namespace},
        ),
    ):
        _put(file, config, kind, {"name": context, key: entry})
    config["current-context"] = context
    text = StringIO()
    yaml.dump(config, text)
    _write(file, text.getvalue())


def _exec(cluster: EksCluster, profile: str | None) -> dict[str, Any]:
    """Say how a client gets a token: kubernetes.io, "Authentication", client-go credential plugins.

    By the interpreter that runs this, because kubectl may run where trainshed is not on the path;
    -P, because it may run in a folder whose modules must not stand for ours.
    """
    words = ["-P", "-m", "trainshed.cli", "kube", "token"]
    entry: dict[str, Any] = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [*words, "--cluster", cluster.name, "--region", cluster.region.name],
        "interactiveMode": "Never",
        "provideClusterInfo": False,
    }
    if profile:
        entry["env"] = [{"name": "AWS_PROFILE", "value": profile}]
    return entry


def _read(yaml: YAML, file: Path) -> Any:
    try:
        config = yaml.load(read_text(file))
    except MissingFile:
        config = None
    except YAMLError as error:
        raise TrainshedError(f"{file} {_NOT_OURS[0]}: invalid YAML; {_NOT_OURS[1]}") from error
    if config is None:
        config = {"apiVersion": "v1", "kind": "Config"}
    if not isinstance(config, dict) or config.get("kind", "Config") != "Config":
        raise TrainshedError(f"{file} {_NOT_OURS[0]}; {_NOT_OURS[1]}")
    return config


def _put(file: Path, config: Any, kind: str, entry: dict[str, Any]) -> None:
    entries = config.get(kind)
    if entries is None:
        entries = config[kind] = []
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise TrainshedError(f"{file} {_NOT_OURS[0]}: {kind} is not a list; {_NOT_OURS[1]}")
    for index, each in enumerate(entries):
        if each.get("name") == entry["name"]:
            entries[index] = entry
            return
    entries.append(entry)


def _write(file: Path, text: str) -> None:
    """Write all of it or nothing, readable by its owner alone: a kubeconfig may hold secrets."""
    target = file.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    opened, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(opened, "w", encoding="utf-8") as written:
            written.write(text)
        Path(name).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
