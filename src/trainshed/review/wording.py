"""Words that every form of a report uses."""

from collections import Counter
from collections.abc import Iterable

from trainshed.cost.model import Total, amount
from trainshed.findings import Finding
from trainshed.findings.tools import State, ToolRun
from trainshed.review.model import Effect, ResourceChange, RiskKind

RISK_NAMES = {
    RiskKind.DATA_LOSS: "data at risk",
    RiskKind.JOBS_KILLED: "running jobs at risk",
    RiskKind.OPEN_TO_THE_WORLD: "open to the world",
    RiskKind.SECRET_SHOWN: "secret shown",
    RiskKind.BROAD_PERMISSION: "broad permission",
    RiskKind.DEPLOYMENT_FAILS: "the deployment fails",
    RiskKind.REPLACED: "replaced",
}
EFFECT_NAMES = {effect: effect.value for effect in Effect} | {Effect.CHANGED: "changed in place"}
# No deployment deletes a stack that the app no longer has.
STACK_EFFECT_NAMES = EFFECT_NAMES | {Effect.REMOVED: "no longer in the app"}
_ROUNDING_USD = 0.0005


def counted(number: int, noun: str) -> str:
    """Return for instance `1 finding` or `2 findings`."""
    ends_in_ies = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    plural = f"{noun[:-1]}ies" if ends_in_ies else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def effects(resources: Iterable[ResourceChange]) -> str:
    """Return for instance `1 replaced, 2 changed in place`, the worst first."""
    found = Counter(resource.effect for resource in resources)
    return ", ".join(
        f"{found[effect]:,} {EFFECT_NAMES[effect]}" for effect in Effect if found[effect]
    )


def kept(resource: ResourceChange) -> str:
    """Say whether a policy keeps a resource that its stack gives up."""
    if not resource.kept:
        return ""
    return ", but kept" if resource.effect is Effect.REMOVED else ", the old one is kept"


def growth(before: Total | None, after: Total | None) -> str:
    """Return how much more is paid: for instance `+12 %`, `none`, `new`, `gone` or `unknown`."""
    if before is None or after is None:
        return "" if before is after else "gone" if after is None else "new"
    if set(before.unknown) - set(after.unknown):
        return "unknown"
    more = after.usd - before.usd
    if set(after.unknown) - set(before.unknown):
        return f"at least {_signed(more, before)}" if more > _ROUNDING_USD else "unknown"
    return "none" if abs(more) < _ROUNDING_USD else _signed(more, before)


def _signed(more: float, before: Total) -> str:
    if before.unknown or not before.usd:
        return f"{'+' if more > 0 else '-'}{amount(abs(more))} USD"
    percent = 100 * more / before.usd
    return f"{percent:+,.{0 if abs(percent) >= 10 else 1}f} %"


def finding_title(finding: Finding) -> str:
    """Return the id of a finding's rule, with whose it is when it is not ours."""
    return finding.rule if finding.tool == "trainshed" else f"{finding.rule} ({finding.tool})"


def without_result(runs: Iterable[ToolRun]) -> tuple[str, ...]:
    """Return a line for each tool that did not run, or failed."""
    said = {State.NOT_RUN: "did not run", State.FAILED: "failed"}
    return tuple(f"{run.tool} {said[run.state]}: {run.reason}" for run in runs if run.state in said)
