"""What a cluster of plain EC2 nodes is made of."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainshed.plan import Fleet, plan_fleet
from trainshed.spec import ClusterSpec

Synthesise = Callable[[Fleet], Path]
SPEC = {
    "name": "PlainCluster",
    "region": "us-west-2",
    "orchestrator": "ec2",
    "owner": "ml-platform",
    "instance": {"type": "trn1.32xlarge", "nodes": {"max": 4}},
    "storage": {"lustre": {}},
    "job": {
        "environment": {"GREETING": "it's {{ global }}"},
        "buckets": [{"bucket": "my-runs", "access": "read-write"}],
        "timeout_hours": 6,
    },
}


@pytest.fixture(scope="module")
def assembly(synthesise: Synthesise) -> Path:
    return synthesise(plan_fleet([ClusterSpec.model_validate(SPEC)]))


@pytest.fixture(scope="module")
def template(assembly: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((assembly / "PlainCluster.template.json").read_text())
    return found


def only(template: dict[str, Any], kind: str) -> dict[str, Any]:
    [found] = [each for each in template["Resources"].values() if each["Type"] == kind]
    return dict(found)


def statements(template: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the role of the nodes may do."""
    [name, role] = next(
        (name, each)
        for name, each in template["Resources"].items()
        if each["Type"] == "AWS::IAM::Role"
        and each["Properties"].get("Description") == "Nodes of a training cluster"
    )
    policies = [each["PolicyDocument"] for each in role["Properties"]["Policies"]]
    policies += [
        each["Properties"]["PolicyDocument"]
        for each in template["Resources"].values()
        if each["Type"] == "AWS::IAM::Policy" and {"Ref": name} in each["Properties"]["Roles"]
    ]
    return [statement for policy in policies for statement in policy["Statement"]]


