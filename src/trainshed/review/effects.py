"""What happens to a resource: the worse of what the engine and the published schemas say.

The engine looks at top-level properties only; the schemas say about nested ones, too, whether they
force a replacement, but leave out some that the engine knows.
"""

from collections.abc import Mapping
from typing import Any

from trainshed.review.differences import ResourceDifference
from trainshed.review.model import Effect
from trainshed.review.published_schemas import SchemaEffect

REPLACES = ("WILL_REPLACE", "MAY_REPLACE")
"""Impacts of a property that make another resource, or may."""
SILENT = ("Metadata", "DependsOn")
"""Attributes that change nothing that runs."""
DELETION, REPLACEMENT = "DeletionPolicy", "UpdateReplacePolicy"
"""Attributes that say what happens to a resource that its stack gives up."""
_EFFECTS = {
    "WILL_REPLACE": Effect.REPLACED,
    "MAY_REPLACE": Effect.MAY_BE_REPLACED,
    "WILL_DESTROY": Effect.REMOVED,
    "WILL_ORPHAN": Effect.REMOVED,
    "WILL_CREATE": Effect.ADDED,
}
Resource = Mapping[str, Any]


def worse_effect(found: ResourceDifference | None, ours: SchemaEffect | None) -> Effect | None:
    """Return what happens to a resource; None for nothing.

    Args:
        found: what the engine says.
        ours: what the schemas say.
    """
    effects = [_effect(found) if found else None, ours.effect if ours else None]
    return next((effect for effect in Effect if effect in effects), None)


def _effect(found: ResourceDifference) -> Effect | None:
    if found.impact in _EFFECTS:
        return _EFFECTS[found.impact]
    return Effect.CHANGED if found.properties or found.attributes.keys() - {*SILENT} else None


def is_kept(effect: Effect, before: Resource | None, after: Resource | None) -> bool:
    """Return whether a resource that its stack gives up stays: as it is, or as a snapshot."""
    if effect is Effect.REMOVED:
        return keeps(before, DELETION)
    # Which of both templates counts is not documented, so both must keep it.
    replaced = effect in (Effect.REPLACED, Effect.MAY_BE_REPLACED)
    return replaced and keeps(before, REPLACEMENT) and keeps(after, REPLACEMENT)


def keeps(resource: Resource | None, policy: str) -> bool:
    """Return whether a policy of a resource keeps it: `Retain...` or `Snapshot`."""
    return resource is not None and resource.get(policy, _default(resource, policy)) != "Delete"


def _default(resource: Resource, policy: str) -> str:
    """Return the policy of a resource that has none.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
    """
    alone = "DBClusterIdentifier" not in resource.get("Properties", {})
    database = resource["Type"] == "AWS::RDS::DBCluster" or (
        resource["Type"] == "AWS::RDS::DBInstance" and alone
    )
    return "Snapshot" if database and policy == DELETION else "Delete"
