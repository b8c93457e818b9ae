"""The verdict of a review, in one line."""

from collections import Counter
from collections.abc import Iterator

from trainshed.findings import Severity
from trainshed.review.model import Level, Review, RiskKind
from trainshed.review.resource_types import called
from trainshed.review.wording import counted, effects, growth

_OTHER_DATA = "data store"
_MOST_STACKS = 2


def headline(review: Review) -> str:
    """Say what matters most about a change, in plain text."""
    parts = [*_dangers(review)]
    calm = not parts
    if calm:
        resources = [each for stack in review.stacks for each in stack.resources]
        parts.append(effects(resources) and f"resources: {effects(resources)}")
        if not resources and review.broken_base is None:
            parts.append("no resource differs")
    parts += _cost(review)
    if new := [finding for finding in review.findings.new if not finding.accepted]:
        errors = sum(finding.severity is Severity.ERROR for finding in new)
        parts.append(
            counted(len(new), "new finding") + (f" ({counted(errors, 'error')})" if errors else "")
        )
    said = ", ".join(filter(None, parts))
    if review.broken_base is not None:
        return "; ".join(
            filter(None, ("the base cannot be synthesised, this is the head alone", said))
        )
    return f"nothing dangerous; {said}" if calm and not _errors(review) else said


def _errors(review: Review) -> bool:
    return any(
        finding.fails and finding.severity is Severity.ERROR for finding in review.findings.new
    )


def _dangers(review: Review) -> Iterator[str]:
    found = {kind: [risk for risk in review.risks if risk.kind is kind] for kind in RiskKind}
    if data := found[RiskKind.DATA_LOSS]:
        types = {
            (each.stack, each.name): each.resource_type
            for stack in review.stacks
            for each in stack.resources
        }
        nouns = Counter(_noun(types.get((risk.stack, risk.resource), "")) for risk in data)
        yield " and ".join(counted(number, noun) for noun, number in nouns.items()) + " at risk"
    killed = found[RiskKind.JOBS_KILLED]
    ending = {risk.stack for risk in killed if risk.level is Level.HIGH}
    for stacks, what in (ending, "end"), ({risk.stack for risk in killed} - ending, "at risk"):
        if stacks:
            yield f"running jobs of {_named(stacks)} {what}"
    if world := found[RiskKind.OPEN_TO_THE_WORLD]:
        yield f"{counted(len(world), 'resource')} open to the world"
    if shown := found[RiskKind.SECRET_SHOWN]:
        yield f"{counted(len(shown), 'secret')} shown"
    if broad := found[RiskKind.BROAD_PERMISSION]:
        yield counted(len(broad), "broad permission")
    if failing := found[RiskKind.DEPLOYMENT_FAILS]:
        yield f"deployment of {_named({risk.stack for risk in failing})} fails"
    if replaced := found[RiskKind.REPLACED]:
        yield f"{counted(len(replaced), 'other resource')} replaced"


def _noun(resource_type: str) -> str:
    if not resource_type.startswith("AWS::"):
        return _OTHER_DATA
    return called(resource_type).removeprefix("the ")


def _named(stacks: set[str]) -> str:
    few = len(stacks) <= _MOST_STACKS
    return " and ".join(sorted(stacks)) if few else counted(len(stacks), "stack")


def _cost(review: Review) -> Iterator[str]:
    if review.broken_base is not None:
        return
    full = growth(review.cost.full_before, review.cost.full_after)
    idle = growth(review.cost.idle_before, review.cost.idle_after)
    name, more = ("at full size", full) if full != "none" else ("idle", idle)
    if more == "unknown":
        yield f"unknown change of cost {name}"
    elif "+" in more or "-" in more:
        yield f"{more} cost {name}"
