"""Lock the add-ons of a control plane to the versions that EKS takes today."""

from collections.abc import Callable
from dataclasses import dataclass

from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.plan.control_plane import ADD_ONS
from trainshed.plan.kube_lock import KubeLock


@dataclass(frozen=True, slots=True, kw_only=True)
class LockChange:
    """One add-on that gets another version.

    Attributes:
        add_on: its name.
        before: its version; None when it is new.
        after: its version; None when it goes.
    """

    add_on: str
    before: str | None
    after: str | None


def new_lock(region: Region, kubernetes: str, show: Callable[[str], None]) -> KubeLock:
    """Ask EKS for its default versions.

    Args:
        region: of the control plane.
        kubernetes: its minor version.
        show: gets each step.

    Raises:
        Failure: AWS refuses, or has no default version of an add-on.
    """
    versions = {}
    for name in ADD_ONS:
        show(f"asking EKS for its default version of {name}")
        versions[name] = _default_version(region, name, kubernetes)
    return KubeLock(kubernetes=kubernetes, add_ons=versions)


def lock_changes(before: KubeLock | None, after: KubeLock) -> tuple[LockChange, ...]:
    """Return the add-ons whose versions differ."""
    old, new = before.add_ons if before else {}, after.add_ons
    return tuple(
        LockChange(add_on=name, before=old.get(name), after=new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
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
