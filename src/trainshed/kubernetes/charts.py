"""The charts of others that trainshed installs: from where, in which version, with which values.

Each is the maker's; only its values are ours.
"""

import json
import os
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from trainshed.errors import Failure
from trainshed.files import LARGEST_MADE, read_bytes
from trainshed.files.user_cache import user_cache_folder
from trainshed.kubernetes.helm import pull, render
from trainshed.plan.kube_lock import LockedChart


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart that trainshed installs.

    Attributes:
        name: of it, and of its release.
        title: what people call the program.
        oci: where it is published.
        version: that trainshed is tried with, and that a new lock takes.
        namespace: that it is installed in.
        values: those that differ from the chart's own, for one of its versions.
    """

    name: str
    title: str
    oci: str
    version: str
    namespace: str
    values: Callable[[str], Mapping[str, Any]]


def _image(program: str, version: str) -> Mapping[str, str]:
    """Return the image of a release: by itself a chart names that of a branch, for tests.

    It is pulled once a node, since the tag of a release is not moved.
    """
    return {
        "repository": f"registry.k8s.io/{program}/{program}",
        "tag": f"v{version}",
        "pullPolicy": "IfNotPresent",
    }


def _kueue_values(version: str) -> Mapping[str, Any]:
    settings = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443"},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        # By default it is asked about each pod and each Deployment of almost every namespace, and
        # none could be made while it does not answer.
        "integrations": {"frameworks": ["jobset.x-k8s.io/jobset"]},
    }
    return {
        "controllerManager": {"manager": {"image": _image("kueue", version)}},
        "managerConfig": {"controllerManagerConfigYaml": json.dumps(settings, indent=2)},
    }


# In the order of their installation. Documentation of JobSet and of Kueue, "Installation", and the
# values of their charts. Their pods tolerate no taint, and so run on the system nodes alone.
JOBSET = Chart(
    name="jobset",
    title="JobSet",
    oci="oci://registry.k8s.io/jobset/charts/jobset",
    version="0.12.0",
    namespace="jobset-system",
    values=lambda version: {"image": _image("jobset", version)},
)
KUEUE = Chart(
    name="kueue",
    title="Kueue",
    oci="oci://registry.k8s.io/kueue/charts/kueue",
    version="0.19.2",
    namespace="kueue-system",
    values=_kueue_values,
)
CHARTS = (JOBSET, KUEUE)


def lock_chart(chart: Chart) -> LockedChart:
    """Return what the registry has of a chart today; it is in the cache then.

    Raises:
        Failure: it cannot be pulled.
    """
    return _pulled(chart.oci, chart.version)


def rendered(chart: Chart, locked: LockedChart, kubernetes: str) -> str:
    """Return what a locked chart makes with our values, as YAML.

    Args:
        chart: which.
        locked: its entry in the lock.
        kubernetes: minor version of the control plane.

    Raises:
        Failure: it cannot be pulled, it is not what was locked, or helm refuses.
    """
    return render(
        _archive(chart.name, locked),
        name=chart.name,
        namespace=chart.namespace,
        kubernetes=kubernetes,
        values=json.dumps(chart.values(locked.version)),
    )


def _archive(name: str, locked: LockedChart) -> Path:
    """Return the file of a locked chart: from the cache, else from its registry."""
    file = _cached(locked.digest)
    if not os.access(file, os.R_OK):
        got = _pulled(locked.oci, locked.version, digest=locked.digest)
        if got.digest != locked.digest:
            raise _differs(name, f"the manifest in {locked.oci}", got.digest, locked.digest)
    archive = _digest(file)
    if archive != locked.archive:
        raise _differs(name, str(file), archive, locked.archive)
    if (version := _version(file)) != locked.version:
        raise Failure(
            f"chart {name}: what was locked is version {version}, and the lock says "
            f"{locked.version}; versions are not edited by hand: take the lock from version "
            "control, or run: trainshed kube lock"
        )
    return file


def _version(file: Path) -> str:
    """Return the version that a chart has by its own description."""
    with tarfile.open(file) as archive:
        for entry in archive:
            # Charts may have others in them.
            if entry.name.count("/") == 1 and entry.name.endswith("/Chart.yaml"):
                description = archive.extractfile(entry)
                assert description
                return str(yaml.safe_load(description)["version"])
    return ""


def _pulled(oci: str, version: str, *, digest: str = "") -> LockedChart:
    charts = user_cache_folder("charts")
    try:
        charts.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=charts) as folder:
            got = pull(oci, Path(folder), version=version, digest=digest)
            [archive] = Path(folder).iterdir()
            file = _cached(got)
            # Two at the same time write the same.
            archive.replace(file)
    except OSError as error:
        raise Failure(
            f"charts cannot be kept in {charts}: {error.strerror or error}; XDG_CACHE_HOME may "
            "name another folder"
        ) from error
    return LockedChart(oci=oci, version=version, digest=got, archive=_digest(file))


def _cached(digest: str) -> Path:
    return user_cache_folder("charts") / f"{digest.removeprefix('sha256:')}.tgz"


def _digest(file: Path) -> str:
    return f"sha256:{sha256(read_bytes(file, LARGEST_MADE)).hexdigest()}"


def _differs(name: str, what: str, found: str, locked: str) -> Failure:
    return Failure(
        f"chart {name}: {what} has the digest {found}, and the lock has {locked}, so it is not "
        "what was locked, and nothing was applied; find out who changed it; if it is a file of "
        "the cache, delete it and run the command again"
    )
