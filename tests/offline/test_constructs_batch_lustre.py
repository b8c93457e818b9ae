"""The constructs for AWS Batch, Lustre and images, deployed to the embedded AWS."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ssm as ssm
from aws_cdk.assertions import Template
from batch_plans import batch_of

from embedded_aws.deployment import Deployment, DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from trainshed.plan import ClusterPlan, LustrePlan, make_plan
from trainshed.spec import ClusterSpec
from trainshed_constructs import (
    BatchMultiNode,
    ClusterPlacementGroup,
    EfaLaunchTemplate,
    EfaSecurityGroup,
    FirstBoot,
    LustreFileSystem,
    TrainingRepository,
)

Build = Callable[[cdk.Stack, ec2.IVpc, list[ec2.ISubnet], ClusterPlan], None]


def planned(*, nodes: int = 4, **lustre: Any) -> ClusterPlan:
    spec = {
        "name": "TestCluster",
        "region": "us-west-2",
        "instance": {"type": "trn1.32xlarge", "nodes": {"max": nodes}},
        "storage": {"lustre": {"capacity_gib": 2400, **lustre}},
    }
    return make_plan(ClusterSpec.model_validate(spec))


def template_of(build: Build, plan: ClusterPlan, *, subnet: int = 0) -> dict[str, Any]:
    """A template with a VPC of two subnets in the plan's zone, and what `build` puts there."""
    stack = cdk.Stack(
        cdk.App(),
        "Stack",
        synthesizer=cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
    )
    network = ec2.CfnVPC(stack, "Vpc", cidr_block="10.0.0.0/16")
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Network", vpc_id=network.ref, availability_zones=[plan.zone.name]
    )
    made = [
        ec2.CfnSubnet(
            stack,
            f"Subnet{index}",
            vpc_id=network.ref,
            cidr_block=f"10.0.{index}.0/24",
            availability_zone_id=plan.zone.name,
        )
        for index in range(2)
    ]
    found = [
        ec2.Subnet.from_subnet_id(stack, f"Nodes{index}", made.ref)
        for index, made in enumerate(made)
    ]
    build(stack, vpc, found[subnet:], plan)
    return dict(Template.from_stack(stack).to_json())


def storage(stack: cdk.Stack, vpc: ec2.IVpc, subnets: list[ec2.ISubnet], plan: ClusterPlan) -> None:
    assert plan.lustre and plan.lustre.new
    LustreFileSystem(
        stack,
        "Lustre",
        vpc=vpc,
        subnet=subnets[0],
        clients=ec2.SecurityGroup(stack, "Clients", vpc=vpc, allow_all_outbound=False),
        name=plan.lustre.name,
        settings=plan.lustre.new,
    )


def compute(stack: cdk.Stack, vpc: ec2.IVpc, subnets: list[ec2.ISubnet], plan: ClusterPlan) -> None:
    assert isinstance(plan.lustre, LustrePlan)
    mount = FirstBoot(stack, "FirstBoot", mounts=plan.mounts)
    user_data = ec2.MultipartUserData()
    mount.add_to(user_data)
    node = EfaLaunchTemplate(
        stack,
        "Node",
        interfaces=plan.interfaces,
        security_groups=[EfaSecurityGroup(stack, "Efa", vpc=vpc).security_group],
        root_device=plan.ami.root_device,
        root_volume=plan.root_volume,
        capacity=plan.capacity,
        user_data=user_data,
    )
    assert plan.repository
    repository = TrainingRepository(stack, "Images", repository_name=plan.repository.name)
    assert plan.ami.parameter
    batch = BatchMultiNode(
        stack,
        "Batch",
        subnet=subnets[0],
        launch_template_id=node.launch_template_id,
        launch_template_version=node.latest_version,
        instance_type=plan.instance.name,
        nodes=plan.nodes,
        container=batch_of(plan).container,
        image_uri=repository.repository.repository_uri_for_tag_or_digest(
            batch_of(plan).image.tag_or_digest
        ),
        image_type=batch_of(plan).image_type,
        image_id=ssm.StringParameter.value_for_string_parameter(stack, plan.ami.parameter),
        placement_group_name=ClusterPlacementGroup(stack, "Peers").name,
    )
    repository.grant_pull(batch.instance_role)
    mount.grant(batch.instance_role)
    cdk.Tags.of(stack).add("owner", plan.tags["owner"])
    for name, value in {
        "Environment": batch.compute_environment_arn,
        "Queue": batch.job_queue_arn,
        "Job": batch.job_definition_arn,
    }.items():
        cdk.CfnOutput(stack, name, value=value)


def file_systems(aws: EmbeddedAws) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = aws.client("fsx").describe_file_systems()["FileSystems"]
    return found


def mounted(aws: EmbeddedAws) -> str:
    """The file system that nodes mount."""
    [parameter] = aws.client("ssm").get_parameters(Names=["/trainshed/lustre/test/file-system-id"])[
        "Parameters"
    ]
    value: str = parameter["Value"]
    return value


