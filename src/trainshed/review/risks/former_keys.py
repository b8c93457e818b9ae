"""Keys that roles may no longer use for what S3 has encrypted with them."""

from collections.abc import Iterator

from trainshed.review.differences import Statement, TemplateDifference
from trainshed.review.model import Level, Risk, RiskKind
from trainshed.review.permissions import who_has
from trainshed.review.values import Names, rendered

_DECRYPT, _READ = "kms:Decrypt", "s3:GetObject"


def former_keys(stack: str, difference: TemplateDifference, called: Names) -> Iterator[Risk]:
    """Yield keys that a role loses, while it may still read what they encrypt.

    S3 user guide, "Setting default server-side encryption behavior for Amazon S3 buckets": objects
    that are there keep their encryption when that of the bucket changes.

    Args:
        stack: name of the stack.
        difference: what the engine says about it.
        called: the names in it.
    """
    statements = [each for each in difference.statements if each.effect == "Allow"]
    still = {
        (each.principals, key)
        for each in statements
        if each.gained and _DECRYPT in each.actions.names
        for key in each.resources.names
    }
    losers: dict[str, dict[str, None]] = {}
    for each in statements:
        if not each.gained and _by_s3(each) and not _loses_objects(each, statements):
            for key in each.resources.names:
                if (each.principals, key) not in still:
                    losers.setdefault(key, {})[who_has(each, called)] = None
    for key, roles in losers.items():
        yield Risk(
            kind=RiskKind.DATA_LOSS,
            level=Level.MEDIUM,
            stack=stack,
            resource=", ".join(roles),
            message=f"no longer {_DECRYPT} with {rendered(key, called)} through S3: the objects "
            "that it has encrypted stay as they are, and cannot be read",
            remedy="keep the former key enabled, and after the deployment copy the objects onto "
            "themselves, with the new key; or let jobs use the former one by a policy in "
            "job.policies (docs/security.md)",
        )


def _by_s3(statement: Statement) -> bool:
    """Return whether a statement lets a role decrypt what it reads in S3, and nothing else."""
    return _DECRYPT in statement.actions.names and "kms:ViaService" in str(statement.condition)


def _loses_objects(lost: Statement, statements: list[Statement]) -> bool:
    """Return whether a role loses the objects with the key, as when its bucket goes."""
    changes = {
        each.gained
        for each in statements
        if each.principals == lost.principals and _READ in "".join(each.actions.names)
    }
    return changes == {False}
