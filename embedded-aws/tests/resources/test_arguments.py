"""Template properties as API arguments."""

from typing import Any

import pytest

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.resource import HandlerError


def test_keys_take_the_case_of_the_api(client: Any) -> None:
    properties = {"ComputeEnvironmentOrder": [{"Order": "1", "ComputeEnvironment": "arn"}]}

    taken = arguments(client("batch"), "UpdateJobQueue", properties)

    assert taken == {"computeEnvironmentOrder": [{"order": 1, "computeEnvironment": "arn"}]}


def test_keys_of_maps_stay_as_written(client: Any) -> None:
    properties = {"Parameters": {"InputFile": "a", "lower": "b"}}

    taken = arguments(client("batch"), "RegisterJobDefinition", properties)

    assert taken == {"parameters": {"InputFile": "a", "lower": "b"}}


@pytest.mark.parametrize(
    ("service", "operation", "given", "taken"),
    [
        ("iam", "CreateRole", {"MaxSessionDuration": "7200"}, {"MaxSessionDuration": 7200}),
        ("ec2", "AllocateAddress", {"DryRun": "true"}, {"DryRun": True}),
        ("ec2", "CreateVpc", {"CidrBlock": 10}, {"CidrBlock": "10"}),
        ("ec2", "CreateVpc", {"InstanceTenancy": True}, {"InstanceTenancy": "true"}),
        (
            "iam",
            "CreatePolicy",
            {"PolicyDocument": {"Statement": []}},
            {"PolicyDocument": '{"Statement": []}'},
        ),
        ("cloudwatch", "PutMetricAlarm", {"Threshold": "0.5"}, {"Threshold": 0.5}),
    ],
)
def test_scalars_take_the_type_of_the_api(
    client: Any, service: str, operation: str, given: dict[str, Any], taken: dict[str, Any]
) -> None:
    assert arguments(client(service), operation, given) == taken


def test_what_is_left_out_is_not_asked_for(client: Any) -> None:
    properties = {"CidrBlock": "10.0.0.0/16", "Tags": []}

    taken = arguments(client("ec2"), "CreateVpc", properties, leave=("Tags",))

    assert taken == {"CidrBlock": "10.0.0.0/16"}


def test_a_property_without_argument_is_refused_with_its_path(client: Any) -> None:
    properties = {"LaunchTemplateData": {"Banana": 1}}

    with pytest.raises(HandlerError, match=r"CreateLaunchTemplate\.LaunchTemplateData.* Banana"):
        arguments(client("ec2"), "CreateLaunchTemplate", properties)
