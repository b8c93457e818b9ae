"""Auto Scaling groups through their handler."""

from collections.abc import Iterator
from typing import Any

import pytest
from amis import AMAZON_LINUX
from botocore.exceptions import ClientError

from embedded_aws.cloudformation.failures import PartlyDone
from embedded_aws.cloudformation.resource import HandlerError
from embedded_aws.faults import Fault
from embedded_aws.faults_of_calls import faults


@pytest.fixture
def template(deploy: Any) -> Any:
    data = {"InstanceType": "trn1.32xlarge", "ImageId": AMAZON_LINUX}
    return deploy("AWS::EC2::LaunchTemplate", LaunchTemplateData=data)


@pytest.fixture
def properties(template: Any, subnet: Any) -> dict[str, Any]:
    return {
        "MinSize": "2",
        "MaxSize": "2",
        "LaunchTemplate": {"LaunchTemplateId": template.ref, "Version": "1"},
        "VPCZoneIdentifier": [subnet.ref],
        "Cooldown": "60",
        "Tags": [{"Key": "Name", "Value": "node", "PropagateAtLaunch": False}],
    }


@pytest.fixture
def shortage() -> Iterator[None]:
    code = "InsufficientInstanceCapacity"
    fault = Fault(service="ec2", operation="RunInstances", code=code, message="No.", count=None)
    faults.set([fault])
    yield
    faults.set([])


def described(client: Any, name: str) -> Any:
    answer = client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[name])
    return next(iter(answer["AutoScalingGroups"]), None)


def instances(client: Any, name: str) -> list[dict[str, Any]]:
    ids = [each["InstanceId"] for each in described(client, name)["Instances"]]
    found = client("ec2").describe_instances(InstanceIds=ids)["Reservations"]
    return [each for reservation in found for each in reservation["Instances"]]


def test_a_group_of_several_types_is_made_and_gets_others_in_place(
    client: Any, deploy: Any, properties: dict[str, Any]
) -> None:
    specification = properties.pop("LaunchTemplate")

    def policy(*types: str, **changes: str) -> dict[str, Any]:
        return {
            "LaunchTemplate": {
                "LaunchTemplateSpecification": {**specification, **changes},
                "Overrides": [{"InstanceType": each} for each in types],
            },
            "InstancesDistribution": {"OnDemandPercentageAboveBaseCapacity": "100"},
        }

    several = policy("trn1.2xlarge", "inf2.xlarge")
    group = deploy("AWS::AutoScaling::AutoScalingGroup", **properties, MixedInstancesPolicy=several)
    group.update(MixedInstancesPolicy=policy("inf2.xlarge"), MinSize="3", MaxSize="3")

    assert [each["InstanceType"] for each in described(client, group.ref)["Instances"]] == [
        *("trn1.2xlarge", "trn1.2xlarge", "inf2.xlarge")
    ]
    with pytest.raises(HandlerError, match=r"\$Latest and \$Default are not supported"):
        group.update(MixedInstancesPolicy=policy("inf2.xlarge", Version="$Latest"))
    group.delete()


def test_a_group_is_made_with_its_instances_and_goes_with_them(
    client: Any, deploy: Any, properties: dict[str, Any]
) -> None:
    group = deploy("AWS::AutoScaling::AutoScalingGroup", "Nodes", **properties)

    found = described(client, group.ref)
    assert group.ref.startswith("Stack-Nodes-")
    assert found["AutoScalingGroupARN"] == group.attributes["AutoScalingGroupARN"]
    assert found["DefaultCooldown"] == 60
    launched = instances(client, group.ref)
    assert len(launched) == 2
    own = {tag["Key"]: tag["Value"] for tag in launched[0]["Tags"]}
    assert own["aws:cloudformation:stack-name"] == "Stack"
    assert own["Owner"] == "ml-platform"
    assert "Name" not in own
    group.delete()
    group.delete()
    assert described(client, group.ref) is None
    ids = [each["InstanceId"] for each in launched]
    after = client("ec2").describe_instances(InstanceIds=ids)["Reservations"]
    assert {it["State"]["Name"] for each in after for it in each["Instances"]} == {"terminated"}


def test_a_group_grows_in_place(client: Any, deploy: Any, properties: dict[str, Any]) -> None:
    group = deploy("AWS::AutoScaling::AutoScalingGroup", **properties)
    before = described(client, group.ref)["Instances"]

    tags = [{"Key": "Team", "Value": "a", "PropagateAtLaunch": True}]
    group.update("Cooldown", MaxSize="3", DesiredCapacity="3", Tags=tags)

    after = described(client, group.ref)
    assert after["Instances"][:2] == before
    assert len(after["Instances"]) == 3
    assert after["DefaultCooldown"] == 300
    keys = {tag["Key"] for tag in after["Tags"]}
    assert "Team" in keys
    assert "Name" not in keys


def test_a_group_that_gets_no_instances_fails_and_is_left_to_the_rollback(
    client: Any, deploy: Any, properties: dict[str, Any], shortage: None
) -> None:
    with pytest.raises(PartlyDone) as failed:
        deploy("AWS::AutoScaling::AutoScalingGroup", **properties)

    assert (
        "Group did not stabilize. {current/minSize/maxSize} group size = {0/2/2}. Failed Scaling "
        "Activity: No. Launching EC2 instance failed."
    ) in str(failed.value)
    assert described(client, failed.value.physical_id)["DesiredCapacity"] == 2


def test_a_group_with_protected_instances_is_not_deleted(
    client: Any, deploy: Any, properties: dict[str, Any]
) -> None:
    group = deploy(
        "AWS::AutoScaling::AutoScalingGroup", **properties, NewInstancesProtectedFromScaleIn=True
    )

    with pytest.raises(HandlerError, match="all remaining instances are protected"):
        group.delete()

    assert len(described(client, group.ref)["Instances"]) == 2


@pytest.mark.parametrize("version", ["$Latest", "$Default"])
def test_a_template_names_the_number_of_a_version(
    deploy: Any, properties: dict[str, Any], version: str
) -> None:
    properties["LaunchTemplate"]["Version"] = version

    with pytest.raises(HandlerError, match="not supported as Version of LaunchTemplate"):
        deploy("AWS::AutoScaling::AutoScalingGroup", **properties)


def test_a_stack_is_refused_what_the_api_refuses(deploy: Any, properties: dict[str, Any]) -> None:
    properties["LaunchTemplate"]["Version"] = "7"

    with pytest.raises(ClientError, match="Could not find the specified version 7"):
        deploy("AWS::AutoScaling::AutoScalingGroup", **properties)


def test_a_group_sends_the_metrics_that_the_template_names(
    client: Any, deploy: Any, properties: dict[str, Any]
) -> None:
    def metrics() -> list[str]:
        return [each["Metric"] for each in described(client, group.ref)["EnabledMetrics"]]

    group = deploy(
        "AWS::AutoScaling::AutoScalingGroup",
        **properties,
        MetricsCollection=[{"Granularity": "1Minute", "Metrics": ["GroupTotalInstances"]}],
    )
    first = metrics()
    group.update(MetricsCollection=[{"Granularity": "1Minute"}])
    every = metrics()
    group.update(MetricsCollection=[])

    assert first == ["GroupTotalInstances"]
    assert {"GroupDesiredCapacity", "GroupInServiceInstances"} < set(every)
    assert metrics() == []
    group.delete()
