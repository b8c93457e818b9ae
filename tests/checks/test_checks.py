"""Rules over a plan, and what a cluster file says about their findings."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from trainshed.checks import ClusterInFleet, judge
from trainshed.findings import Finding, Place, Rule, Severity
from trainshed.findings.pages import examples
from trainshed.findings.rule import all_rules, checks_of
from trainshed.findings.text import accepted_lines
from trainshed.plan import ClusterPlan, Fleet
from trainshed.spec import SpecError

RULES = tuple(rule for rule in all_rules().values() if "cluster file" in examples(rule))
CLEAN = "name: Example\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"

Judged = Callable[[str], tuple[Finding, ...]]


@pytest.fixture
def judged(planned: Callable[[str], ClusterPlan]) -> Judged:
    """Judge the cluster of a file's text."""
    return lambda text: judge(planned(text))


def doubts(findings: tuple[Finding, ...]) -> list[Finding]:
    """Leave out what is only good to know."""
    return [finding for finding in findings if finding.severity is not Severity.INFO]


def ids(rule: Rule) -> str:
    """Name a rule in the name of a test."""
    return rule.id


def test_a_cluster_of_defaults_has_nothing_that_fails_a_check(judged: Judged) -> None:
    assert [finding for finding in judged(CLEAN) if finding.fails] == []


@pytest.mark.parametrize("rule", RULES, ids=ids)
def test_each_rule_has_a_title_of_one_line_and_sources(rule: Rule) -> None:
    assert "\n" not in rule.title
    assert not rule.title.endswith(".")
    assert all(source.startswith("https://") for source in rule.sources)
    assert rule.sources
    assert examples(rule)["cluster file"].startswith("name: Example\n")


def test_a_finding_stands_at_the_line_and_column_of_its_field(judged: Judged) -> None:
    (finding,) = doubts(
        judged(
            "name: Example\nregion: us-west-2\nzone: us-west-2a\ninstance: {type: trn1.32xlarge}\n"
        )
    )

    assert finding.place
    assert (finding.place.line, finding.place.column, finding.place.field) == (3, 1, "zone")


def test_a_finding_in_a_mapping_on_one_line_has_the_column_of_its_key(judged: Judged) -> None:
    found = judged("name: Example\nregion: us-west-2\ninstance: {type: dl1.24xlarge}\n")

    [finding] = [each for each in found if each.rule == "TS-LIF-001"]
    assert finding.place
    assert (finding.place.line, finding.place.column) == (3, 12)


ACCEPTED = """
findings:
  accept: {TS-ZON-001: one account only}
"""
ERROR = """
findings:
  severity: {TS-ZON-001: error}
"""
BY_NAME = CLEAN + "zone: us-west-2a\n"


def test_an_accepted_finding_is_shown_with_its_reason_and_fails_nothing(judged: Judged) -> None:
    (finding,) = doubts(judged(BY_NAME + ACCEPTED))

    assert finding.accepted == "one account only"
    assert not finding.fails


def test_a_cluster_file_may_say_another_severity(judged: Judged) -> None:
    (finding,) = doubts(judged(BY_NAME + ERROR))

    assert finding.severity is Severity.ERROR


def test_findings_come_with_the_most_severe_first_and_accepted_ones_last(judged: Judged) -> None:
    text = (
        BY_NAME.replace("trn1.32xlarge", "p3dn.24xlarge")
        + "job: {timeout_hours: 240}\n"
        + "findings:\n  accept: {TS-AMI-003: a GPU of another kind comes soon}\n"
        + "  severity: {TS-ZON-001: error}\n"
    )

    assert [finding.rule for finding in doubts(judged(text))] == [
        "TS-ZON-001",
        "TS-JOB-001",
        "TS-AMI-003",
    ]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("accept: {TS-ZON-001: ''}", "a reason on one line"),
        ("accept: [TS-ZON-001]", "not a mapping"),
        ("severity: {TS-ZON-001: fatal}", "allowed: error, warning, info"),
        ("accept: {'TS ZON': because}", "did you mean TS-ZON?"),
    ],
)
def test_what_a_file_says_about_findings_must_have_its_form(
    judged: Judged, said: str, words: str
) -> None:
    with pytest.raises(SpecError) as refused:
        judged(CLEAN + f"findings: {{{said}}}\n")

    assert words in str(refused.value)
    assert "a.yaml:4" in str(refused.value)


def test_what_a_file_says_about_findings_is_data_for_json(judged: Judged) -> None:
    (finding,) = doubts(judged(BY_NAME))

    assert json.dumps(finding.severity) == '"warning"'


def test_a_rule_accepted_for_many_reasons_gets_one_line() -> None:
    few = [
        Finding(
            rule="TS-ZON-001",
            message="zones",
            remedy="",
            place=Place(file=file),
            accepted=reason,
        )
        for file, reason in (("a.yaml", "one"), ("b.yaml", "one"), ("a.yaml", "two"))
    ]
    many = [
        replace(few[0], rule="W3005", tool="cfn-lint", accepted=reason)
        for reason in ("one", "two", "three", "four", "four")
    ]

    assert list(accepted_lines([*many, *few])) == [
        "a.yaml: accepted W3005 (cfn-lint), 5 times: 4 reasons, which --json shows",
        "accepted TS-ZON-001, 2 times: one",
        "a.yaml: accepted TS-ZON-001: two",
    ]


def test_a_rule_of_one_orchestrator_is_not_applied_to_others(
    planned: Callable[[str], ClusterPlan],
) -> None:
    text = f"{CLEAN}orchestrator: ec2\n"
    own = [check for check in checks_of("check") if check.orchestrators == ("batch",)]

    def judged_by(plan: ClusterPlan) -> set[str]:
        whole = ClusterInFleet(plan=plan, fleet=Fleet(clusters=(plan,)))
        return {check.rule_id for check in own if [*check.parts(whole)] == [plan]}

    assert {"TS-BAT-004", "TS-EFA-001", "TS-JOB-001"} <= {check.rule_id for check in own}
    assert judged_by(planned(CLEAN)) == {check.rule_id for check in own}
    assert judged_by(planned(text)) == set()
