"""The EFS file system: home folders, code and small state."""

from dataclasses import dataclass

from trainshed.plan.notes import Notes, origin
from trainshed.plan.storage.model import StorageKind, StoragePlan
from trainshed.spec import EfsSpec

# EFS API reference, LifecyclePolicy: AFTER_1_DAY and so on.
_DAYS = (1, 7, 14, 30, 60, 90, 180, 270, 365)


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsPlan(StoragePlan):
    """An Amazon EFS file system: regional, with a mount target in the zone of the nodes.

    Attributes:
        new: settings of a new one.
    """

    kind = StorageKind.EFS
    title = "EFS file system"
    client = "amazon-efs-utils"
    resource_type = "AWS::EFS::FileSystem"
    stack_suffix = "Efs"
    clients_group = "EfsClients"

    mount: str
    new: EfsSpec | None

    @property
    def interfaces(self) -> int:
        """The mount target."""
        return 1


def plan_efs(notes: Notes, asked: EfsSpec, network: str) -> EfsPlan:
    """Resolve `storage.efs`."""
    if asked.existing:
        reason = "as asked; it gets a mount target in the nodes' zone unless it has one"
        notes.decide("EFS", asked.existing, reason)
    else:
        _check_days(notes, asked)
        _decide(notes, asked)
    notes.decide(
        "EFS mount",
        asked.mount,
        f"{origin(asked, 'mount')}; through TLS, the same path on nodes and in containers",
    )
    name = asked.name or notes.spec.short_name
    return EfsPlan(
        name=name,
        stack_name=EfsPlan.stack_for(name),
        network=network,
        zone=None,
        existing=asked.existing,
        new=None if asked.existing else asked,
        mount=asked.mount,
    )


def _decide(notes: Notes, asked: EfsSpec) -> None:
    """Note what the file system is, and where each part of that comes from."""
    notes.decide(
        "EFS",
        "elastic throughput",
        "paid by what is read and written; bursting, EFS's default, is slow while little is stored",
    )
    tiers = {
        "Infrequent Access": asked.infrequent_access_days,
        "Archive": asked.archive_days,
    }
    moved = [f"{tier} after {days} days" for tier, days in tiers.items() if days]
    notes.decide(
        "EFS lifecycle",
        ", ".join(moved) or "none",
        f"{origin(asked, 'infrequent_access_days')}; what is read again comes back",
    )
    notes.decide("EFS backup", "daily" if asked.backup else "none", origin(asked, "backup"))


def _check_days(notes: Notes, asked: EfsSpec) -> None:
    for field in ("infrequent_access_days", "archive_days"):
        days: int = getattr(asked, field)
        if days and days not in _DAYS:
            near = min(_DAYS, key=lambda each: abs(each - days))
            notes.problem(
                f"storage.efs.{field}",
                f"{days} is not allowed; did you mean {near}? "
                f"(allowed: {', '.join(map(str, _DAYS))}, or 0 for never)",
            )
            return
    # EFS user guide, "Managing storage lifecycle": Archive comes after Infrequent Access.
    if 0 < asked.archive_days <= asked.infrequent_access_days:
        notes.problem(
            "storage.efs.archive_days",
            f"{asked.archive_days} is not after the {asked.infrequent_access_days} days of "
            "infrequent_access_days; give more, or 0 for never",
        )
