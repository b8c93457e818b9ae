"""What protected data, and no longer does."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.app.synthesis import SynthesisedStack
from trainshed.review.effects import DELETION, REPLACEMENT, keeps
from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.resource_types import called, holds_data, holds_what_passes
from trainshed.review.risks.affected import Affected, leaves_of, whole_number

_POLICIES = {DELETION: "leaves its stack", REPLACEMENT: "is replaced"}
_ASK = "ask why it no longer needs protection"
_OFF = "can be deleted from now on"
# Properties that protect while they have one of these values, by their names in every type.
_ON = ("true", "active", "enabled", "prevent-all-deletion", "prevent-force-deletion")
_PROTECTING: Mapping[re.Pattern[str], str] = {
    re.compile(r"(Deletion|Delete|Termination)Protect(ion(Enabled)?|ed)"): _OFF,
    re.compile(r"PointInTimeRecoveryEnabled"): "cannot be restored to a point in time any more",
}
# The same, by their paths, where the name alone says nothing.
_PROTECTING_PATHS: Mapping[tuple[str, str], str] = {
    ("AWS::S3::Bucket", "VersioningConfiguration.Status"): (
        "keeps no older versions from now on: what is overwritten or deleted is gone"
    ),
    ("AWS::EFS::FileSystem", "BackupPolicy.Status"): "is no longer backed up",
    ("AWS::KMS::Key", "Enabled"): "is disabled: what it encrypts cannot be read meanwhile",
}
# Properties that end protection when they become true.
_ENDING = {
    "EmptyOnDelete": "is emptied when it is deleted",
    "DeleteAutomatedBackups": "takes its automatic backups with it when it is deleted",
}
# Properties that say for how long something is kept.
_KEPT_FOR = re.compile(r"\w*Retention(Period|Limit|In)?(Days|Hours|InDays|InHours|Hours)?")
_BACKUPS = re.compile(r"\w*(Backup|Snapshot)\w*")
# These keep what they have forever without one.
_KEPT_FOR_EVER_WITHOUT = "RetentionInDays"


def protection(affected: Affected) -> Iterator[Risk]:
    """Yield what protected a resource or its data before the change."""
    if affected.change.effect is not Effect.CHANGED or not affected.new:
        return
    kind, old, new = affected.change.resource_type, affected.old, affected.new
    data = holds_data(old, affected.region)
    said = [
        f"is no longer kept when it {when} ({policy})"
        for policy, when in _POLICIES.items()
        if data and keeps(old, policy) and not keeps(new, policy)
    ]
    before, after = (_leaves(side) for side in (old, new))
    said += [
        f"{words} ({path})"
        for path, value in before.items()
        if (words := _protected_by(kind, path)) and _is_on(value) and not _is_on(after.get(path))
    ]
    said += [
        f"{_ENDING[path]} ({path})"
        for path, value in after.items()
        if path in _ENDING and _is_on(value) and not _is_on(before.get(path))
    ]
    level = Level.MEDIUM if holds_what_passes(kind) or not data else Level.HIGH
    for each in said:
        yield affected.risk(
            RiskKind.DATA_LOSS,
            level,
            f"{called(kind)} {each}",
            _ASK,
        )
    yield from _shortened(affected, before, after)


def unprotected_stacks(
    before: Mapping[str, SynthesisedStack], after: Mapping[str, SynthesisedStack]
) -> Iterator[Risk]:
    """Yield stacks that anybody may delete from now on."""
    for name, stack in after.items():
        if name in before and before[name].protected and not stack.protected:
            yield Risk(
                kind=RiskKind.DATA_LOSS,
                level=Level.HIGH,
                stack=name,
                resource="the stack",
                message="the stack can be deleted from now on (termination protection)",
                remedy=_ASK,
            )


def _leaves(resource: Mapping[str, Any]) -> dict[str, Any]:
    return dict(leaves_of(resource.get("Properties", {})))


def _protected_by(kind: str, path: str) -> str | None:
    by_path = _PROTECTING_PATHS.get((kind, path))
    name = path.rpartition(".")[2]
    return by_path or next(
        (words for pattern, words in _PROTECTING.items() if pattern.fullmatch(name)), None
    )


def _is_on(value: Any) -> bool:
    return str(value).lower() in _ON


def _shortened(
    affected: Affected, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Risk]:
    for path, value in after.items():
        name, old = path.rpartition(".")[2], before.get(path)
        days, fewer = whole_number(old), whole_number(value)
        if not _KEPT_FOR.fullmatch(name) or fewer is None:
            continue
        # No longer given at all is left to the default, which is not known here.
        if fewer < days if days is not None else old is None and name == _KEPT_FOR_EVER_WITHOUT:
            backups = bool(_BACKUPS.fullmatch(name))
            none = backups and fewer == 0
            if none:
                said = "there are no automatic backups any more, and those that are there may go"
            else:
                said = "older automatic backups are deleted" if backups else "what is older is lost"
            yield affected.risk(
                RiskKind.DATA_LOSS,
                Level.HIGH if none else Level.MEDIUM,
                f"{name} goes from {'unlimited' if old is None else old} to {value}: {said}",
                "ask whether anybody still needs them",
            )