@pytest.mark.parametrize(
    ("bought", "distribution"),
    [
        pytest.param(
            {},
            {
                "OnDemandAllocationStrategy": "prioritized",
                "OnDemandBaseCapacity": 0,
                "OnDemandPercentageAboveBaseCapacity": 100,
            },
            id="on-demand",
        ),
        pytest.param(
            {"spot": {"max_price": 12.5}},
            {
                "OnDemandAllocationStrategy": "prioritized",
                "OnDemandBaseCapacity": 0,
                "OnDemandPercentageAboveBaseCapacity": 0,
                "SpotAllocationStrategy": "capacity-optimized-prioritized",
                "SpotMaxPrice": "12.5",
            },
            id="spot",
        ),
    ],
)
def test_several_types_are_a_policy_of_the_group_in_their_order(
    synthesise: Synthesise, bought: dict[str, Any], distribution: dict[str, Any]
) -> None:
    types = ["p4d.24xlarge", "p4de.24xlarge"]
    fields = {
        **SPEC,
        "instance": {"type": types[0], "nodes": {"max": 4}},
        "capacity": {**bought, "instance_types": types},
    }
    assembly = synthesise(plan_fleet([ClusterSpec.model_validate(fields)]))
    template = json.loads((assembly / "PlainCluster.template.json").read_text())

    group = template["Resources"]["Nodes"]["Properties"]
    data = only(template, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    policy = group["MixedInstancesPolicy"]
    assert "LaunchTemplate" not in group
    assert [each["InstanceType"] for each in policy["LaunchTemplate"]["Overrides"]] == types
    assert policy["InstancesDistribution"] == distribution
    assert "InstanceMarketOptions" not in data


def test_the_group_is_of_an_exact_size_in_one_subnet_and_all_its_nodes_boot(
    template: dict[str, Any],
) -> None:
    group = template["Resources"]["Nodes"]

    properties = group["Properties"]
    assert group["Type"] == "AWS::AutoScaling::AutoScalingGroup"
    assert {properties[name] for name in ("MinSize", "MaxSize", "DesiredCapacity")} == {"4"}
    assert len(properties["VPCZoneIdentifier"]) == 1
    assert group["CreationPolicy"] == {"ResourceSignal": {"Count": 4, "Timeout": "PT45M"}}
    # A deployment ends no node, but for a smaller size; jobs get the oldest nodes.
    # Nor does it start nodes that were stopped.
    policy = {"IgnoreUnmodifiedGroupSizeProperties": True}
    assert group["UpdatePolicy"] == {"AutoScalingScheduledAction": policy}
    assert properties["TerminationPolicies"] == ["NewestInstance"]
    # The first node boots when its role may do all that it needs.
    policies = [
        name for name, each in template["Resources"].items() if each["Type"] == "AWS::IAM::Policy"
    ]
    assert set(policies) & set(group["DependsOn"])
    tags = {tag["Key"]: tag for tag in properties["Tags"]}
    assert tags["trainshed:cluster"]["Value"] == "PlainCluster"
    assert tags["trainshed:cluster"]["PropagateAtLaunch"]


def test_the_launch_template_says_all_that_aws_batch_would(template: dict[str, Any]) -> None:
    data = only(template, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]

    assert data["InstanceType"] == "trn1.32xlarge"
    assert "Fn::GetAtt" in data["ImageId"]
    assert "Fn::GetAtt" in data["IamInstanceProfile"]["Arn"]
    assert "Fn::GetAtt" in data["Placement"]["GroupName"]
    assert data["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert "KeyName" not in data
    kinds = [each["InterfaceType"] for each in data["NetworkInterfaces"]]
    assert kinds == ["interface", *["efa-only"] * 8]


def test_nodes_signal_the_group_when_their_boot_went_well(template: dict[str, Any]) -> None:
    data = only(template, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]

    user_data = json.dumps(data["UserData"])

    said = user_data.replace("\\", "")
    assert '"signals": {"stack": "", {"Ref": "AWS::StackId"}, "", "resource": "Nodes"}' in said
    [signal] = [
        each for each in statements(template) if each["Action"] == "cloudformation:SignalResource"
    ]
    assert signal["Resource"] == {"Ref": "AWS::StackId"}


def test_the_document_runs_a_job_with_the_variables_of_the_file(template: dict[str, Any]) -> None:
    document = only(template, "AWS::SSM::Document")["Properties"]

    [step] = document["Content"]["mainSteps"]
    # Systems Manager refuses other names of steps.
    assert re.fullmatch(r"\w+", step["name"], re.ASCII)
    [_, command] = step["inputs"]["runCommand"]
    assert command.endswith(" {{ Job }} 2>&1")
    # Run Command puts in values for {{ names }}, and the shell reads quotes.
    assert "global" not in command
    assert "'" not in command
    # With the document's name, the list of jobs would be lost.
    assert document["UpdateMethod"] == "NewVersion"
    assert document["Content"]["parameters"]["TimeoutSeconds"]["default"] == str(6 * 3600)


def test_jobs_have_the_role_of_the_nodes_with_what_the_file_grants(
    template: dict[str, Any],
) -> None:
    actions = [json.dumps(each["Action"]) for each in statements(template)]

    for wanted in (
        "s3:PutObject",
        "ec2:DescribeInstanceTopology",
        "ec2:DescribeInstances",
        "ssmmessages:OpenControlChannel",
        "logs:DescribeLogGroups",
        "ssm:GetParameters",
    ):
        assert any(wanted in each for each in actions), wanted
    assert not any("ecs:" in each or "ecr:" in each for each in actions)


def test_nodes_that_power_themselves_off_are_not_replaced_for_ever_while_it_is_created(
    template: dict[str, Any],
) -> None:
    [variables] = [
        each["Properties"]["Environment"]["Variables"]
        for each in template["Resources"].values()
        if each["Type"] == "AWS::Lambda::Function" and "Environment" in each["Properties"]
    ]

    assert variables["CLUSTER"] == "PlainCluster"
    assert "suspend_processes" in json.dumps(variables["STOP"])
    assert json.loads(variables["STOP"])[2]["AutoScalingGroupName"] == "PlainCluster"
    # CloudFormation holds the group back until its nodes have booted, or fail to for 45 minutes.
    group = template["Resources"]["Nodes"]
    assert group["Properties"]["AutoScalingGroupName"] == "PlainCluster"
    watching = {
        name
        for name, each in template["Resources"].items()
        if name.startswith("FailedBoots") and each["Type"] != "AWS::Logs::LogGroup"
    }
    assert watching <= set(group["DependsOn"])
    assert any(name.startswith("FailedBootsEnded") for name in watching)


def test_jobs_find_what_they_need_in_the_outputs(template: dict[str, Any]) -> None:
    assert {"JobDocument", "NodeGroup", "LogGroup", "AmiVersion"} <= template["Outputs"].keys()
    assert "JobQueue" not in template["Outputs"]


def test_there_is_no_stack_for_container_images(assembly: Path) -> None:
    manifest = json.loads((assembly / "manifest.json").read_text())

    stacks = {
        name
        for name, each in manifest["artifacts"].items()
        if each["type"] == "aws:cloudformation:stack"
    }
    assert stacks == {"PlainCluster", "PlainPrerequisites", "PlainNetwork", "PlainStorage"}
