"""The versions of Kubernetes that EKS has, and until when each is supported.

EKS user guide, "Understand the Kubernetes version lifecycle on EKS", read on 2026-11-21: 1.31 to
1.34, and 14 months of standard and 12 more of extended support. 1.35: endoflife.date and an AWS
sample of 2026-04; 1.36: copies of AWS's calendar, 2026-08 and 2026-10. API reference,
DescribeClusterVersions: what is listed by default are versions in support. Inferred: since when
1.31 and 1.32 are there, 14 months before the end of their standard support; which version is the
default, and that each has its first platform version.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.clock import today
from embedded_aws.eks.calls import answers, invalid, page


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterVersion:
    """A minor version.

    Attributes:
        name: for instance `1.35`.
        since: the day from which on EKS has it.
        standard_until: the last day of standard support.
        extended_until: the last day of extended support.
    """

    name: str
    since: date
    standard_until: date
    extended_until: date

    @property
    def number(self) -> tuple[int, ...]:
        """Its parts, by which versions are compared."""
        return tuple(int(part) for part in self.name.split("."))

    @property
    def status(self) -> str:
        """How it is supported today."""
        if today() <= self.standard_until:
            return "STANDARD_SUPPORT"
        return "EXTENDED_SUPPORT" if today() <= self.extended_until else "UNSUPPORTED"


_VERSIONS = (
    ClusterVersion(
        name="1.36",
        since=date(2026, 6, 2),
        standard_until=date(2027, 8, 2),
        extended_until=date(2028, 8, 2),
    ),
    ClusterVersion(
        name="1.35",
        since=date(2026, 1, 28),
        standard_until=date(2027, 3, 27),
        extended_until=date(2028, 3, 27),
    ),
    ClusterVersion(
        name="1.34",
        since=date(2025, 10, 2),
        standard_until=date(2026, 12, 2),
        extended_until=date(2027, 12, 2),
    ),
    ClusterVersion(
        name="1.33",
        since=date(2025, 5, 29),
        standard_until=date(2026, 7, 29),
        extended_until=date(2027, 7, 29),
    ),
    ClusterVersion(
        name="1.32",
        since=date(2025, 1, 23),
        standard_until=date(2026, 3, 23),
        extended_until=date(2027, 3, 23),
    ),
    ClusterVersion(
        name="1.31",
        since=date(2024, 9, 26),
        standard_until=date(2025, 11, 26),
        extended_until=date(2026, 11, 26),
    ),
)
_DEFAULT = (1, 35)


def known_versions() -> list[ClusterVersion]:
    """Return the versions that EKS has today, the newest first."""
    return [each for each in _VERSIONS if each.since <= today()]


def default_version() -> ClusterVersion | None:
    """Return the version of a cluster that asks for none; None before the first one."""
    return next((each for each in known_versions() if each.number <= _DEFAULT), None)


def supported_version(name: str | None) -> ClusterVersion:
    """Return the version of a new cluster.

    Args:
        name: as asked for, or None for the default.

    Raises:
        Refusal: EKS does not have it, or no longer.
    """
    found = default_version()
    if name:
        found = next((each for each in known_versions() if each.name == name), None)
    if found is None or found.status == "UNSUPPORTED":
        raise invalid("unsupported Kubernetes version")
    return found


@answers("DescribeClusterVersions")
def describe_cluster_versions(call: Call) -> dict[str, Any]:
    """Describe versions: those in support, those of some names, or all."""
    named, given = call.params.get("clusterVersions"), call.params
    status = given.get("versionStatus") or given.get("status", "").upper().replace("-", "_")
    # eksctl sends an empty one where its user names none.
    if (given.get("clusterType") or "eks") != "eks":
        return {"clusterVersions": []}
    found = [
        _described(each)
        for each in known_versions()
        if not named or each.name in named
        if not status or each.status == status
        if named or status or given.get("includeAll") or each.status != "UNSUPPORTED"
        if not given.get("defaultOnly") or each == default_version()
    ]
    return page(call, "clusterVersions", found)


def _described(version: ClusterVersion) -> Row:
    return {
        "clusterVersion": version.name,
        "clusterType": "eks",
        "defaultPlatformVersion": "eks.1",
        "defaultVersion": version == default_version(),
        "releaseDate": _midnight(version.since),
        "endOfStandardSupportDate": _midnight(version.standard_until),
        "endOfExtendedSupportDate": _midnight(version.extended_until),
        "status": version.status.lower().replace("_", "-"),
        "versionStatus": version.status,
    }


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
