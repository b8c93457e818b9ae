"""How a policy's elements are read."""

from typing import Any

import pytest

from embedded_aws.iam.policy_evaluation import allows

BUCKET = "arn:aws:s3:::data"


def allowed(statement: dict[str, Any], **context: list[str]) -> bool:
    policy = {"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*", **statement}}
    return allows([policy], "s3:GetObject", f"{BUCKET}/a[1]", lambda key: context.get(key, []))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ({"Action": "S3:getobject"}, True),
        ({"Action": ["s3:Put*", "s3:Get?bject"]}, True),
        ({"Action": "s3:Get"}, False),
        ({"Resource": f"{BUCKET}/a[1]"}, True),
        ({"Resource": f"{BUCKET}/A*"}, False),
        ({"Resource": BUCKET}, False),
    ],
)
def test_actions_ignore_case_and_resources_do_not(
    statement: dict[str, Any], expected: bool
) -> None:
    assert allowed(statement) is expected


@pytest.mark.parametrize(("excluded", "expected"), [("s3:Get*", False), ("s3:Put*", True)])
def test_not_action_means_all_others(excluded: str, expected: bool) -> None:
    policy = {"Statement": [{"Effect": "Allow", "NotAction": excluded, "NotResource": "arn:x"}]}

    assert allows([policy], "s3:GetObject", BUCKET, lambda _: []) is expected


@pytest.mark.parametrize(
    ("operator", "wanted", "actual", "expected"),
    [
        ("StringEquals", ["a", "b"], ["b"], True),
        ("StringEquals", "a", ["A"], False),
        ("StringEquals", "a", [], False),
        ("StringEqualsIfExists", "a", [], True),
        ("StringEqualsIgnoreCase", "a", ["A"], True),
        ("StringNotEquals", ["a", "b"], ["c"], True),
        ("StringNotEquals", ["a", "b"], ["a"], False),
        ("StringNotEquals", "a", [], True),
        ("StringLike", "a*", ["abc"], True),
        ("StringNotLike", "a*", ["abc"], False),
        ("ArnLike", "arn:aws:*:us-west-2:1:q*", ["arn:aws:sqs:us-west-2:1:queue"], True),
        ("ArnLike", "arn:aws:*:1:queue", ["arn:aws:sqs:us-west-2:1:queue"], False),
        ("Bool", True, ["true"], True),
        ("Bool", "false", ["true"], False),
        ("Null", "true", [], True),
        ("Null", "false", [], False),
        ("ForAllValues:StringEquals", ["a", "b"], ["a", "b"], True),
        ("ForAllValues:StringEquals", ["a", "b"], ["a", "c"], False),
        ("ForAllValues:StringEquals", "a", [], True),
        ("ForAnyValue:StringEquals", "a", ["a", "c"], True),
        ("ForAnyValue:StringEquals", "a", [], False),
    ],
)
def test_conditions(operator: str, wanted: Any, actual: list[str], expected: bool) -> None:
    assert allowed({"Condition": {operator: {"key": wanted}}}, key=actual) is expected


def test_all_conditions_must_hold() -> None:
    condition = {"StringEquals": {"one": "a", "two": "b"}}

    assert allowed({"Condition": condition}, one=["a"], two=["b"])
    assert not allowed({"Condition": condition}, one=["a"])


@pytest.mark.parametrize(
    ("resource", "user", "expected"),
    [
        (f"{BUCKET}/${{aws:userid}}*", ["a"], True),
        (f"{BUCKET}/${{aws:userid}}*", ["b"], False),
        (f"{BUCKET}/${{aws:userid}}*", [], False),
    ],
)
def test_a_variable_stands_for_the_value_of_its_key(
    resource: str, user: list[str], expected: bool
) -> None:
    assert allowed({"Resource": resource}, **{"aws:userid": user}) is expected


def test_a_condition_may_compare_two_keys() -> None:
    own = {"StringEquals": {"aws:ResourceTag/owner": "${aws:PrincipalTag/team}"}}
    tags = {"aws:ResourceTag/owner": ["speech"]}

    assert allowed({"Condition": own}, **tags, **{"aws:PrincipalTag/team": ["speech"]})
    assert not allowed({"Condition": own}, **tags, **{"aws:PrincipalTag/team": ["vision"]})
    assert not allowed({"Condition": own}, **tags)
