"""The fixtures, as somebody's tests see them."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import boto3
import psutil
import pytest
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Template

from embedded_aws.deployment import Deployment, DeploymentFailed
from embedded_aws.embedded import EmbeddedAws

GROUP = {
    "Resources": {
        "Logs": {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {"LogGroupName": {"Ref": "Name"}, "RetentionInDays": 14},
        }
    },
    "Parameters": {"Name": {"Type": "String", "Default": "train"}},
    "Outputs": {"Name": {"Value": {"Ref": "Logs"}}},
}

# Each of the two leaves something behind that the other must not find.
LITTER = "left-behind"


@pytest.mark.parametrize("turn", [1, 2])
def test_a_clean_aws_has_nothing_of_the_test_before(clean_aws: EmbeddedAws, turn: int) -> None:
    logs = clean_aws.client("logs")
    assert logs.describe_log_groups()["logGroups"] == []

    logs.create_log_group(logGroupName=LITTER)


def test_cleaning_spares_the_shared_one(
    embedded_aws: EmbeddedAws, request: pytest.FixtureRequest
) -> None:
    queues = embedded_aws.client("sqs")
    queue = queues.create_queue(QueueName="shared")["QueueUrl"]

    clean = request.getfixturevalue("clean_aws")

    assert queue in queues.list_queues()["QueueUrls"]
    assert clean.endpoint != embedded_aws.endpoint


def test_boto3_leads_to_the_clean_one_by_default(clean_aws: EmbeddedAws) -> None:
    client = boto3.client("sts")

    assert client.meta.endpoint_url == clean_aws.endpoint
    assert client.get_caller_identity()["Account"] == "123456789012"


def dl1_types(aws: EmbeddedAws) -> list[str]:
    answer = aws.client("ec2").describe_instance_types(
        Filters=[{"Name": "instance-type", "Values": ["dl1.*"]}]
    )
    return [entry["InstanceType"] for entry in answer["InstanceTypes"]]


@pytest.mark.embedded_aws(as_of="2026-06")
def test_the_marker_brings_withdrawn_types_back(clean_aws: EmbeddedAws) -> None:
    assert dl1_types(clean_aws) == ["dl1.24xlarge"]


def test_without_the_marker_withdrawn_types_are_gone(clean_aws: EmbeddedAws) -> None:
    assert dl1_types(clean_aws) == []


def test_a_template_is_deployed(deployed: Callable[..., Deployment]) -> None:
    deployment = deployed(GROUP, stack_name="First", parameters={"Name": "mine"})

    assert deployment == Deployment(
        stack_name="First", outputs={"Name": "mine"}, resources={"Logs": "mine"}
    )


def test_a_template_of_cdk_needs_no_bootstrap(deployed: Callable[..., Deployment]) -> None:
    stack = cdk.Stack(cdk.App(), "Stack")
    logs.CfnLogGroup(stack, "Logs", log_group_name="train")
    template = Template.from_stack(stack).to_json()
    assert "BootstrapVersion" in template["Parameters"]

    deployment = deployed(template)

    assert list(deployment.resources.values()) == ["train"]


def test_a_second_deployment_updates_the_stack(
    deployed: Callable[..., Deployment], clean_aws: EmbeddedAws
) -> None:
    deployed(GROUP, parameters={"Name": "before"})

    deployed(GROUP, parameters={"Name": "after"})

    groups = clean_aws.client("logs").describe_log_groups()["logGroups"]
    assert [group["logGroupName"] for group in groups] == ["after"]


def test_a_failed_deployment_shows_every_reason(deployed: Callable[..., Deployment]) -> None:
    template: dict[str, Any] = {
        "Resources": {
            "Logs": {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 15}}
        }
    }

    with pytest.raises(DeploymentFailed, match=r"stack Stack did not deploy: Logs: .*15"):
        deployed(template)


def test_a_refused_template_is_a_failed_deployment_too(
    deployed: Callable[..., Deployment],
) -> None:
    with pytest.raises(DeploymentFailed, match=r"stack Stack did not deploy: .*AWS::No::Body"):
        deployed({"Resources": {"Nobody": {"Type": "AWS::No::Body"}}})


def test_the_ini_options_decide_day_regions_and_speed_and_no_server_outlives_its_session(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeini(
        """
        [pytest]
        embedded_aws_as_of = 2026-06
        embedded_aws_regions = eu-north-1 us-east-1
        embedded_aws_job_speed = 600
        """
    )
    pytester.makepyfile(
        """
        import pathlib

        def test_the_day(embedded_aws):
            pathlib.Path("pid").write_text(str(embedded_aws.server.process.pid))
            assert embedded_aws.client("ec2", region="us-east-1").describe_instance_types(
                InstanceTypes=["dl1.24xlarge"])["InstanceTypes"]

        def test_the_speed(embedded_aws):
            assert embedded_aws.settings.jobs.speed == 600

        def test_the_regions(embedded_aws):
            assert embedded_aws.environment["AWS_REGION"] == "eu-north-1"
            for region in ("eu-north-1", "us-east-1"):
                assert "QueueUrls" not in embedded_aws.client("sqs", region=region).list_queues()
        """
    )

    pytester.runpytest_subprocess("-p", "no:xdist").assert_outcomes(passed=3)

    assert not psutil.pid_exists(int((pytester.path / "pid").read_text()))


def test_the_shared_one_gives_a_subprocess_its_environment(embedded_aws: EmbeddedAws) -> None:
    assert embedded_aws.environment["AWS_ENDPOINT_URL"] == embedded_aws.endpoint


def test_a_test_is_led_to_its_own_although_another_was_led_elsewhere(
    clean_aws: EmbeddedAws, embedded_aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `clean_aws` leads there; boto3 then remembers its secret.
    assert boto3.client("sts").get_caller_identity()["Account"] == "123456789012"

    embedded_aws.lead_here(monkeypatch)

    assert boto3.client("sts").get_caller_identity()["Account"] == "123456789012"
