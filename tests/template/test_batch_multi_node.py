"""BatchMultiNode and its node role in a template."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Match, Template
from batch_plans import batch_of

from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.plan import ContainerPlan, make_plan
from trainshed.spec import ClusterSpec, InstanceSpec, NodeRange
from trainshed_constructs import BatchMultiNode, ConstructError

ENVIRONMENT, QUEUE, JOB = (
    f"AWS::Batch::{kind}" for kind in ("ComputeEnvironment", "JobQueue", "JobDefinition")
)
TYPES = {"nvidia": "p4d.24xlarge", "neuron": "trn1.32xlarge", "gaudi": "dl1.24xlarge"}
SMALL = ContainerPlan(
    vcpus=96, memory_mib=1000, gpus=0, devices=(), shared_memory_mib=100, environment={}, folders={}
)


def container_of(instance_type: str) -> ContainerPlan:
    spec = ClusterSpec(
        name="Test",
        region="us-west-2",
        instance=InstanceSpec(type=instance_type, nodes=NodeRange(max=2), ami="ami-0123abcd"),
    )
    return batch_of(make_plan(spec)).container


def build(scope: cdk.Stack, **changes: Any) -> BatchMultiNode:
    given = {
        "subnet": ec2.Subnet.from_subnet_id(scope, "Subnet", "subnet-0123456789abcdef0"),
        "launch_template_id": "lt-0123456789abcdef0",
        "launch_template_version": "3",
        "instance_type": "p4d.24xlarge",
        "nodes": NodeRange(min=1, max=16),
        "container": SMALL,
        "image_uri": "123456789012.dkr.ecr.us-west-2.amazonaws.com/train:v1",
        "image_type": "ECS_AL2023",
        **changes,
    }
    return BatchMultiNode(scope, "Batch", **given)


def template_of(**changes: Any) -> Template:
    stack = cdk.Stack(cdk.App(), "Stack")
    build(stack, **changes)
    cdk.Tags.of(stack).add("owner", "ml-platform")
    return Template.from_stack(stack)


def properties(template: Template, resource_type: str) -> dict[str, Any]:
    [found] = template.find_resources(resource_type).values()
    properties: dict[str, Any] = found["Properties"]
    return properties


def container(template: Template) -> dict[str, Any]:
    [nodes] = properties(template, JOB)["NodeProperties"]["NodeRangeProperties"]
    found: dict[str, Any] = nodes["Container"]
    return found


@pytest.fixture(scope="module")
def plain() -> Template:
    return template_of()


@pytest.fixture(scope="module")
def full() -> Template:
    return template_of(
        image_id="ami-0123456789abcdef0",
        placement_group_name="peers",
        container=replace(SMALL, folders={"lustre": "/fsx", "scratch": "/scratch"}),
        capacity_block=True,
        attempts=1,
        timeout=Duration.hours(5),
    )


@pytest.fixture(scope="module", params=TYPES)
def family(request: pytest.FixtureRequest) -> tuple[str, ContainerPlan, Template]:
    plan = container_of(TYPES[request.param])
    return request.param, plan, template_of(container=plan, instance_type=TYPES[request.param])


def test_the_environment_has_no_security_groups_beside_those_of_the_launch_template(
    plain: Template,
) -> None:
    plain.has_resource_properties(
        ENVIRONMENT,
        {
            "Type": "MANAGED",
            "ComputeResources": {
                "Type": "EC2",
                "SecurityGroupIds": Match.absent(),
                "LaunchTemplate": {"LaunchTemplateId": "lt-0123456789abcdef0", "Version": "3"},
            },
        },
    )


def test_the_environment_takes_one_type_in_one_subnet_for_all_its_nodes(plain: Template) -> None:
    plain.has_resource_properties(
        ENVIRONMENT,
        {
            "ComputeResources": {
                "InstanceTypes": ["p4d.24xlarge"],
                "Subnets": ["subnet-0123456789abcdef0"],
                "MinvCpus": 96,
                "MaxvCpus": 1536,
                "DesiredvCpus": Match.absent(),
                "BidPercentage": Match.absent(),
                "PlacementGroup": Match.absent(),
            }
        },
    )


def test_the_environment_can_be_updated_in_place_without_ending_jobs(plain: Template) -> None:
    plain.has_resource_properties(
        ENVIRONMENT,
        {
            "ReplaceComputeEnvironment": False,
            "UpdatePolicy": {"TerminateJobsOnUpdate": False, "JobExecutionTimeoutMinutes": 7200},
            "ServiceRole": Match.absent(),
            "ComputeResources": {
                "AllocationStrategy": "BEST_FIT_PROGRESSIVE",
                "UpdateToLatestImageVersion": Match.absent(),
            },
        },
    )


def test_running_jobs_go_on_for_as_long_as_asked_when_the_nodes_change() -> None:
    found = properties(template_of(update_timeout=Duration.hours(6)), ENVIRONMENT)

    assert found["UpdatePolicy"]["JobExecutionTimeoutMinutes"] == 360


def test_an_environment_of_a_capacity_block_is_replaced_rather_than_updated(full: Template) -> None:
    full.has_resource_properties(
        ENVIRONMENT,
        {
            "ReplaceComputeEnvironment": True,
            "UpdatePolicy": Match.absent(),
            "ComputeEnvironmentName": Match.absent(),
            "ComputeResources": {"AllocationStrategy": "BEST_FIT"},
        },
    )


def test_the_image_is_amazon_linux_2023_or_the_given_one(plain: Template, full: Template) -> None:
    for template, override in ((plain, Match.absent()), (full, "ami-0123456789abcdef0")):
        template.has_resource_properties(
            ENVIRONMENT,
            {
                "ComputeResources": {
                    "Ec2Configuration": [{"ImageType": "ECS_AL2023", "ImageIdOverride": override}]
                }
            },
        )


def test_what_is_asked_for_reaches_the_environment_and_the_job(full: Template) -> None:
    resources = properties(full, ENVIRONMENT)

    assert resources["ComputeResources"]["PlacementGroup"] == "peers"
    assert properties(full, JOB)["Timeout"] == {"AttemptDurationSeconds": 18000}
    assert properties(full, JOB)["RetryStrategy"]["Attempts"] == 1


@pytest.mark.parametrize(
    ("resource_type", "name"),
    [
        (ENVIRONMENT, "ComputeEnvironmentName"),
        (QUEUE, "JobQueueName"),
        (JOB, "JobDefinitionName"),
        ("AWS::IAM::Role", "RoleName"),
        ("AWS::IAM::InstanceProfile", "InstanceProfileName"),
        ("AWS::Logs::LogGroup", "LogGroupName"),
    ],
)
def test_nothing_has_a_name_so_that_it_can_be_replaced(
    plain: Template, resource_type: str, name: str
) -> None:
    plain.all_resources_properties(resource_type, {name: Match.absent()})


def test_tags_go_to_the_instances_and_not_to_the_create_only_tags_of_the_environment(
    plain: Template,
) -> None:
    plain.has_resource_properties(
        ENVIRONMENT,
        {"Tags": Match.absent(), "ComputeResources": {"Tags": {"owner": "ml-platform"}}},
    )
    plain.has_resource_properties(QUEUE, {"Tags": {"owner": "ml-platform"}})


def reasons(template: Template) -> dict[str, int]:
    actions = properties(template, QUEUE)["JobStateTimeLimitActions"]
    assert {(action["State"], action["Action"]) for action in actions} == {("RUNNABLE", "CANCEL")}
    return {action["Reason"]: action["MaxTimeSeconds"] for action in actions}


def test_a_job_that_can_never_fit_is_cancelled_soon_and_one_without_capacity_late(
    plain: Template,
) -> None:
    assert reasons(plain) == {
        "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE": 600,
        "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT": 600,
        "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY": 7200,
    }


def test_a_job_may_wait_for_its_capacity_block(full: Template) -> None:
    assert "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY" not in reasons(full)


def test_the_node_count_can_be_overridden_at_submission(plain: Template) -> None:
    plain.has_resource_properties(
        JOB,
        {
            "Type": "multinode",
            "PlatformCapabilities": ["EC2"],
            "PropagateTags": True,
            "NodeProperties": {
                "MainNode": 0,
                "NumNodes": 16,
                "NodeRangeProperties": [{"TargetNodes": "0:"}],
            },
        },
    )


def test_a_definition_for_the_most_devices_fits_into_what_aws_batch_takes() -> None:
    template = template_of(container=container_of("p5.48xlarge"), instance_type="p5.48xlarge")

    assert len(container(template)["LinuxParameters"]["Devices"]) == 32
    assert len(json.dumps(properties(template, JOB))) < 24 * 1024


def action_of(template: Template, **end: str) -> str:
    """What AWS Batch does with a job that ended so: the first condition that matches decides."""
    for entry in properties(template, JOB)["RetryStrategy"]["EvaluateOnExit"]:
        conditions = {key[2:]: glob for key, glob in entry.items() if key != "Action"}
        if all(matches(end.get(key, ""), glob) for key, glob in conditions.items()):
            action: str = entry["Action"]
            return action
    return "RETRY"


def matches(text: str, glob: str) -> bool:
    return text.startswith(glob[:-1]) if glob.endswith("*") else text == glob


CONTAINER_ENDED = {"StatusReason": "Essential container in task exited", "Reason": ""}


@pytest.mark.parametrize(
    ("end", "action"),
    [
        pytest.param(
            {"StatusReason": "Host EC2 (instance i-0abc) terminated."}, "RETRY", id="main-host"
        ),
        pytest.param(
            {
                "StatusReason": "Task failed to start",
                "Reason": "CannotPullContainerError: toomanyrequests",
            },
            "RETRY",
            id="image-not-pulled",
        ),
        pytest.param({"Reason": "AGENT"}, "RETRY", id="agent"),
        pytest.param(CONTAINER_ENDED | {"ExitCode": str(PEER_LOST)}, "RETRY", id="peer-lost"),
        pytest.param(CONTAINER_ENDED | {"ExitCode": "1"}, "EXIT", id="the-training-failed"),
        pytest.param(CONTAINER_ENDED | {"ExitCode": "19"}, "EXIT", id="a-code-that-begins-alike"),
        pytest.param(CONTAINER_ENDED | {"ExitCode": "137"}, "EXIT", id="killed"),
        pytest.param(CONTAINER_ENDED | {"ExitCode": "78"}, "EXIT", id="the-entrypoint-refused"),
    ],
)
def test_a_job_is_retried_when_a_node_was_lost_and_in_no_other_case(
    plain: Template, end: dict[str, str], action: str
) -> None:
    strategy = properties(plain, JOB)["RetryStrategy"]

    assert strategy["Attempts"] == 3
    assert len(strategy["EvaluateOnExit"]) <= 5
    assert action_of(plain, **end) == action


def test_a_container_has_the_whole_node(family: tuple[str, ContainerPlan, Template]) -> None:
    name, plan, template = family
    wanted = {"VCPU": str(plan.vcpus), "MEMORY": str(plan.memory_mib)}
    if name == "nvidia":
        wanted["GPU"] = "8"

    found = {entry["Type"]: entry["Value"] for entry in container(template)["ResourceRequirements"]}

    assert found == wanted
    assert container(template)["Privileged"] is False


def test_a_container_opens_every_efa_and_neuron_device(
    family: tuple[str, ContainerPlan, Template],
) -> None:
    name, _, template = family
    devices = container(template)["LinuxParameters"]["Devices"]
    counts = {
        kind: sum(device["HostPath"].startswith(kind) for device in devices)
        for kind in ("/dev/infiniband/uverbs", "/dev/neuron")
    }

    assert list(counts.values()) == {"nvidia": [4, 0], "neuron": [8, 16], "gaudi": [4, 0]}[name]
    assert all(device["HostPath"] == device["ContainerPath"] for device in devices)
    assert all(device["Permissions"] == ["READ", "WRITE", "MKNOD"] for device in devices)


def test_a_container_has_the_variables_of_its_accelerator_in_order(
    family: tuple[str, ContainerPlan, Template],
) -> None:
    name, plan, template = family
    found = [(entry["Name"], entry["Value"]) for entry in container(template)["Environment"]]
    marker = {
        "nvidia": ("NCCL_SOCKET_IFNAME", "^lo,docker,ecs"),
        "neuron": ("FI_PROVIDER", "efa"),
        "gaudi": ("RDMAV_FORK_SAFE", "1"),
    }

    region = {"Ref": "AWS::Region"}
    own = {"AWS_DEFAULT_REGION": region, "AWS_REGION": region}
    assert found == sorted({**own, **plan.environment}.items())
    assert marker[name] in found


def test_a_region_that_the_job_names_is_its_own() -> None:
    plan = replace(SMALL, environment={"AWS_REGION": "eu-west-1"})

    entries = container(template_of(container=plan))["Environment"]

    assert {"Name": "AWS_REGION", "Value": "eu-west-1"} in entries
    assert {"Name": "AWS_DEFAULT_REGION", "Value": {"Ref": "AWS::Region"}} in entries


def test_a_container_may_pin_memory_and_share_it(plain: Template) -> None:
    limits = {entry["Name"]: entry for entry in container(plain)["Ulimits"]}

    assert limits["memlock"] == {"Name": "memlock", "SoftLimit": -1, "HardLimit": -1}
    assert limits["stack"]["HardLimit"] == 67108864
    assert limits["nofile"]["HardLimit"] == 1024000
    assert container(plain)["LinuxParameters"]["SharedMemorySize"] == 100


def test_a_container_sees_folders_of_the_node_under_the_same_path(
    plain: Template, full: Template
) -> None:
    volumes = {each["Name"]: each["Host"]["SourcePath"] for each in container(full)["Volumes"]}
    points = {
        each["SourceVolume"]: (each["ContainerPath"], each["ReadOnly"])
        for each in container(full)["MountPoints"]
    }

    assert volumes == {"lustre": "/fsx", "scratch": "/scratch"}
    assert points == {"lustre": ("/fsx", False), "scratch": ("/scratch", False)}
    assert "Volumes" not in container(plain)


def test_output_goes_to_a_log_group_that_outlives_the_stack(
    plain: Template,
) -> None:
    [log_group] = plain.find_resources("AWS::Logs::LogGroup")
    log = container(plain)["LogConfiguration"]

    assert log["LogDriver"] == "awslogs"
    assert log["Options"]["awslogs-group"] == {"Ref": log_group}
    # AWS Batch user guide, "Use the awslogs log driver": these, and no delivery mode.
    assert set(log["Options"]) <= {
        "awslogs-region",
        "awslogs-group",
        "awslogs-stream-prefix",
        "awslogs-datetime-format",
        "awslogs-multiline-pattern",
        "awslogs-create-group",
    }
    plain.has_resource(
        "AWS::Logs::LogGroup",
        {
            "Properties": {"RetentionInDays": 90},
            "DeletionPolicy": "RetainExceptOnCreate",
            "UpdateReplacePolicy": "Retain",
        },
    )


def roles(template: Template) -> Mapping[str, dict[str, Any]]:
    found = [role["Properties"] for role in template.find_resources("AWS::IAM::Role").values()]
    return {
        role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]["Service"]: role
        for role in found
    }


def test_nodes_have_no_managed_policy_and_a_wildcard_only_where_aws_takes_no_resource(
    plain: Template,
) -> None:
    role = roles(plain)["ec2.amazonaws.com"]
    statements = [
        statement
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]

    everywhere = [entry["Action"] for entry in statements if entry["Resource"] == "*"]

    assert "ManagedPolicyArns" not in role
    assert everywhere == [
        [
            "ec2:DescribeTags",
            "ecr:GetAuthorizationToken",
            "ecs:DiscoverPollEndpoint",
        ],
        [
            "ssm:UpdateInstanceInformation",
            "ssmmessages:CreateControlChannel",
            "ssmmessages:CreateDataChannel",
            "ssmmessages:OpenControlChannel",
            "ssmmessages:OpenDataChannel",
        ],
        "cloudwatch:PutMetricData",
    ]


def test_a_node_may_set_one_tag_and_on_itself_alone(plain: Template) -> None:
    [policy] = roles(plain)["ec2.amazonaws.com"]["Policies"]
    [statement] = [
        each for each in policy["PolicyDocument"]["Statement"] if each["Action"] == "ec2:CreateTags"
    ]
    condition = statement["Condition"]

    # The instance that asks is the instance that is tagged.
    own = condition["ArnEquals"]["ec2:SourceInstanceARN"]["Fn::Join"][1]
    assert own[-1] == ":instance/${ec2:InstanceID}"
    assert statement["Resource"]["Fn::Join"][1] == [*own[:-1], ":instance/*"]
    assert condition["ForAllValues:StringEquals"] == {"aws:TagKeys": ["trainshed:boot"]}
    assert condition["Null"] == {"aws:TagKeys": "false"}
    assert set(condition) == {"ArnEquals", "ForAllValues:StringEquals", "Null"}


def test_nodes_may_read_the_tags_of_their_tasks(plain: Template) -> None:
    [policy] = roles(plain)["ec2.amazonaws.com"]["Policies"]
    [statement] = [
        each
        for each in policy["PolicyDocument"]["Statement"]
        if "ecs:ListTagsForResource" in each["Action"]
    ]

    ends = [resource["Fn::Join"][1][-1] for resource in statement["Resource"]]
    assert ends == [":container-instance/AWSBatch-*/*", ":task/AWSBatch-*/*"]


def test_containers_have_a_role_of_tasks_of_this_account_that_may_see_the_network_alone(
    plain: Template,
) -> None:
    role = roles(plain)["ecs-tasks.amazonaws.com"]
    [statement] = role["AssumeRolePolicyDocument"]["Statement"]

    assert statement["Condition"]["StringEquals"]["aws:SourceAccount"] == {"Ref": "AWS::AccountId"}
    [policy] = role["Policies"]
    assert policy["PolicyDocument"]["Statement"] == [
        {
            "Sid": "SeeTheNetwork",
            "Effect": "Allow",
            "Action": "ec2:DescribeInstanceTopology",
            "Resource": "*",
        }
    ]
    assert "ManagedPolicyArns" not in role
    plain.resource_count_is("AWS::IAM::Policy", 0)


def test_the_environment_waits_for_every_right_of_its_nodes() -> None:
    stack = cdk.Stack(cdk.App(), "Stack")
    batch = build(stack)
    batch.instance_role.add_to_policy(
        cdk.aws_iam.PolicyStatement(actions=["ssm:GetParameters"], resources=["arn:aws:ssm:::x"])
    )

    template = Template.from_stack(stack)

    [policy] = template.find_resources("AWS::IAM::Policy")
    [environment] = template.find_resources(ENVIRONMENT).values()
    assert policy in environment["DependsOn"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param(
            {"launch_template_version": "$Latest"}, "give the number", id="version-latest"
        ),
        pytest.param({"instance_type": "optimal"}, "not one type", id="optimal"),
        pytest.param({"instance_type": "p4d"}, "not one type", id="a-family"),
        pytest.param({"image_type": "ECS_AL2"}, "ECS_AL2023_NVIDIA", id="amazon-linux-2"),
        pytest.param({"attempts": 11}, "1 to 10", id="attempts"),
        pytest.param({"timeout": Duration.seconds(59)}, "60 or more", id="timeout"),
        pytest.param({"update_timeout": Duration.days(6)}, "1 to 7200", id="update-timeout"),
        pytest.param(
            {"container": replace(SMALL, folders={"lustre": "fsx"})},
            "not an absolute path",
            id="folder",
        ),
        pytest.param(
            {
                "container": replace(SMALL, environment={"AWS_BATCH_JOB_ID": "x"}),
            },
            "AWS_BATCH_JOB_ID",
            id="reserved-variable",
        ),
        pytest.param(
            {"capacity_wait": cdk.Duration.hours(25)},
            "capacity_wait is 90000 seconds; AWS Batch takes 600 to 86400",
            id="capacity-wait",
        ),
    ],
)
def test_what_aws_batch_refuses_is_refused_at_construction(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConstructError, match=r"^Stack/Batch: ") as error:
        build(cdk.Stack(cdk.App(), "Stack"), **changes)

    assert message in str(error.value)
