"""Whether what the cluster file says about findings still has a meaning."""

from collections.abc import Collection, Iterator, Set

from trainshed.checks.rule import Violation, all_rules, fleet_rule, rule
from trainshed.checks.rule_ids import OURS, tools_of
from trainshed.errors import did_you_mean
from trainshed.findings import Severity
from trainshed.plan import ClusterPlan, Fleet
from trainshed.spec import FindingsSpec

UNKNOWN = "TS-FND-001"
UNUSED = "TS-FND-002"
# `trainshed preflight` has these: they are about the account.
_ABOUT_THE_ACCOUNT = ("TS-ACC-", "TS-IMG-")


@rule(
    UNKNOWN,
    title="The cluster file names a rule that there is not",
    why="""
`findings.accept` and `findings.severity` name rules by their ids: ours, or those of cdk-preflight,
cdk-nag, CDK, cfn-lint and checkov. With a wrong id nothing is accepted, and nothing says so.
""",
    sources=(
        "https://github.com/badmintoncryer/cdk-preflight#bundled-rules",
        "https://github.com/cdklabs/cdk-nag/blob/main/RULES.md",
        "https://github.com/aws-cloudformation/cfn-lint",
        "https://www.checkov.io/5.Policy%20Index/cloudformation.html",
    ),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge}
findings:
  accept: {TS-ZON-1: our accounts share one mapping of zones}
""",
)
def unknown_rule(plan: ClusterPlan) -> Iterator[Violation]:
    """An id must be that of a rule."""
    for field, rule_id in _named(plan.findings):
        tools = tools_of(rule_id)
        is_ours = rule_id in all_rules() or rule_id.startswith(_ABOUT_THE_ACCOUNT)
        if not tools or (tools == (OURS,) and not is_ours):
            yield _unknown(field, rule_id, all_rules())


def unknown_about_the_account(said: FindingsSpec, known: Collection[str]) -> Iterator[Violation]:
    """Return the same for the rules over an account, of which `known` are all."""
    for field, rule_id in _named(said):
        if rule_id.startswith(_ABOUT_THE_ACCOUNT) and rule_id not in known:
            yield _unknown(field, rule_id, known)


def _named(said: FindingsSpec) -> Iterator[tuple[str, str]]:
    for field, ids in (("accept", said.accept), ("severity", said.severity)):
        for rule_id in ids:
            yield field, rule_id


def _unknown(field: str, rule_id: str, known: Collection[str]) -> Violation:
    near = did_you_mean(rule_id, tuple(known))
    return Violation(
        path=("findings", field, rule_id),
        message=f"{rule_id} is no rule of trainshed or of another tool{near}",
        remedy="write the id as a finding shows it, or take the line out",
    )


@fleet_rule(
    UNUSED,
    title="An accepted finding is no longer found",
    severity=Severity.INFO,
    why="""
The rule finds nothing any more, because the cluster or the rule changed. The acceptance would
hide it when it comes back for another reason.
""",
    sources=("https://docs.astral.sh/ruff/rules/unused-noqa/",),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge}
findings:
  accept: {TS-ZON-001: our accounts share one mapping of zones}
""",
)
def unused_acceptance(plan: ClusterPlan, fleet: Fleet) -> Iterator[Violation]:
    """An acceptance of one of our own rules should find something."""
    for rule_id in plan.findings.accept:
        accepted = all_rules().get(rule_id)
        # Of itself it cannot be asked: that would never end.
        if accepted and rule_id != UNUSED and not any(accepted.check(plan, fleet)):
            yield _unused(rule_id)


def unused_of_other_tools(
    said: FindingsSpec, ran: Set[str], found: Set[str]
) -> Iterator[Violation]:
    """Return the same for the rules of other tools.

    Args:
        said: what the cluster file says about findings.
        ran: the tools that ran; of another one nothing is known.
        found: the rules that found something.
    """
    for rule_id in said.accept:
        tools = set(tools_of(rule_id)) - {OURS}
        if tools and tools <= ran and rule_id not in found:
            yield _unused(rule_id)


def _unused(rule_id: str) -> Violation:
    return Violation(
        path=("findings", "accept", rule_id),
        message=f"{rule_id} is accepted, and nothing finds it any more",
        remedy="take the line out",
    )
