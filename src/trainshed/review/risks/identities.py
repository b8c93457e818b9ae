"""Roles and users that are less limited than before."""

from collections.abc import Iterator

from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.risks.affected import Affected, at

_KIND = RiskKind.BROAD_PERMISSION


def identities(affected: Affected) -> Iterator[Risk]:
    """Yield permissions boundaries that are gone or others, and keys that do not expire."""
    before, after = (at(side, "PermissionsBoundary") for side in (affected.old, affected.new))
    if affected.change.effect is not Effect.REMOVED and before and before != after:
        lost = "its permissions boundary is gone: nothing limits what its policies give"
        yield affected.risk(
            _KIND,
            Level.MEDIUM if after else Level.HIGH,
            "it has another permissions boundary" if after else lost,
            "ask why; iam.boundary of the cluster file sets one for all roles",
        )
    key = affected.change.resource_type == "AWS::IAM::AccessKey"
    if key and affected.change.effect is Effect.ADDED:
        yield affected.risk(
            _KIND,
            Level.MEDIUM,
            "the access key does not expire, and whoever finds it has the permissions of its user",
            "give a role instead, to be assumed by a service or by who signs in",
        )
