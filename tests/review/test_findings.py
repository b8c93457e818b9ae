"""Which findings a change brings, fixes and accepts."""

from dataclasses import replace

import pytest

from trainshed.findings import Finding, Place, Severity
from trainshed.findings.tools import State, ToolRun
from trainshed.plan import Fleet
from trainshed.review.findings import finding_changes
from trainshed.review.model import FindingChanges, Side

PLACE = Place(file="clusters/train.yaml", line=4, column=3, field="instance.nodes.max")
FINDING = Finding(
    rule="TS-QUO-001", message="4 nodes need 512 vCPUs", remedy="ask for them", place=PLACE
)
OTHER = replace(FINDING, rule="TS-EFA-001", message="no EFA")
CHECKOV = replace(FINDING, rule="CKV_AWS_1", message="open", tool="checkov", resource="A/Group")
RUNS = (ToolRun(tool="checkov"), ToolRun(tool="cfn-lint"))


def side(*findings: Finding, runs: tuple[ToolRun, ...] = RUNS, name: str = "main") -> Side:
    return Side(name=name, fleet=Fleet(clusters=()), stacks={}, findings=findings, runs=runs)


def compared(before: list[Finding], after: list[Finding]) -> FindingChanges:
    changes = finding_changes(side(*before), side(*after))
    # None is lost, and none is counted twice.
    count = changes.still_open + changes.still_accepted
    assert len(changes.new) + len(changes.accepted) + count == len(after)
    assert changes.notes == ()
    return changes


def accepted(finding: Finding) -> Finding:
    return replace(finding, accepted="we know")


def test_findings_come_go_and_stay() -> None:
    changes = compared([FINDING, CHECKOV], [FINDING, OTHER])

    assert (changes.new, changes.fixed, changes.accepted) == ((OTHER,), (CHECKOV,), ())
    assert (changes.still_open, changes.still_accepted) == (1, 0)
    assert changes.runs == RUNS


@pytest.mark.parametrize(
    "same",
    [
        pytest.param({"place": replace(PLACE, line=40, column=1)}, id="line"),
        pytest.param({"message": "8 nodes need 1,024 vCPUs"}, id="numbers"),
        pytest.param({"place": replace(PLACE, field="instance.nodes.max")}, id="nothing"),
        pytest.param({"severity": Severity.ERROR}, id="severity"),
        pytest.param({"remedy": "ask for 8"}, id="remedy"),
    ],
)
def test_a_finding_stays_the_same(same: dict[str, object]) -> None:
    changes = compared([FINDING], [replace(FINDING, **same)])  # type: ignore[arg-type]

    assert (changes.new, changes.fixed, changes.still_open) == ((), (), 1)


def test_an_item_that_moves_in_a_list_is_the_same() -> None:
    first, second = (
        replace(FINDING, place=replace(PLACE, field=f"job.buckets.{index}")) for index in (0, 1)
    )

    assert compared([first], [second]).still_open == 1


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"rule": "TS-QUO-002"}, id="rule"),
        pytest.param({"tool": "cfn-lint"}, id="tool"),
        pytest.param({"place": replace(PLACE, file="clusters/dl1.yaml")}, id="file"),
        pytest.param({"place": replace(PLACE, field="zone")}, id="field"),
        pytest.param({"place": None}, id="no place"),
        pytest.param({"resource": "TrainCluster/Nodes"}, id="resource"),
        pytest.param({"message": "4 nodes need 512 GPUs"}, id="message"),
    ],
)
def test_a_finding_about_something_else_is_another(other: dict[str, object]) -> None:
    another = replace(FINDING, **other)  # type: ignore[arg-type]

    changes = compared([FINDING], [another])

    assert (changes.new, changes.fixed, changes.still_open) == ((another,), (FINDING,), 0)


def test_duplicates_are_counted() -> None:
    eight = replace(FINDING, message="8 nodes need 1024 vCPUs")

    more = compared([FINDING], [eight, FINDING, eight])
    less = compared([FINDING, eight, eight], [eight])

    assert (more.new, more.still_open) == ((eight, eight), 1)
    assert (less.fixed, less.still_open) == ((FINDING, eight), 1)


def test_acceptance_is_neither_a_fix_nor_a_new_finding() -> None:
    changes = compared([FINDING, OTHER], [accepted(FINDING), OTHER])

    assert (changes.new, changes.fixed) == ((), ())
    assert changes.accepted == (accepted(FINDING),)
    assert (changes.still_open, changes.still_accepted) == (1, 0)


def test_what_is_accepted_no_more_is_new() -> None:
    changes = compared([accepted(FINDING)], [FINDING])

    assert (changes.new, changes.fixed, changes.accepted) == ((FINDING,), (), ())


def test_what_is_accepted_from_the_start_is_accepted() -> None:
    changes = compared([], [accepted(FINDING)])

    assert (changes.new, changes.accepted) == ((), (accepted(FINDING),))


def test_what_was_accepted_and_is_gone_is_no_fix() -> None:
    changes = compared([accepted(FINDING), accepted(OTHER)], [accepted(OTHER)])

    assert (changes.fixed, changes.still_accepted) == ((), 1)


def test_of_two_alike_one_is_accepted_and_one_fixed() -> None:
    changes = compared([FINDING, FINDING], [accepted(FINDING)])

    assert (changes.accepted, changes.fixed) == ((accepted(FINDING),), (FINDING,))


def test_without_a_base_nothing_is_new() -> None:
    changes = finding_changes(None, side(FINDING, FINDING, accepted(OTHER), CHECKOV))

    assert (changes.new, changes.fixed, changes.accepted, changes.notes) == ((), (), (), ())
    assert (changes.still_open, changes.still_accepted) == (3, 1)


FAILED = ToolRun(tool="checkov", state=State.FAILED, reason="it broke")


@pytest.mark.parametrize("lacks", [(FAILED, RUNS[1]), (RUNS[1],)])
def test_a_tool_that_ran_on_one_side_only_is_not_compared(lacks: tuple[ToolRun, ...]) -> None:
    gone = finding_changes(side(CHECKOV, OTHER), side(OTHER, runs=lacks, name="the working tree"))
    come = finding_changes(
        side(OTHER, runs=lacks), side(CHECKOV, CHECKOV, OTHER, name="the working tree")
    )

    why = ": it broke" if FAILED in lacks else ""
    for changes in (gone, come):
        assert (changes.new, changes.fixed, changes.still_open) == ((), (), 1)
    assert gone.notes == (
        "checkov ran on main only, where it finds 1, which are neither new nor fixed here" + why,
    )
    assert come.notes == (
        "checkov ran on the working tree only, where it finds 2, which are neither new nor fixed "
        "here" + why,
    )


def test_a_tool_that_ran_on_neither_side_says_nothing() -> None:
    changes = finding_changes(side(OTHER, runs=(FAILED,)), side(OTHER, runs=(FAILED,)))

    assert (changes.notes, changes.still_open) == ((), 1)
