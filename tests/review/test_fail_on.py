"""Thresholds of `trainshed review --fail-on`: what they read, and when they are met."""

from dataclasses import replace
from typing import Any

import pytest

from trainshed.cost.model import Total
from trainshed.errors import UnknownName
from trainshed.findings import Finding, Place, Severity
from trainshed.findings.tools import State, ToolRun
from trainshed.review.fail_on import failures, parse_fail_on
from trainshed.review.model import CostChange, FindingChanges, Level, Review, Risk, RiskKind

NO_COST = CostChange(idle_before=None, idle_after=None, full_before=None, full_after=None)
NO_FINDINGS = FindingChanges(new=(), fixed=(), accepted=(), still_open=0, still_accepted=0, runs=())
QUIET = Review(
    base="origin/main (1a2b3c4)",
    head="the working tree",
    broken_base=None,
    notes=(),
    risks=(),
    stacks=(),
    permissions=(),
    security_rules=(),
    clusters=(),
    cost=NO_COST,
    quotas=(),
    findings=NO_FINDINGS,
)
KINDS = [kind.value for kind in RiskKind]
ALL = ",".join((*KINDS, "high", "medium", "findings", "cost>10%", "cost>25", "idle-cost>0"))


def met(review: Review, fail_on: str) -> tuple[str, ...]:
    return failures(review, parse_fail_on(fail_on))


def with_risk(kind: RiskKind, level: Level = Level.MEDIUM) -> Review:
    risk = Risk(
        kind=kind,
        level=level,
        stack="TrainClusterStorage",
        resource="FileSystem",
        message="it is replaced, and its files are gone",
        remedy="ask the author",
    )
    return replace(QUIET, risks=(risk,))


def with_new(severity: Severity, **details: Any) -> Review:
    finding = Finding(rule="TS-NET-001", severity=severity, message="odd", remedy="", **details)
    return replace(QUIET, findings=replace(NO_FINDINGS, new=(finding,)))


def costing(before: Total | None, after: Total | None) -> Review:
    return replace(QUIET, cost=replace(NO_COST, full_before=before, full_after=after))


def usd(amount: float, *unknown: str) -> Total:
    return Total(usd=amount, unknown=unknown)


def test_a_change_without_consequences_meets_no_threshold() -> None:
    assert met(QUIET, f"{ALL},broken-base") == ()


@pytest.mark.parametrize("kind", RiskKind)
def test_a_kind_of_risk_is_met_by_that_kind_alone(kind: RiskKind) -> None:
    review = with_risk(kind)

    assert met(review, ",".join(KINDS)) == (
        f"{kind}: TrainClusterStorage, FileSystem: it is replaced, and its files are gone",
    )


@pytest.mark.parametrize(
    ("level", "items"),
    [(Level.HIGH, ["high", "medium"]), (Level.MEDIUM, ["medium"])],
)
def test_a_level_is_met_by_risks_of_it_or_above(level: Level, items: list[str]) -> None:
    lines = met(with_risk(RiskKind.REPLACED, level), "high,medium,findings")

    assert [line.partition(":")[0] for line in lines] == items
    assert "replaced in TrainClusterStorage, FileSystem" in lines[0]


@pytest.mark.parametrize(
    ("severity", "items"),
    [
        (Severity.ERROR, ["high", "medium", "findings"]),
        (Severity.WARNING, ["medium", "findings"]),
        (Severity.INFO, []),
    ],
)
def test_a_new_finding_meets_what_its_severity_is_for(severity: Severity, items: list[str]) -> None:
    lines = met(with_new(severity), "high,medium,findings")

    assert [line.partition(":")[0] for line in lines] == items


def test_a_new_finding_that_is_accepted_meets_nothing() -> None:
    assert met(with_new(Severity.ERROR, accepted="known"), "high,medium,findings") == ()


def test_findings_that_were_there_before_meet_nothing() -> None:
    old = replace(
        NO_FINDINGS, still_open=3, still_accepted=2, fixed=with_new(Severity.ERROR).findings.new
    )

    assert met(replace(QUIET, findings=old), "high,medium,findings") == ()


def test_the_line_of_a_finding_says_which_and_where() -> None:
    place = Place(file="clusters/train.yaml", line=4, column=3)

    assert met(with_new(Severity.ERROR, place=place), "high") == (
        "high: new error TS-NET-001: clusters/train.yaml:4:3: odd",
    )


@pytest.mark.parametrize(
    ("state", "lines"),
    [
        (State.FAILED, 3),
        (State.NOT_RUN, 0),
        (State.RAN, 0),
    ],
)
def test_a_tool_that_failed_hides_findings(state: State, lines: int) -> None:
    run = ToolRun(tool="cfn-lint", state=state, reason="it ran out of memory")
    review = replace(QUIET, findings=replace(NO_FINDINGS, runs=(run,)))

    found = met(review, "high,medium,findings,replaced")

    assert len(found) == lines
    assert all("cfn-lint failed" in line and "out of memory" in line for line in found)


