"""What roles used of their permissions is told."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.role_use import RoleUse

As = Callable[..., Any]
MakeRole = Callable[..., str]
Allow = Callable[..., dict[str, Any]]

of_job = partial(RoleUse, account="123456789012", role="job")


def test_used_unused_and_denied_actions_are_listed(
    clean_aws: EmbeddedAws, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    role = make_role(allow(["ec2:Describe*", "sqs:ListQueues"]), allow("kms:CreateKey"))
    ec2, iam = as_role("ec2", role), as_role("iam", role)
    ec2.describe_vpcs()
    ec2.describe_vpcs()
    ec2.describe_subnets()
    as_role("sqs", role).list_queues()
    with pytest.raises(ClientError):
        iam.get_role(RoleName="job")

    told = clean_aws.roles("job")

    assert told == [
        of_job(grant="ec2:Describe*", action="ec2:DescribeVpcs", used=2),
        of_job(grant="ec2:Describe*", action="ec2:DescribeSubnets", used=1),
        of_job(grant="sqs:ListQueues", action="sqs:ListQueues", used=1),
        of_job(grant="kms:CreateKey"),
        of_job(
            action="iam:GetRole",
            denied=1,
            resource="arn:aws:iam::123456789012:role/job",
        ),
    ]


def test_roles_are_chosen_by_name_and_those_of_services_are_left_out(
    clean_aws: EmbeddedAws, make_role: MakeRole, allow: Allow
) -> None:
    for name in ("job", "node"):
        make_role(allow("sqs:ListQueues"), name=name)

    assert [row.role for row in clean_aws.roles("od")] == ["node"]
    assert {row.role for row in clean_aws.roles()} == {"job", "node"}


def test_a_reset_forgets(
    clean_aws: EmbeddedAws, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    as_role("sqs", make_role(allow("sqs:ListQueues"))).list_queues()
    clean_aws.reset()

    make_role(allow("sqs:ListQueues"))

    assert clean_aws.roles() == [of_job(grant="sqs:ListQueues")]


def test_a_functions_calls_are_its_roles(
    clean_aws: EmbeddedAws, deployed: Callable[..., Any], allow: Allow
) -> None:
    code = (
        "import boto3\n"
        "def handler(event, context):\n"
        "    boto3.client('sqs').list_queues()\n"
        "    boto3.client('sqs').create_queue(QueueName='q')\n"
    )
    trusted = allow("sts:AssumeRole", Principal={"Service": "lambda.amazonaws.com"})
    del trusted["Resource"]
    own = {"Version": "2012-10-17", "Statement": [allow("sqs:ListQueues")]}
    deployed(
        {
            "Resources": {
                "Role": {
                    "Type": "AWS::IAM::Role",
                    "Properties": {
                        "RoleName": "function",
                        "AssumeRolePolicyDocument": {
                            "Version": "2012-10-17",
                            "Statement": [trusted],
                        },
                        "Policies": [{"PolicyName": "own", "PolicyDocument": own}],
                    },
                },
                "Function": {
                    "Type": "AWS::Lambda::Function",
                    "Properties": {
                        "FunctionName": "function",
                        "Runtime": "python3.12",
                        "Handler": "index.handler",
                        "Role": {"Fn::GetAtt": "Role.Arn"},
                        "Code": {"ZipFile": code},
                    },
                },
            }
        }
    )

    answer = clean_aws.client("lambda").invoke(FunctionName="function")

    reason = json.load(answer["Payload"])["errorMessage"]
    assert "assumed-role/function/function is not authorized to perform: sqs:CreateQueue" in reason
    assert [(row.action, row.used, row.denied) for row in clean_aws.roles("function")] == [
        ("sqs:ListQueues", 1, 0),
        ("sqs:CreateQueue", 0, 1),
    ]
