"""What a cluster file says about findings, when it has no meaning."""

from collections.abc import Callable

import pytest

from trainshed.checks import judge
from trainshed.findings import Finding, Severity
from trainshed.findings.acceptance import accept
from trainshed.plan import ClusterPlan

CLEAN = "name: Example\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
Planned = Callable[[str], ClusterPlan]


def said(planned: Planned, findings: str, cluster: str = CLEAN) -> list[tuple[str, str]]:
    """Return rule and message of what is found wrong in what a cluster says about findings."""
    plan = planned(f"{cluster}findings: {{{findings}}}\n")
    found = [each for each in judge(plan) if each.rule.startswith("TS-FND-") and not each.accepted]
    return [(each.rule, each.message) for each in found]


@pytest.mark.parametrize("field", ["accept: {TS-ZON-01: one}", "severity: {TS-ZON-01: info}"])
def test_an_id_that_no_rule_has_is_found_with_the_nearest_one(planned: Planned, field: str) -> None:
    ((rule, message),) = said(planned, field)

    assert rule == "TS-FND-001"
    assert (
        "TS-ZON-01 is not a rule of trainshed or of another tool; did you mean TS-ZON-0" in message
    )


@pytest.mark.parametrize(
    "rule", ["pf-iam-role-name", "AwsSolutions-IAM5", "W3010", "E3001", "CKV_AWS_18", "CKV2_AWS_5"]
)
def test_ids_of_other_tools_are_taken_by_their_form(planned: Planned, rule: str) -> None:
    assert said(planned, f"accept: {{{rule}: because}}") == []


def test_rules_about_the_account_are_known(planned: Planned) -> None:
    assert said(planned, "accept: {TS-ACC-010: because}") == []


def test_an_acceptance_of_what_is_found_is_not_pointed_out(planned: Planned) -> None:
    by_name = CLEAN + "zone: us-west-2a\n"

    assert said(planned, "accept: {TS-ZON-001: one account}", by_name) == []


def test_an_acceptance_that_finds_nothing_fails_no_check(planned: Planned) -> None:
    plan = planned(f"{CLEAN}findings: {{accept: {{TS-ZON-001: one account}}}}\n")

    (finding,) = (each for each in judge(plan) if each.rule.startswith("TS-FND-"))

    assert (finding.rule, finding.severity, finding.fails) == ("TS-FND-002", Severity.INFO, False)
    assert finding.place
    assert finding.place.field == "findings.accept.TS-ZON-001"


def test_the_rule_about_acceptances_may_be_accepted_itself(planned: Planned) -> None:
    both = "accept: {TS-FND-002: they stay, TS-ZON-001: one account}"

    assert said(planned, both) == []


@pytest.mark.parametrize(
    ("rule", "ran", "found", "unused"),
    [
        pytest.param("CKV_AWS_18", {"checkov"}, set(), True, id="found-nothing"),
        pytest.param("CKV_AWS_18", {"checkov"}, {"CKV_AWS_18"}, False, id="found"),
        pytest.param("CKV_AWS_18", {"cfn-lint"}, set(), False, id="did-not-run"),
        pytest.param("W3010", {"cdk"}, set(), False, id="one-of-two-did-not-run"),
        pytest.param("W3010", {"cdk", "cfn-lint"}, set(), True, id="both-found-nothing"),
        pytest.param("TS-ZON-001", {"checkov"}, set(), False, id="ours"),
    ],
)
def test_an_acceptance_is_unused_when_every_tool_that_has_the_rule_ran(
    planned: Planned, rule: str, ran: set[str], found: set[str], unused: bool
) -> None:
    plan = planned(f"{CLEAN}findings: {{accept: {{{rule}: because}}}}\n")
    others = [Finding(rule=each, message="", remedy="", tool="x") for each in found]

    judged = accept(plan.findings, plan.where, others, applied=set(), tools=ran)

    assert ("TS-FND-002" in {each.rule for each in judged}) is unused