@pytest.fixture
def ami(clean_aws: EmbeddedAws, publish_ami: Callable[..., str]) -> str:
    """The AMI of the nodes, in its channel."""
    return publish_ami(clean_aws)


@pytest.mark.usefixtures("ami")
def test_a_cluster_is_made_with_its_interfaces_and_without_groups_beside_them(
    clean_aws: EmbeddedAws,
) -> None:
    done = clean_aws.deploy(template_of(compute, planned()))

    batch = clean_aws.client("batch")
    [environment] = batch.describe_compute_environments(
        computeEnvironments=[done.outputs["Environment"]]
    )["computeEnvironments"]
    [queue] = batch.describe_job_queues(jobQueues=[done.outputs["Queue"]])["jobQueues"]
    [job] = batch.describe_job_definitions(jobDefinitions=[done.outputs["Job"]])["jobDefinitions"]
    assert environment["status"] == "VALID"
    assert "securityGroupIds" not in environment["computeResources"]
    assert environment["computeResources"]["launchTemplate"]["version"] == "1"
    assert environment["computeResources"]["maxvCpus"] == 512
    assert environment["computeResources"]["tags"] == {"owner": "unassigned"}
    assert len(queue["jobStateTimeLimitActions"]) == 3
    assert job["nodeProperties"]["nodeRangeProperties"][0]["targetNodes"] == "0:"


@pytest.mark.usefixtures("ami")
def test_a_cluster_changes_in_place(clean_aws: EmbeddedAws) -> None:
    before = clean_aws.deploy(template_of(compute, planned()))

    after = clean_aws.deploy(template_of(compute, planned(nodes=8, mount="/data")))

    [environment] = clean_aws.client("batch").describe_compute_environments()["computeEnvironments"]
    assert after.outputs["Environment"] == before.outputs["Environment"]
    assert environment["computeResources"]["maxvCpus"] == 1024
    assert environment["computeResources"]["launchTemplate"]["version"] == "2"
    assert after.outputs["Job"].endswith(":2")


def test_a_file_system_is_made_and_published(clean_aws: EmbeddedAws) -> None:
    clean_aws.deploy(template_of(storage, planned(metadata_iops=6000)))

    [file_system] = file_systems(clean_aws)
    assert file_system["StorageCapacity"] == 2400
    assert file_system["LustreConfiguration"]["MetadataConfiguration"]["Iops"] == 6000
    assert mounted(clean_aws) == file_system["FileSystemId"]


def test_storage_grows_in_place(clean_aws: EmbeddedAws) -> None:
    clean_aws.deploy(template_of(storage, planned()))
    [before] = file_systems(clean_aws)

    clean_aws.deploy(template_of(storage, planned(capacity_gib=4800)))

    [after] = file_systems(clean_aws)
    assert after["FileSystemId"] == before["FileSystemId"]
    assert after["StorageCapacity"] == 4800


def test_a_replacement_is_refused_and_everything_stays(clean_aws: EmbeddedAws) -> None:
    clean_aws.deploy(template_of(storage, planned()))
    [before] = file_systems(clean_aws)

    with pytest.raises(DeploymentFailed, match="needs a new, empty file system") as error:
        clean_aws.deploy(template_of(storage, planned(), subnet=1))

    assert "SubnetIds" in str(error.value)
    assert "storage.lustre.allow_replacement: true" in str(error.value)
    [stack] = clean_aws.client("cloudformation").describe_stacks()["Stacks"]
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert [after["FileSystemId"] for after in file_systems(clean_aws)] == [before["FileSystemId"]]
    assert mounted(clean_aws) == before["FileSystemId"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"subnet": 1}, id="subnet"),
        pytest.param({"deployment": "scratch-2"}, id="deployment-type"),
    ],
)
def test_an_allowed_replacement_keeps_the_old_file_system_and_leads_nodes_to_the_new(
    clean_aws: EmbeddedAws, change: dict[str, Any]
) -> None:
    clean_aws.deploy(template_of(storage, planned()))
    [before] = file_systems(clean_aws)
    subnet = change.pop("subnet", 0)

    clean_aws.deploy(template_of(storage, planned(allow_replacement=True, **change), subnet=subnet))

    ids = {file_system["FileSystemId"] for file_system in file_systems(clean_aws)}
    assert len(ids) == 2
    assert mounted(clean_aws) in ids - {before["FileSystemId"]}


def test_deleting_the_stack_keeps_the_file_system_and_its_security_group(
    clean_aws: EmbeddedAws,
) -> None:
    done: Deployment = clean_aws.deploy(template_of(storage, planned()))
    cloudformation = clean_aws.client("cloudformation")

    cloudformation.delete_stack(StackName=done.stack_name)

    [file_system] = file_systems(clean_aws)
    groups = clean_aws.client("ec2").describe_security_groups(
        Filters=[{"Name": "description", "Values": ["FSx for Lustre file system"]}]
    )["SecurityGroups"]
    assert file_system["FileSystemId"] in done.resources.values()
    assert len(groups) == 1
