"""Data that is deleted, or that the cluster loses sight of."""

from collections.abc import Iterator, Mapping

from trainshed.review.effects import DELETION, REPLACEMENT, keeps
from trainshed.review.model import Level, Risk, RiskKind
from trainshed.review.risks.affected import GIVEN_UP, Affected, at, is_true, whole_number
from trainshed.template_changes import Effect

_LOGS, _KEY, _FILES = "AWS::Logs::LogGroup", "AWS::KMS::Key", "AWS::FSx::FileSystem"
_HOLDS_DATA: Mapping[str, str] = {
    _FILES: "the file system",
    "AWS::FSx::Volume": "the volume",
    "AWS::S3::Bucket": "the bucket",
    "AWS::ECR::Repository": "the container repository",
    "AWS::EFS::FileSystem": "the file system",
    "AWS::EC2::Volume": "the volume",
    "AWS::DynamoDB::Table": "the table",
    "AWS::DynamoDB::GlobalTable": "the table",
    _KEY: "the key",
    _LOGS: "the log group",
}
# Properties that say for how many days something is kept.
_SHORTENED = {
    "RetentionInDays": "older messages of the log group are deleted",
    "LustreConfiguration.AutomaticBackupRetentionDays": "older automatic backups are deleted",
}
_POLICIES = {DELETION: "leaves its stack", REPLACEMENT: "is replaced"}


def data_loss(affected: Affected) -> Iterator[Risk]:
    """Yield what may cost data."""
    change = affected.change
    if change.resource_type == "Custom::S3AutoDeleteObjects" and change.effect is Effect.ADDED:
        yield affected.risk(
            RiskKind.DATA_LOSS,
            Level.HIGH,
            "when the bucket leaves its stack, all its objects are deleted first",
            "ask whether they can be made again; else keep the bucket (removal_policy RETAIN)",
        )
    if change.resource_type not in _HOLDS_DATA:
        return
    if change.effect in GIVEN_UP:
        yield from _given_up(affected)
    elif change.effect is Effect.CHANGED:
        yield from _weakened(affected)


def _given_up(affected: Affected) -> Iterator[Risk]:
    change = affected.change
    if change.resource_type == _LOGS and _of_a_function(affected):
        return
    what = f"{_HOLDS_DATA[change.resource_type]} {affected.what_happens}{_beside(affected)}"
    stopped = _guard(affected)
    if not change.kept:
        loss = (
            "what it encrypts can never be read again"
            if change.resource_type == _KEY
            else ("what is in it is deleted")
        )
        yield affected.risk(
            RiskKind.DATA_LOSS,
            Level.MEDIUM if change.resource_type == _LOGS else Level.HIGH,
            f"{what}: {loss}{stopped}",
            "ask whether it is needed; else copy it first, or keep it (removal_policy RETAIN)",
        )
    elif change.resource_type not in (_LOGS, _KEY):
        # As high as a deletion: to the jobs the data is as good as gone until somebody acts, what
        # they write goes elsewhere meanwhile, and what is kept costs on, unseen. Logs and keys
        # that are kept are found by their names where they are looked for.
        yield affected.risk(
            RiskKind.DATA_LOSS,
            Level.HIGH,
            f"{what}: a policy keeps what is in it, but the cluster loses sight of it and goes on "
            f"without, and it costs until somebody deletes it{stopped}",
            _adopt(affected),
        )


def _beside(affected: Affected) -> str:
    """Return what comes in the place of what leaves its stack."""
    if affected.change.effect is not Effect.REMOVED:
        return ""
    come = [
        each.name
        for each in affected.stack.resources
        if each.effect is Effect.ADDED and each.resource_type == affected.change.resource_type
    ]
    return f", and an empty one comes ({', '.join(come)})" if come else ""


def _of_a_function(affected: Affected) -> bool:
    """Return whether a log group has what a function says, which comes and goes with it."""
    return any(
        at(resource, "LoggingConfig.LogGroup") == {"Ref": affected.change.logical_id}
        for resource in affected.before.values()
    )


def _adopt(affected: Affected) -> str:
    if affected.change.resource_type != _FILES:
        return "ask how jobs get what is in it; import it again, or copy what they need first"
    return (
        "ask whether jobs need what is on it: copy that first, or use the one that is kept with "
        "storage.lustre.existing (docs/spec.md)"
    )


def _guard(affected: Affected) -> str:
    """Return what `ReplacementGuard` makes of the deployment of a file system."""
    for name in affected.old.get("DependsOn", ()):
        was, will_be = affected.before.get(name, {}), affected.after.get(name, {})
        both = {was.get("Type"), will_be.get("Type")} == {"Custom::ReplacementGuard"}
        if both and at(was, "FileSystem") != at(will_be, "FileSystem"):
            allowed = at(will_be, "HowToAllow") or "AllowReplacement"
            if is_true(at(will_be, "AllowReplacement")):
                return f"; {allowed} is set, so nothing stops the deployment"
            return f"; ReplacementGuard stops the deployment, unless {allowed}"
    return ""


def _weakened(affected: Affected) -> Iterator[Risk]:
    kind, old, new = affected.change.resource_type, affected.old, affected.new
    said = [
        f"is no longer kept when it {when} ({policy})"
        for policy, when in _POLICIES.items()
        if keeps(old, policy) and not keeps(new, policy)
    ]
    if is_true(at(old, "DeletionProtectionEnabled")) and not is_true(
        at(new, "DeletionProtectionEnabled")
    ):
        said.append("can be deleted from now on (DeletionProtectionEnabled)")
    if is_true(at(new, "EmptyOnDelete")) and not is_true(at(old, "EmptyOnDelete")):
        said.append("is emptied when it is deleted (EmptyOnDelete)")
    level = Level.MEDIUM if kind == _LOGS else Level.HIGH
    for each in said:
        yield affected.risk(
            RiskKind.DATA_LOSS,
            level,
            f"{_HOLDS_DATA[kind]} {each}",
            "ask why it need no longer be protected",
        )
    for path, consequence in _SHORTENED.items():
        if _is_shorter(at(old, path), at(new, path)):
            yield affected.risk(
                RiskKind.DATA_LOSS,
                Level.MEDIUM,
                f"{path.rpartition('.')[2]} goes from {at(old, path)} to {at(new, path)} days: "
                f"{consequence}",
                "ask whether anybody still needs them",
            )


def _is_shorter(old: object, new: object) -> bool:
    days, fewer = whole_number(old), whole_number(new)
    return fewer is not None and (days is None or fewer < days)
