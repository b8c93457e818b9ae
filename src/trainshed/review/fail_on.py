"""Thresholds at which a review fails, as `--fail-on` writes them."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from trainshed.cost.model import Total, amount
from trainshed.errors import UnknownName
from trainshed.findings import Severity
from trainshed.findings.tools import State
from trainshed.review.model import Level, Review, RiskKind

_NOTHING = Total(usd=0)
_COST = re.compile(r"(?P<name>cost|idle-cost)>(?P<limit>\d+(\.\d+)?)(?P<percent>%)?")
# Forms of thresholds with a number, for the message about an unknown one.
_COST_FORMS = ("cost>10%", "cost>25", "idle-cost>10%", "idle-cost>25")
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What makes a review fail.

    Attributes:
        items: by the text of each threshold, what returns what meets it in a review.
    """

    items: Mapping[str, Callable[[Review], Iterable[str]]]


def parse_fail_on(text: str) -> Thresholds:
    """Read thresholds, separated by commas, for instance `data-loss,high,cost>10%`.

    Raises:
        UnknownName: one of them is none; the message lists all.
    """
    return Thresholds(items={item: _judge(item) for item in map(str.strip, text.split(","))})


def failures(review: Review, thresholds: Thresholds) -> tuple[str, ...]:
    """Return a line for each threshold that is met: the threshold, and what meets it.

    One that compares with a base that cannot be synthesised is met too, because nobody can say that
    it is not.

    Args:
        review: redacted, because the lines go into the log of a job.
        thresholds: of `--fail-on`.
    """
    lines = []
    for item, judge in thresholds.items.items():
        met = tuple(judge(review)) or _not_judged(review)
        if met:
            more = f"; and {len(met) - _SHOWN} more" if len(met) > _SHOWN else ""
            lines.append(f"{item}: {'; '.join(met[:_SHOWN])}{more}")
    return tuple(lines)


def _judge(item: str) -> Callable[[Review], Iterable[str]]:
    if cost := _COST.fullmatch(item):
        return partial(
            _dearer,
            idle=cost["name"] == "idle-cost",
            limit=float(cost["limit"]),
            percent=bool(cost["percent"]),
        )
    named: dict[str, Callable[[Review], Iterable[str]]] = {
        **{kind.value: partial(_of_kind, kind=kind) for kind in RiskKind},
        "high": partial(_at_least, levels={Level.HIGH}, severities={Severity.ERROR}),
        "medium": partial(
            _at_least, levels=set(Level), severities={Severity.ERROR, Severity.WARNING}
        ),
        "findings": _findings,
        "broken-base": _broken_base,
    }
    if item not in named:
        raise UnknownName("threshold", item, (*named, *_COST_FORMS))
    return named[item]


def _of_kind(review: Review, kind: RiskKind) -> Iterable[str]:
    return [
        f"{risk.stack}, {risk.resource}: {risk.message}"
        for risk in review.risks
        if risk.kind is kind
    ]


def _at_least(review: Review, levels: set[Level], severities: set[Severity]) -> Iterable[str]:
    for risk in review.risks:
        if risk.level in levels:
            yield f"{risk.kind} in {risk.stack}, {risk.resource}: {risk.message}"
    yield from _findings(review, severities)


def _findings(review: Review, severities: Iterable[Severity] = tuple(Severity)) -> Iterable[str]:
    for finding in review.findings.new:
        if finding.fails and finding.severity in severities:
            place = f"{finding.place}: " if finding.place else ""
            yield f"new {finding.severity} {finding.rule}: {place}{finding.message}"
    for run in review.findings.runs:
        if run.state is State.FAILED:
            yield f"{run.tool} failed, so what it would find is not known: {run.reason}"


def _dearer(review: Review, idle: bool, limit: float, percent: bool) -> Iterable[str]:
    cost = review.cost
    before = (cost.idle_before if idle else cost.full_before) or _NOTHING
    after = (cost.idle_after if idle else cost.full_after) or _NOTHING
    if review.broken_base is not None:
        return
    if odd := sorted(set(before.unknown) ^ set(after.unknown)):
        yield (
            f"cannot be judged, because the prices of these are not known: {', '.join(odd)}; "
            "trainshed cost sync fetches prices"
        )
        return
    growth = after.usd - before.usd
    allowed = before.usd * limit / 100 if percent else limit
    # Less than a millionth of a dollar is an error of rounding.
    if round(growth - allowed, 6) > 0:
        share = f", {growth / before.usd:.1%}" if before.usd else ""
        yield (
            f"{'idle' if idle else 'at full size'}, an hour costs {after} instead of {before}: "
            f"{amount(growth)} USD more{share}"
        )


def _broken_base(review: Review) -> Iterable[str]:
    return [] if review.broken_base is None else [f"{review.base}: {review.broken_base}"]


def _not_judged(review: Review) -> tuple[str, ...]:
    if review.broken_base is None:
        return ()
    return (f"cannot be judged, because {review.base} cannot be synthesised",)
