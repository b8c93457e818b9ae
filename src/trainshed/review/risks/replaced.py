"""Other replacements that matter: of what jobs and other stacks depend on."""

from collections.abc import Iterator, Mapping

from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.risks.affected import Affected, at

_STANDS_ON_IT: Mapping[str, tuple[str, str]] = {
    "AWS::EC2::PlacementGroup": (
        "the placement group",
        "nodes that run stay in the old one, which can be deleted only when they have ended",
    ),
    "AWS::EC2::VPC": ("the VPC", "everything in it has to move to the new one"),
    "AWS::EC2::Subnet": (
        "the subnet",
        "what is in it has to move to the new one, whose range must be free",
    ),
    "AWS::EC2::SecurityGroup": (
        "the security group",
        "what it is attached to gets the new one, and the old one can be deleted only when no "
        "interface has it any more",
    ),
    "AWS::EC2::EIP": ("the address", "the nodes reach the internet from another one"),
    "AWS::IAM::Role": ("the role", "policies elsewhere that name the old one no longer apply"),
}


def replaced(affected: Affected) -> Iterator[Risk]:
    """Yield replacements of what jobs and other stacks stand on."""
    change = affected.change
    if change.effect not in (Effect.REPLACED, Effect.MAY_BE_REPLACED):
        return
    # Others name a role only if it has a name of its own.
    unnamed = change.resource_type == "AWS::IAM::Role" and at(affected.old, "RoleName") is None
    if change.resource_type in _STANDS_ON_IT and not unnamed:
        it, consequence = _STANDS_ON_IT[change.resource_type]
        yield affected.risk(
            RiskKind.REPLACED,
            Level.MEDIUM,
            f"{it} {affected.what_happens}: {consequence}",
            "ask whether that is meant; deploy when no job runs",
        )
