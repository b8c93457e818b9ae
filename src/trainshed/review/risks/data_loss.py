"""Data that is deleted, or that the cluster no longer uses."""

from collections.abc import Iterator

from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.resource_types import backs_up_others, called, holds_data, holds_what_passes
from trainshed.review.risks.affected import GIVEN_UP, Affected, at, is_true

# By the type of a resource and, of FSx, by the type of the file system.
_FIELDS = {
    ("AWS::FSx::FileSystem", "LUSTRE"): "storage.lustre",
    ("AWS::FSx::FileSystem", "OPENZFS"): "storage.openzfs",
    ("AWS::EFS::FileSystem", None): "storage.efs",
    ("AWS::S3::Bucket", None): "storage.bucket",
}
_KEYS = ("AWS::KMS::Key", "AWS::KMS::ReplicaKey")


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
    if change.effect not in GIVEN_UP or not affected.old:
        return
    if backs_up_others(change.resource_type) and change.effect is Effect.REMOVED:
        yield affected.risk(
            RiskKind.DATA_LOSS,
            Level.HIGH,
            f"{called(change.resource_type)} {affected.what_happens}: what it backed up is no "
            "longer backed up",
            "ask what backs it up from now on",
        )
    if holds_data(affected.old, affected.region):
        yield from _given_up(affected)


def _given_up(affected: Affected) -> Iterator[Risk]:
    change = affected.change
    passes = holds_what_passes(change.resource_type)
    if passes and _of_a_function(affected):
        return
    what = f"{called(change.resource_type)} {affected.what_happens}{_beside(affected)}"
    stopped = _guard(affected)
    if not change.kept:
        loss = (
            "what it encrypts can never be read again"
            if change.resource_type in _KEYS
            else "what is in it is deleted"
        )
        yield affected.risk(
            RiskKind.DATA_LOSS,
            Level.MEDIUM if passes else Level.HIGH,
            f"{what}: {loss}{stopped}",
            "ask whether it is needed; else copy it first, or keep it (removal_policy RETAIN)",
        )
    elif adopted := _adopted(affected):
        yield affected.risk(
            RiskKind.DATA_LOSS,
            Level.MEDIUM,
            f"{what}: a policy keeps what is in it, and the cluster uses {adopted} from now on",
            f"ask whether {adopted} is the one that leaves; jobs do not find what is in another",
        )
    elif not passes and change.resource_type not in _KEYS:
        # As high as a deletion: to the jobs the data is as good as gone until somebody acts, what
        # they write goes elsewhere meanwhile, and what is kept costs on, unseen. Logs and keys
        # that are kept are found by their names where they are looked for.
        yield affected.risk(
            RiskKind.DATA_LOSS,
            Level.HIGH,
            f"{what}: a policy keeps what is in it, but the cluster no longer uses it, and it "
            f"costs money until somebody deletes it{stopped}",
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


def _adopted(affected: Affected) -> str | None:
    """Return what exists and the cluster uses in its place: what its stack looks up or names."""
    if affected.change.resource_type == "AWS::S3::Bucket":
        name = at(affected.old, "BucketName")
        found = (
            at(affected.after.get(logical_id, {}), "Value")
            for logical_id, resource in affected.before.items()
            if resource["Type"] == "AWS::SSM::Parameter" and at(resource, "Value") == name
        )
    else:
        # A stack has one kind of storage.
        found = (
            at(resource, "FileSystemId")
            for resource in affected.after.values()
            if resource["Type"].startswith("Custom::Existing")
        )
    return next((each for each in found if isinstance(each, str)), None)


def _adopt(affected: Affected) -> str:
    field = _FIELDS.get((affected.change.resource_type, at(affected.old, "FileSystemType")))
    if field is None:
        return "ask how jobs get what is in it; import it again, or copy what they need first"
    return (
        "ask whether jobs need what is on it: copy that first, or use the one that is kept with "
        f"{field}.existing (docs/spec.md)"
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
