"""The key and the rules for roles that a cluster file asks for."""

from collections.abc import Callable

import pytest

from trainshed.checks import judge
from trainshed.plan import ClusterPlan

KEY = "arn:aws:kms:us-west-2:123456789012:key/0a1b2c3d-4e5f-6789-abcd-ef0123456789"
BOUNDARY = "arn:aws:iam::123456789012:policy/teams/TeamBoundary"
GROUP = "arn:aws:resource-groups:us-west-2:123456789012:group/Blocks"
HEAD = "name: Cluster1\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"

Problems = Callable[..., list[str]]
Planned = Callable[[str], ClusterPlan]


@pytest.mark.parametrize(
    ("added", "line"),
    [
        (
            f"kms_key: {KEY.replace('arn:aws:', 'arn:aws-cn:')}",
            "a.yaml:4: kms_key: is a key of the partition aws-cn; give one of aws",
        ),
        (
            f"kms_key: {KEY.replace('us-west-2', 'us-east-1')}",
            "a.yaml:4: kms_key: is a key of us-east-1; give one of us-west-2",
        ),
        (
            f"capacity: {{capacity_block: {GROUP.replace('us-west-2', 'us-east-1')!r}}}",
            "a.yaml:4: capacity.capacity_block: is a resource group of us-east-1; give one of "
            "us-west-2",
        ),
        (
            f'account: "210987654321"\ncapacity: {{capacity_block: "{GROUP}"}}',
            "a.yaml:5: capacity.capacity_block: is a resource group of account 123456789012; give "
            "one of 210987654321",
        ),
        (
            f'account: "210987654321"\niam: {{boundary: "{BOUNDARY}"}}',
            f"a.yaml:5: iam.boundary: {BOUNDARY} is of account 123456789012: IAM takes policies of "
            "the role's own account, 210987654321, and of AWS only; make one there",
        ),
        (
            f"iam: {{boundary: {BOUNDARY.replace('arn:aws:', 'arn:aws-cn:')!r}}}",
            f"a.yaml:4: iam.boundary: {BOUNDARY.replace('arn:aws:', 'arn:aws-cn:')} is of the "
            "partition aws-cn; give one of aws",
        ),
    ],
)
def test_what_is_named_from_elsewhere_is_refused(problems: Problems, added: str, line: str) -> None:
    assert problems(HEAD + added) == [line]


@pytest.mark.parametrize(
    ("added", "field"),
    [
        ("kms_key: alias/mine", "kms_key"),
        ("kms_key: 0a1b2c3d-4e5f-6789-abcd-ef0123456789", "kms_key"),
        ("iam: {boundary: TeamBoundary}", "iam.boundary"),
        ("iam: {prefix: 'team/a/'}", "iam.prefix"),
        (f"iam: {{prefix: {'a' * 25}}}", "iam.prefix"),
    ],
)
def test_another_form_is_refused(problems: Problems, added: str, field: str) -> None:
    [line] = problems(HEAD + added)

    assert line.startswith(f"a.yaml:4: {field}: ")
    assert "is not allowed" in line


def test_what_was_asked_is_decided_and_reported(planned: Planned) -> None:
    plan = planned(HEAD + f"kms_key: {KEY}\niam: {{boundary: {BOUNDARY!r}, prefix: team-a-}}")

    decided = {each.field: each.value for each in plan.decisions}
    assert decided["encryption"] == KEY
    assert decided["permissions boundary"] == BOUNDARY
    assert decided["role names"] == "team-a-..."
    assert (plan.security.kms_key, plan.security.role_prefix) == (KEY, "team-a-")


def test_a_policy_of_aws_bounds_roles_of_any_account(planned: Planned) -> None:
    boundary = "arn:aws:iam::aws:policy/PowerUserAccess"

    plan = planned(HEAD + f'account: "210987654321"\niam: {{boundary: "{boundary}"}}')

    assert plan.security.boundary == boundary


@pytest.mark.parametrize(
    ("deployment", "rules"),
    [("scratch-2", ["TS-SEC-001", "TS-SEC-005"]), ("persistent-2", ["TS-SEC-005"])],
)
def test_a_key_that_does_not_reach_lustre_is_a_finding(
    planned: Planned, deployment: str, rules: list[str]
) -> None:
    plan = planned(HEAD + f"kms_key: {KEY}\nstorage: {{lustre: {{deployment: {deployment}}}}}")

    found = [each.rule for each in judge(plan)]
    assert sorted(rule for rule in found if rule.startswith("TS-SEC")) == rules


def test_clusters_that_share_a_stack_agree_on_its_key(problems: Problems) -> None:
    shared = "network: {name: shared}\n"

    lines = problems(HEAD + shared, HEAD.replace("Cluster1", "Other") + shared + f"kms_key: {KEY}")

    assert lines == [
        "b.yaml:4: network: shares the stack SharedNetwork with Cluster1 (a.yaml:4), but differs "
        f"from it: kms_key is {KEY} here and not set there"
    ]
