"""The versions of Kubernetes on Amazon EKS, and until when each is supported."""

import tomllib
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

# EKS user guide, "Amazon EKS networking requirements for VPC and subnets": zones where a control
# plane cannot be; nodes can.
WITHOUT_CONTROL_PLANE = frozenset({"cac1-az3", "use1-az3", "usw1-az2"})
# What runs beside the jobs: DNS, the managers of JobSet and Kueue, agents. Two, so that one may go.
SYSTEM_TYPE, SYSTEM_NODES = "m6i.large", 2
# Of their root volumes.
SYSTEM_GIB = 50
_SOON = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesVersion:
    """A minor version of Kubernetes that EKS has, or had.

    Attributes:
        name: for instance `1.35`.
        standard_until: the last day of standard support.
        extended_until: the last day of extended support, which costs more.
        basis: where the days are from.
    """

    name: str
    standard_until: date
    extended_until: date
    basis: str

    @property
    def number(self) -> tuple[int, ...]:
        """Its parts, by which versions are compared: (1, 35)."""
        return tuple(int(part) for part in self.name.split("."))

    def ends_soon(self, day: date) -> bool:
        """Return whether on a day its standard support has ended, or ends within 90 days."""
        return self.standard_until - day <= _SOON


@cache
def kubernetes_versions() -> tuple[KubernetesVersion, ...]:
    """Return the versions, the newest first; EKS has none that is older than the last one."""
    return tuple(KubernetesVersion(**each) for each in _table()["versions"])


def default_kubernetes() -> KubernetesVersion:
    """Return the version that a cluster gets which asks for none."""
    [found] = (each for each in kubernetes_versions() if each.name == _table()["default"])
    return found


@cache
def _table() -> Any:
    text = (files("trainshed.catalogue") / "data/kubernetes.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
