"""Lock the add-ons and charts of a control plane to what EKS and registries have today."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.kubernetes.charts import CHARTS, lock_chart
from trainshed.plan.control_plane import ADD_ONS
from trainshed.plan.kube_lock import KubeLock, LockedChart


@dataclass(frozen=True, slots=True, kw_only=True)
class LockChange:
    """One add-on or chart that gets another version.

    Attributes:
        name: for instance `add-on coredns`.
        before: its version, of a chart with its digest; None when it is new.
        after: the same; None when it goes.
    """

    name: str
    before: str | None
    after: str | None


def new_lock(
    region: Region, kubernetes: str, known: KubeLock | None, show: Callable[[str], None]
) -> KubeLock:
    """Ask EKS for its default versions of add-ons, and registries for charts.

    Args:
        region: of the control plane.
        kubernetes: its minor version.
        known: what was locked before, if anything.
        show: gets each step.

    Raises:
        Failure: AWS refuses, or has no default version of an add-on; a chart cannot be pulled, or
            has changed since it was locked.
    """
    # First, since they need a program that may be missing.
    charts = {}
    for chart in CHARTS:
        show(f"pulling {chart.oci}, version {chart.version}")
        charts[chart.name] = lock_chart(chart)
        if known and chart.name in known.charts:
            _refuse_changed(chart.name, known.charts[chart.name], charts[chart.name])
    versions = {}
    for name in ADD_ONS:
        show(f"asking EKS for its default version of {name}")
        versions[name] = _default_version(region, name, kubernetes)
    return KubeLock(kubernetes=kubernetes, add_ons=versions, charts=charts)


def lock_changes(before: KubeLock | None, after: KubeLock) -> tuple[LockChange, ...]:
    """Return what differs."""
    old, new = dict(_entries(before)) if before else {}, dict(_entries(after))
    return tuple(
        LockChange(name=name, before=old.get(name), after=new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    )


def _entries(lock: KubeLock) -> Iterator[tuple[str, str]]:
    for name, version in lock.add_ons.items():
        yield f"add-on {name}", version
    for name, chart in lock.charts.items():
        yield f"chart {name}", f"{chart.version} {chart.digest}"


def _refuse_changed(name: str, before: LockedChart, after: LockedChart) -> None:
    """Refuse a release that is another one than when it was locked."""
    if before != after and (before.oci, before.version) == (after.oci, after.version):
        raise Failure(
            f"chart {name} {after.version} of {after.oci} has the digest {after.digest} today, and "
            f"the lock has {before.digest}: releases do not change, so find out who changed it; to "
            "take it all the same, delete the entry from the lock"
        )


def _default_version(region: Region, name: str, kubernetes: str) -> str:
    found = region.pages(
        "eks", "describe_addon_versions", "addons", addonName=name, kubernetesVersion=kubernetes
    )
    for version in (each for add_on in found for each in add_on["addonVersions"]):
        if any(
            fit["clusterVersion"] == kubernetes and fit["defaultVersion"]
            for fit in version["compatibilities"]
        ):
            return str(version["addonVersion"])
    raise Failure(
        f"EKS names no default version of the add-on {name} for Kubernetes {kubernetes} in "
        f"{region.name}; see what it has: aws eks describe-addon-versions --addon-name {name} "
        f"--region {region.name}"
    )
