"""A review as Markdown, for a comment on GitHub or GitLab."""

from collections import Counter
from collections.abc import Iterable, Iterator

from trainshed.comment.report import LIMIT, MARKER
from trainshed.cost.model import Total
from trainshed.findings import Finding
from trainshed.review.fitting import Cut, ReportSection, fitted
from trainshed.review.headline import headline
from trainshed.review.markdown_text import code, fenced, in_html, prose
from trainshed.review.mermaid import mermaid
from trainshed.review.model import (
    ClusterChange,
    CostChange,
    Difference,
    Effect,
    Permission,
    ResourceChange,
    Review,
    Risk,
    StackChange,
)
from trainshed.review.wording import (
    EFFECT_NAMES,
    RISK_NAMES,
    STACK_EFFECT_NAMES,
    counted,
    effects,
    finding_title,
    growth,
    kept,
    without_result,
)

# More lines than these are folded, and more pictures.
_MOST_OPEN_LINES = 12
_MOST_OPEN_PICTURES = 2


def markdown_report(review: Review, limit: int = LIMIT) -> str:
    """Return a review as Markdown: its marker, its verdict, and its sections.

    Args:
        review: redacted.
        limit: bytes that it may have; what is cut is said in the report.
    """
    verdict = headline(review)
    start = (
        f"{MARKER}\n## Review: {prose(verdict[:1].upper() + verdict[1:])}\n\n"
        f"{prose(review.base)} → {prose(review.head)}"
    )
    if review.broken_base is not None:
        start += (
            "\n\n> **The base cannot be synthesised**, so nothing is compared: all that follows is "
            f"about the head alone. {prose(review.broken_base)}"
        )
    return fitted(start, [*_sections(review)], limit, _notice)


def _notice(cut: Counter[str]) -> str:
    what = ", ".join(f"{noun}: {number:,}" for noun, number in cut.items())
    return (
        f"> **Cut, because a comment cannot be longer** ({what}). The page has all: "
        "`--output review.html`"
    )


def _sections(review: Review) -> Iterator[ReportSection]:
    none = "none" if review.broken_base is None else "none that the head alone shows"
    yield _listed("Risks", Cut.RISKS, "risks", map(_risk, review.risks), none)
    yield from _clusters(review)
    if review.broken_base is None:
        yield from _changes(review.stacks)
        yield from _permissions(review)
    yield _cost(review)
    yield _quotas(review)
    yield from _findings(review)
    if review.notes:
        yield _listed("Notes", Cut.NOTES, "notes", map(prose, review.notes))


def _listed(
    title: str, cut: Cut, noun: str, lines: Iterable[str], without: str = ""
) -> ReportSection:
    """Return a section that is a list, or one line when there is nothing in it."""
    listed = tuple(f"- {line}" for line in lines)
    start = f"### {title}\n" if listed else f"**{title}:** {without}"
    return ReportSection(cut=cut, noun=noun, start=start, lines=listed)


def _risk(risk: Risk) -> str:
    where = f"{code(risk.stack)} {code(risk.resource)}"
    return (
        f"**{risk.level.capitalize()}: {RISK_NAMES[risk.kind]}** in {where}: "
        f"{prose(risk.message)}  \n  **Remedy:** {prose(risk.remedy)}"
    )


def _clusters(review: Review) -> Iterator[ReportSection]:
    alone = review.broken_base is not None
    shown = [each for each in review.clusters if alone or each.effect]
    same = ", ".join(prose(each.name) for each in review.clusters if each not in shown)
    if shown:
        yield ReportSection(cut=Cut.FACTS, noun="clusters", start="### Clusters")
    folded = len(shown) > _MOST_OPEN_PICTURES
    for cluster in shown:
        effect = f": {cluster.effect}" if cluster.effect else ""
        if not (cluster.facts or alone):
            effect += "; its facts stay as they are"
        yield ReportSection(
            cut=Cut.FACTS,
            noun="facts of clusters",
            start=f"#### {prose(cluster.name)} ({prose(cluster.file)}){effect}\n",
            lines=tuple(f"- {_fact(fact, alone)}" for fact in cluster.facts),
        )
        yield _picture(cluster, folded)
    if same or not shown:
        start = f"**Clusters that do not change:** {same}" if same else "**Clusters:** none"
        yield ReportSection(cut=Cut.FACTS, noun="clusters", start=start)


def _fact(fact: Difference, alone: bool) -> str:
    if alone:
        return f"{prose(fact.name)}: {code(fact.after or '')}"
    return f"{prose(fact.name)}: {_from_to(fact.before, fact.after)}"


def _from_to(before: str | None, after: str | None) -> str:
    if before is None:
        return f"{code(after or '')} (new)"
    return f"{code(before)} → {'gone' if after is None else code(after)}"


def _picture(cluster: ClusterChange, folded: bool) -> ReportSection:
    picture = (
        f"<details{'' if folded else ' open'}><summary>Picture of {in_html(cluster.name)}"
        f"</summary>\n\n{fenced('mermaid', mermaid(cluster.picture))}\n\n</details>"
    )
    return ReportSection(cut=Cut.PICTURE, noun="pictures", lines=(picture,))


