"""What the checks find after a change, beside what they found before it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from trainshed.findings import Finding
from trainshed.findings.tools import State, ToolRun
from trainshed.review.model import FindingChanges, Side

# Tool, rule, file, and the texts without their numbers.
_Identity = tuple[str, ...]
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")


def finding_changes(before: Side | None, after: Side) -> FindingChanges:
    """Compare what is found on both sides.

    A finding is the same on both where it has the same rule, file, field, resource and message but
    for numbers: `4 nodes` may become `8 nodes`, and lines are moved by what is inserted above.

    Args:
        before: the base; None when it is broken, so that nothing is new, fixed or accepted by the
            change.
        after: the head.
    """
    base = before or after
    there, here = ({run.tool for run in side.runs if _ran(run)} for side in (base, after))
    old, new = (_by_identity(side.findings, there ^ here) for side in (base, after))
    compared = [_compared(old.get(same, []), new.get(same, [])) for same in {**new, **old}]
    return FindingChanges(
        new=tuple(each for group in compared for each in group.new),
        fixed=tuple(each for group in compared for each in group.fixed),
        accepted=tuple(each for group in compared for each in group.accepted),
        still_open=sum(group.still_open for group in compared),
        still_accepted=sum(group.still_accepted for group in compared),
        runs=after.runs,
        notes=tuple(_notes(base, after)),
    )


def _by_identity(
    findings: Iterable[Finding], left_out: Collection[str]
) -> Mapping[_Identity, list[Finding]]:
    """Sort findings by what is the same of them on both sides, without those of some tools."""
    groups: dict[_Identity, list[Finding]] = {}
    for finding in findings:
        if finding.tool not in left_out:
            groups.setdefault(_identity(finding), []).append(finding)
    return groups


def _identity(finding: Finding) -> _Identity:
    place = finding.place
    texts = (place.field if place else "", finding.resource or "", finding.message)
    return (
        finding.tool,
        finding.rule,
        place.file if place else "",
        *(_NUMBER.sub("0", text) for text in texts),
    )


def _compared(before: Sequence[Finding], after: Sequence[Finding]) -> FindingChanges:
    """Compare the findings of one identity, one by one."""
    open_before, accepted_before = _by_acceptance(before)
    open_after, accepted_after = _by_acceptance(after)
    new = _more(open_after, open_before)
    accepted = _more(accepted_after, accepted_before)
    return FindingChanges(
        new=tuple(new),
        # What is accepted now is not gone.
        fixed=tuple(_more(_more(open_before, open_after), accepted)),
        accepted=tuple(accepted),
        still_open=len(open_after) - len(new),
        still_accepted=len(accepted_after) - len(accepted),
        runs=(),
    )


def _by_acceptance(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Return the open findings, and the accepted ones."""
    return (
        [each for each in findings if each.accepted is None],
        [each for each in findings if each.accepted is not None],
    )


def _more(these: Sequence[Finding], those: Sequence[Finding]) -> list[Finding]:
    """Return what is left of some findings when each of others is paired with one of them.

    Those with the same message are paired first.
    """
    messages = Counter(each.message for each in those)
    left = []
    for each in these:
        if messages[each.message]:
            messages[each.message] -= 1
        else:
            left.append(each)
    return left[messages.total() :]


def _ran(run: ToolRun) -> bool:
    return run.state is State.RAN


def _notes(before: Side, after: Side) -> Iterator[str]:
    """Say which tools ran on one side only, and how much they found there."""
    for side, other in ((after, before), (before, after)):
        elsewhere = {run.tool: run for run in other.runs}
        for run in filter(_ran, side.runs):
            there = elsewhere.get(run.tool)
            if there and _ran(there):
                continue
            count = sum(each.tool == run.tool for each in side.findings)
            why = f": {there.reason}" if there else ""
            yield (
                f"{run.tool} ran on {side.name} only, where it finds {count}, which are neither "
                f"new nor fixed here{why}"
            )