@pytest.mark.parametrize(
    ("before", "after", "items"),
    [
        pytest.param(usd(100), usd(110), [], id="just-10%"),
        pytest.param(usd(100), usd(110.01), ["cost>10%"], id="above-10%"),
        pytest.param(usd(1000), usd(1025), [], id="just-25"),
        pytest.param(usd(1000), usd(1025.01), ["cost>25"], id="above-25"),
        pytest.param(usd(10), usd(40), ["cost>10%", "cost>25"], id="both"),
        pytest.param(usd(40), usd(10), [], id="cheaper"),
        pytest.param(usd(0), usd(0.01), ["cost>10%"], id="from-0"),
        pytest.param(None, usd(0.01), ["cost>10%"], id="from-nothing"),
        pytest.param(usd(40), None, [], id="to-nothing"),
        pytest.param(None, None, [], id="nothing"),
        pytest.param(usd(0.3), usd(0.1 + 0.2 + 0.03), [], id="rounding"),
        pytest.param(usd(10, "NAT"), usd(11, "NAT"), [], id="same-unknown"),
        pytest.param(usd(10, "NAT"), usd(12, "NAT"), ["cost>10%"], id="dearer-beside-unknown"),
        pytest.param(usd(10), usd(10, "NAT"), ["cost>10%", "cost>25"], id="new-unknown"),
        pytest.param(usd(10, "NAT"), usd(10), ["cost>10%", "cost>25"], id="unknown-gone"),
    ],
)
def test_the_cost_is_that_of_all_clusters_at_full_size(
    before: Total | None, after: Total | None, items: list[str]
) -> None:
    lines = met(costing(before, after), "cost>10%,cost>25,idle-cost>0")

    assert [line.partition(":")[0] for line in lines] == items


def test_the_line_of_a_cost_has_both_sides_and_the_difference() -> None:
    assert met(costing(usd(100), usd(150)), "cost>12.5%") == (
        "cost>12.5%: at full size, an hour costs 150.00 USD instead of 100.00 USD: "
        "50.00 USD more, 50.0%",
    )


def test_a_cost_that_cannot_be_judged_says_whose_price_is_missing() -> None:
    [line] = met(costing(usd(10), usd(99, "instances, on-demand")), "cost>10%")

    assert "cannot be judged" in line and "instances, on-demand" in line


def test_the_idle_cost_is_another_one() -> None:
    review = replace(QUIET, cost=replace(NO_COST, idle_before=usd(1), idle_after=usd(3)))

    assert met(review, "cost>10%,idle-cost>10%,idle-cost>2") == (
        "idle-cost>10%: idle, an hour costs 3.00 USD instead of 1.00 USD: 2.00 USD more, 200.0%",
    )


def test_beside_a_broken_base_nothing_can_be_judged() -> None:
    broken = replace(QUIET, broken_base="app.py: line 3", cost=replace(NO_COST, full_after=usd(9)))

    lines = met(broken, ALL)

    assert [line.partition(":")[0] for line in lines] == ALL.split(",")
    assert all(
        "cannot be judged, because origin/main (1a2b3c4) cannot be synthesised" in line
        for line in lines
    )


def test_a_broken_base_is_a_threshold_too() -> None:
    broken = replace(QUIET, broken_base="app.py: line 3")

    assert met(broken, "broken-base") == ("broken-base: origin/main (1a2b3c4): app.py: line 3",)


def test_a_line_names_the_first_three_and_counts_the_others() -> None:
    [risk] = with_risk(RiskKind.REPLACED).risks
    risks = tuple(replace(risk, resource=f"Queue{number}") for number in range(5))

    [line] = met(replace(QUIET, risks=risks), "replaced")

    assert "Queue2" in line and "Queue3" not in line
    assert line.endswith("; and 2 more")


def test_spaces_and_repetitions_do_not_matter() -> None:
    assert len(met(with_risk(RiskKind.DATA_LOSS), " data-loss , data-loss,high")) == 1


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("data-los", "data-loss"),
        ("hihg", "high"),
        ("cost", "cost>25"),
        ("cost>10 %", "cost>10%"),
        ("cost>=10%", "cost>10%"),
        ("High", "high"),
    ],
)
def test_what_is_no_threshold_is_refused_and_the_nearest_named(text: str, near: str) -> None:
    with pytest.raises(UnknownName, match=f"threshold '{text}' is not known; did you") as caught:
        parse_fail_on(f"high,{text}")

    said = str(caught.value)
    assert f"did you mean {near}?" in said
    assert all(name in said for name in (*KINDS, "medium", "findings", "broken-base", "cost>25"))


@pytest.mark.parametrize("text", ["", ",", "high,", " "])
def test_an_empty_threshold_is_refused(text: str) -> None:
    with pytest.raises(UnknownName, match="threshold '' is not known"):
        parse_fail_on(text)