def _changes(stacks: Iterable[StackChange]) -> Iterator[ReportSection]:
    stacks = tuple(stacks)
    lines = {stack.name: [*_stack_lines(stack)] for stack in stacks}
    folded = sum(map(len, lines.values())) > _MOST_OPEN_LINES
    yield ReportSection(
        cut=Cut.CHANGES,
        noun="stacks",
        start="### Changes by stack" if stacks else "**Changes by stack:** no resource differs",
    )
    for stack in stacks:
        effect = "" if stack.effect is Effect.CHANGED else f" ({STACK_EFFECT_NAMES[stack.effect]})"
        yield ReportSection(
            cut=Cut.CHANGES,
            noun="changes",
            start=f"<details{'' if folded else ' open'}><summary><b>{in_html(stack.name)}</b>"
            f"{effect}: {effects(stack.resources) or 'no resource differs'}</summary>\n",
            lines=tuple(lines[stack.name]),
            end="\n</details>",
        )


def _stack_lines(stack: StackChange) -> Iterator[str]:
    for resource in stack.resources:
        yield f"- {_resource(resource)}"
        for each in resource.properties:
            forces = (
                ", **may force a replacement**"
                if resource.effect is Effect.MAY_BE_REPLACED
                else ", **forces the replacement**"
            )
            yield (
                f"  - {code(each.path)}: {_from_to(each.before, each.after)}"
                f"{forces if each.replaces else ''}"
            )


def _resource(resource: ResourceChange) -> str:
    return (
        f"**{EFFECT_NAMES[resource.effect]}**{kept(resource)}: {code(resource.name)} "
        f"({prose(resource.resource_type)})"
    )


def _permissions(review: Review) -> Iterator[ReportSection]:
    for title, cut, noun, changes in (
        ("Permissions", Cut.PERMISSIONS, "permissions", review.permissions),
        ("Security-group rules", Cut.SECURITY_RULES, "security-group rules", review.security_rules),
    ):
        yield _listed(title, cut, noun, map(_permission, changes), "none gained or lost")


def _permission(permission: Permission) -> str:
    return (
        f"**{'gained' if permission.gained else 'lost'}** in {code(permission.stack)}: "
        f"{prose(permission.text)}"
    )


def _cost(review: Review) -> ReportSection:
    alone = review.broken_base is not None
    rows = [("all clusters", review.cost)]
    rows += [
        (prose(each.name), each.cost)
        for each in review.clusters
        if alone or not _is_same(each.cost)
    ]
    return ReportSection(
        cut=Cut.COST,
        noun="costs of clusters",
        start="### Cost per hour\n\n| | idle | at full size |\n|---|---|---|",
        lines=tuple(
            f"| {name} | {_usd(cost.idle_before, cost.idle_after, alone)} "
            f"| {_usd(cost.full_before, cost.full_after, alone)} |"
            for name, cost in rows
        ),
    )


def _is_same(cost: CostChange) -> bool:
    return cost.idle_before == cost.idle_after and cost.full_before == cost.full_after


def _usd(before: Total | None, after: Total | None, alone: bool) -> str:
    if alone or before == after:
        return "" if after is None else str(after)
    if before is None:
        return f"{after} (new)"
    return f"{before} → {'gone' if after is None else f'{after} ({growth(before, after)})'}"


def _quotas(review: Review) -> ReportSection:
    changed = [quota for quota in review.quotas if quota.before != quota.after]
    start = "### Quotas needed\n\n| quota | region | needed |\n|---|---|---|"
    return ReportSection(
        cut=Cut.QUOTAS,
        noun="quotas",
        start=start if changed else "**Quotas needed:** as before",
        lines=tuple(
            f"| {prose(quota.name)} ({prose(quota.code)}) | {prose(quota.region)} "
            f"| {quota.before:,} → {quota.after:,} |"
            for quota in changed
        ),
    )


def _findings(review: Review) -> Iterator[ReportSection]:
    found = review.findings
    yield _listed("New findings", Cut.NEW, "new findings", map(_finding, found.new), "none")
    for title, cut, findings in (
        ("fixed", Cut.FIXED, found.fixed),
        ("newly accepted", Cut.ACCEPTED, found.accepted),
    ):
        if findings:
            yield ReportSection(
                cut=cut,
                noun=f"{title} findings",
                start=f"<details><summary>{counted(len(findings), f'{title} finding')}</summary>\n",
                lines=tuple(f"- {_finding(finding)}" for finding in findings),
                end="\n</details>",
            )
    said = (
        f"As before: {found.still_open:,} open, {found.still_accepted:,} accepted.",
        *map(prose, without_result(found.runs)),
    )
    yield ReportSection(cut=Cut.NEW, noun="tools", start="  \n".join(said))


def _finding(finding: Finding) -> str:
    where = [str(finding.place)] if finding.place else []
    if finding.place and finding.place.field:
        where.append(finding.place.field)
    if finding.resource:
        where.append(finding.resource)
    at = f" {' '.join(map(code, where))}" if where else ""
    accepted = f"; accepted: {prose(finding.accepted)}" if finding.accepted else ""
    remedy = f"  \n  **Remedy:** {prose(finding.remedy)}" if finding.remedy else ""
    return (
        f"**{finding.severity}** {prose(finding_title(finding))}{at}: "
        f"{prose(finding.message)}{accepted}{remedy}"
    )
