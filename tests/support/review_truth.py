"""Changes with what AWS makes of them, by its documents, and what the review says about each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from trainshed.app.synthesis import SynthesisedStack
from trainshed.review.changes import compare_templates
from trainshed.review.risks import risks

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "tests" / "review" / "truth"
ROLE = "AWS::IAM::Role"
Resources = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """One change.

    Attributes:
        name: unique.
        table: name of its file.
        danger: the kind of risk that it is; None for harmless.
        before: the resources of a stack before it.
        after: those after it.
        wrong: why the review is wrong about it; None where it is right.
        aws: what AWS does.
        source: the page that says so.
    """

    name: str
    table: str
    danger: str | None
    before: Resources
    after: Resources
    wrong: str | None
    aws: str
    source: str


def truths() -> tuple[Truth, ...]:
    """Return all changes."""
    return tuple(
        _truth(path.stem, entry)
        for path in sorted(TABLES.glob("*.yaml"))
        for entry in yaml.safe_load(path.read_text(encoding="utf-8"))
    )


def said() -> dict[str, set[str]]:
    """Return the kinds of risks that the review sees in each change, by its name."""
    before, after = (
        {
            truth.name: SynthesisedStack(
                path=truth.name,
                region="us-west-2",
                file=Path(f"{truth.name}.json"),
                template={"Resources": getattr(truth, side)},
            )
            for truth in truths()
        }
        for side in ("before", "after")
    )
    found: dict[str, set[str]] = {name: set() for name in before}
    for risk in risks(before, after, compare_templates(before, after, ROOT)):
        found[risk.stack].add(risk.kind)
    return found


def page_lines(found: Mapping[str, set[str]]) -> tuple[str, str]:
    """Return what docs/review.md says: the table of figures, and what is wrong and why."""
    entries = truths()
    tables = sorted({each.table for each in entries})
    rows = [
        "| changes | dangerous | missed | harmless | false alarms |",
        "|---|---|---|---|---|",
        *(_row(f"`{name}.yaml`", [each for each in entries if each.table == name], found)
          for name in tables),
        _row("all", entries, found),
    ]  # fmt: skip
    wrong = [
        f"- {'missed' if each.danger else 'false alarm'}: `{each.name}`: {each.wrong}"
        for each in entries
        if each.wrong
    ]
    return "\n".join(rows), "\n".join(wrong)


def is_right(truth: Truth, found: Mapping[str, set[str]]) -> bool:
    """Return whether the review names the danger of a change, or none where there is none."""
    kinds = found[truth.name]
    return truth.danger in kinds if truth.danger else not kinds


def _row(name: str, entries: Sequence[Truth], found: Mapping[str, set[str]]) -> str:
    cells = [name]
    for dangerous in (True, False):
        judged = [each for each in entries if bool(each.danger) is dangerous]
        wrong = sum(not is_right(each, found) for each in judged)
        cells += [str(len(judged)), f"{wrong} ({wrong / len(judged):.0%})"]
    return f"| {' | '.join(cells)} |"


def _truth(table: str, entry: Mapping[str, Any]) -> Truth:
    before, after = (dict(_resources(entry, side)) for side in ("before", "after"))
    return Truth(
        name=entry["id"],
        table=table,
        danger=entry.get("danger"),
        before=before,
        after=after,
        wrong=entry.get("missed") or entry.get("false_alarm"),
        aws=entry["aws"],
        source=entry["source"],
    )


def _resources(entry: Mapping[str, Any], side: str) -> Iterator[tuple[str, Any]]:
    """Yield the resources of a side, as the head of `data.yaml` describes them."""
    if f"resources_{side}" in entry:
        yield from entry[f"resources_{side}"].items()
    elif entry.get(side) is not None:
        yield (
            "It",
            {
                "Type": entry["type"],
                "Properties": entry[side],
                **entry.get(f"attributes_{side}", {}),
            },
        )
    if side == "after" and entry.get("allow"):
        yield "Policy", _policy(entry["allow"])
    if side == "before" and "deny_before" in entry:
        yield "Policy", _policy({"Effect": "Deny", **entry["deny_before"]})
    if side == "after" and "trust" in entry:
        statement = {"Effect": "Allow", "Action": "sts:AssumeRole", **entry["trust"]}
        document = {"Statement": [statement]}
        yield "It", {"Type": ROLE, "Properties": {"AssumeRolePolicyDocument": document}}


def _policy(statement: Mapping[str, Any]) -> Resources:
    document = {"Statement": [{"Effect": "Allow", **statement}]}
    properties = {"PolicyName": "p", "Roles": ["r"], "PolicyDocument": document}
    return {"Type": "AWS::IAM::Policy", "Properties": properties}
