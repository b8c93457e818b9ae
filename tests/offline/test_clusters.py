"""The shipped clusters, from their files to an AWS, by the real app and the real CDK CLI."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from embedded_aws.deployment import Deployment, DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from trainshed.plan import Fleet, load_fleet

ROOT = Path(__file__).parents[2]
Synthesise = Callable[[Fleet], Path]
Deploy = Callable[..., Mapping[str, Deployment]]
PublishAmi = Callable[..., str]


@pytest.fixture(scope="module")
def train(
    embedded_aws: EmbeddedAws, synthesise: Synthesise, publish_ami: PublishAmi
) -> Mapping[str, Deployment]:
    """TrainCluster and all it depends on, deployed by the real CDK CLI."""
    publish_ami(embedded_aws)
    assembly = synthesise(load_fleet([ROOT / "clusters" / "train.yaml"]))
    return embedded_aws.cdk_deploy(assembly, "TrainCluster")


@pytest.fixture
def deploy(
    clean_aws: EmbeddedAws, synthesise: Synthesise, publish_ami: PublishAmi, tmp_path: Path
) -> Deploy:
    """Deploy a shipped cluster, or a changed copy, stack by stack through the API."""
    for accelerator in ("habana", "neuron", "nvidia"):
        publish_ami(clean_aws, f"{accelerator}/ecs")

    def run(stem: str, **changes: str) -> Mapping[str, Deployment]:
        text = (ROOT / "clusters" / f"{stem}.yaml").read_text()
        for before, after in changes.items():
            assert before in text
            text = text.replace(before, after)
        file = tmp_path / "cluster.yaml"
        file.write_text(text)
        assembly = synthesise(load_fleet([file]))
        parts = ("Prerequisites", "Network", "Storage", "Containers", "Cluster")
        order = [f"{stem[0].upper()}{stem[1:]}{part}" for part in parts]
        return {
            name: clean_aws.deploy(
                json.loads((assembly / f"{name}.template.json").read_text()), stack_name=name
            )
            for name in order
            if (assembly / f"{name}.template.json").exists()
        }

    return run


def environment_of(aws: EmbeddedAws, deployment: Deployment) -> dict[str, Any]:
    arn = deployment.outputs["ComputeEnvironment"]
    answer = aws.client("batch").describe_compute_environments(computeEnvironments=[arn])
    found: dict[str, Any] = answer["computeEnvironments"][0]
    return found


def test_the_launch_template_has_every_efa_device_and_no_public_address(
    embedded_aws: EmbeddedAws, train: Mapping[str, Deployment]
) -> None:
    resources = environment_of(embedded_aws, train["TrainCluster"])["computeResources"]
    template = resources["launchTemplate"]

    [version] = embedded_aws.client("ec2").describe_launch_template_versions(
        LaunchTemplateId=template["launchTemplateId"], Versions=[template["version"]]
    )["LaunchTemplateVersions"]

    interfaces = version["LaunchTemplateData"]["NetworkInterfaces"]
    kinds = [interface["InterfaceType"] for interface in interfaces]
    assert kinds == ["efa"] + ["efa-only"] * 7
    assert not [each for each in interfaces if each.get("AssociatePublicIpAddress")]


def test_the_compute_environment_is_valid_and_has_no_security_groups(
    embedded_aws: EmbeddedAws, train: Mapping[str, Deployment]
) -> None:
    environment = environment_of(embedded_aws, train["TrainCluster"])

    assert environment["status"] == "VALID"
    assert not environment["computeResources"].get("securityGroupIds")
    assert environment["computeResources"]["maxvCpus"] == 16 * 128


def test_nodes_find_the_file_system_in_parameter_store(
    embedded_aws: EmbeddedAws, train: Mapping[str, Deployment]
) -> None:
    names = [f"/trainshed/lustre/train/{fact}" for fact in ("dns-name", "file-system-id")]

    published = embedded_aws.client("ssm").get_parameters(Names=names)["Parameters"]

    facts = {each["Name"].rpartition("/")[2]: each["Value"] for each in published}
    [system] = embedded_aws.client("fsx").describe_file_systems(
        FileSystemIds=[facts["file-system-id"]]
    )["FileSystems"]
    assert facts["dns-name"] == system["DNSName"]


def test_tasks_of_a_job_reach_each_other_through_the_default_group(
    embedded_aws: EmbeddedAws, train: Mapping[str, Deployment]
) -> None:
    ec2 = embedded_aws.client("ec2")
    of_train = [{"Name": "tag:trainshed:cluster", "Values": ["train"]}]
    [vpc] = ec2.describe_vpcs(Filters=of_train)["Vpcs"]
    filters = [
        {"Name": "vpc-id", "Values": [vpc["VpcId"]]},
        {"Name": "group-name", "Values": ["default"]},
    ]
    [group] = ec2.describe_security_groups(Filters=filters)["SecurityGroups"]

    [inward] = group["IpPermissions"]
    outward = {rule["IpProtocol"]: rule for rule in group["IpPermissionsEgress"]}

    assert inward["UserIdGroupPairs"][0]["GroupId"] == group["GroupId"]
    assert not inward["IpRanges"]
    assert outward["-1"]["UserIdGroupPairs"][0]["GroupId"] == group["GroupId"]
    assert not outward["-1"]["IpRanges"]
    assert outward["tcp"]["FromPort"] == outward["tcp"]["ToPort"] == 443


def test_a_multi_node_job_can_be_submitted_with_fewer_nodes(
    embedded_aws: EmbeddedAws, train: Mapping[str, Deployment]
) -> None:
    batch, outputs = embedded_aws.client("batch"), train["TrainCluster"].outputs

    job = batch.submit_job(
        jobName="two-nodes",
        jobQueue=outputs["JobQueue"],
        jobDefinition=outputs["JobDefinition"],
        nodeOverrides={"numNodes": 2},
    )

    [found] = batch.describe_jobs(jobs=[job["jobId"]])["jobs"]
    assert found["nodeProperties"]["numNodes"] == 2
    batch.terminate_job(jobId=job["jobId"], reason="seen")


def test_a_changed_cluster_is_updated_in_place(clean_aws: EmbeddedAws, deploy: Deploy) -> None:
    before = deploy("train")["TrainCluster"]

    after = deploy("train", **{"root_gib: 512": "root_gib: 1024", "max: 16": "max: 32"})

    cluster = after["TrainCluster"]
    assert cluster.outputs["ComputeEnvironment"] == before.outputs["ComputeEnvironment"]
    resources = environment_of(clean_aws, cluster)["computeResources"]
    assert resources["maxvCpus"] == 32 * 128
    # The new version of the launch template reached the environment.
    assert resources["launchTemplate"]["version"] == "2"


def test_a_job_runs_another_accounts_image_and_uses_buckets_and_policies(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    uri = "210987654321.dkr.ecr.eu-west-1.amazonaws.com/team/train:v1"
    iam = clean_aws.client("iam")
    allow = {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": "arn:aws:kms:us-west-2::key/k"}
    document = {"Version": "2012-10-17", "Statement": [allow]}
    policy = iam.create_policy(PolicyName="decrypt", PolicyDocument=json.dumps(document))
    arn = policy["Policy"]["Arn"]
    bucket = "{bucket: my-runs, prefix: a/, access: read-write}"
    asked = f"job:\n  buckets: [{bucket}]\n  policies: [{arn}]"

    deployed = deploy(
        "train", **{'{repository: train, tag: "2.9.0-neuronx"}': f"{{uri: '{uri}'}}", "job:": asked}
    )

    batch = clean_aws.client("batch")
    [job] = batch.describe_job_definitions(
        jobDefinitions=[deployed["TrainCluster"].outputs["JobDefinition"]]
    )["jobDefinitions"]
    [nodes] = job["nodeProperties"]["nodeRangeProperties"]
    role = nodes["container"]["jobRoleArn"].rpartition("/")[2]
    assert "TrainContainers" not in deployed
    assert nodes["container"]["image"] == uri
    attached = iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]
    assert [each["PolicyArn"] for each in attached] == [arn]
    [name] = set(iam.list_role_policies(RoleName=role)["PolicyNames"]) - {"Launch"}
    written = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
    resources = [each["Resource"] for each in written["Statement"]]
    assert resources == ["arn:aws:s3:::my-runs", "arn:aws:s3:::my-runs/a/*"]


def environments_of(aws: EmbeddedAws, deployment: Deployment) -> tuple[list[str], list[str]]:
    """The environments that exist, and those of the cluster's queue."""
    batch = aws.client("batch")
    all_of_them = batch.describe_compute_environments()["computeEnvironments"]
    [queue] = batch.describe_job_queues(jobQueues=[deployment.outputs["JobQueue"]])["jobQueues"]
    return (
        [each["computeEnvironmentArn"] for each in all_of_them],
        [each["computeEnvironment"] for each in queue["computeEnvironmentOrder"]],
    )


def test_a_cluster_on_a_capacity_block_can_be_changed_and_can_leave_it(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    block = _purchase(clean_aws.client("ec2"), days=1)["CapacityReservationId"]
    on_block = {"storage:": f"capacity: {{capacity_block: {block}}}\nstorage:"}

    steps = (
        deploy("train", **on_block)["TrainCluster"],
        deploy("train", **on_block, **{"root_gib: 512": "root_gib: 1024"})["TrainCluster"],
        deploy("train")["TrainCluster"],
    )

    made = [step.outputs["ComputeEnvironment"] for step in steps]
    assert len(set(made)) == 3
    assert len({step.outputs["JobQueue"] for step in steps}) == 1
    assert environments_of(clean_aws, steps[-1]) == ([made[-1]], [made[-1]])
    last = environment_of(clean_aws, steps[-1])["computeResources"]
    assert last["allocationStrategy"] == "BEST_FIT_PROGRESSIVE"


def test_a_window_more_puts_its_block_into_the_group_and_ends_no_job(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    ec2, groups = clean_aws.client("ec2"), clean_aws.client("resource-groups")
    blocks = [_purchase(ec2, days) for days in (1, 2)]
    windows = [
        f"{{capacity_block: {each['CapacityReservationId']}, from: {each['StartDate']:%FT%H:%MZ}, "
        f"until: {each['EndDate']:%FT%H:%MZ}}}"
        for each in blocks
    ]

    def deployed(count: int) -> tuple[str, list[str]]:
        calendar = f"capacity: {{calendar: [{', '.join(windows[:count])}]}}"
        stack = deploy("train", **{"storage:": f"{calendar}\nstorage:"})["TrainCluster"]
        [group] = groups.list_groups()["GroupIdentifiers"]
        members = groups.list_group_resources(Group=group["GroupArn"])["ResourceIdentifiers"]
        return stack.outputs["ComputeEnvironment"], [each["ResourceArn"] for each in members]

    first, second = deployed(1), deployed(2)

    arns = [each["CapacityReservationArn"] for each in blocks]
    assert first[0] == second[0]
    assert (first[1], second[1]) == (arns[:1], arns)


def _purchase(ec2: Any, days: int) -> dict[str, Any]:
    """Buy a Capacity Block for 16 nodes of the shipped cluster."""
    offerings = ec2.describe_capacity_block_offerings(
        InstanceType="trn1.32xlarge", InstanceCount=16, CapacityDurationHours=24 * days
    )["CapacityBlockOfferings"]
    zones = {
        zone["ZoneName"]: zone["ZoneId"]
        for zone in ec2.describe_availability_zones()["AvailabilityZones"]
    }
    [offer] = [each for each in offerings if zones[each["AvailabilityZone"]] == "usw2-az1"]
    bought = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )
    reservation: dict[str, Any] = bought["CapacityReservation"]
    return reservation


def test_a_withdrawn_type_fails_today_with_the_reason(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    with pytest.raises(DeploymentFailed, match=r"dl1\.24xlarge"):
        deploy("dl1")

    stack = clean_aws.client("cloudformation").describe_stacks(StackName="Dl1Cluster")
    assert stack["Stacks"][0]["StackStatus"] == "ROLLBACK_COMPLETE"


@pytest.mark.embedded_aws(as_of="2026-06")
def test_a_withdrawn_type_deploys_to_the_aws_of_its_time(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    assert environment_of(clean_aws, deploy("dl1")["Dl1Cluster"])["status"] == "VALID"


@pytest.mark.embedded_aws(as_of="2026-04")
def test_nodes_without_efa_are_launched_together_with_one_interface_each(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    # CUDA 12.9 is the last for its GPUs.
    changes = {"p4d.24xlarge": "p3.16xlarge", "2.10.0-cu130": "2.7.1-cu126"}
    deployed = deploy("p4d", **changes)["P4dCluster"]

    environment = environment_of(clean_aws, deployed)
    resources, ec2 = environment["computeResources"], clean_aws.client("ec2")
    assert environment["status"] == "VALID"
    [placement] = ec2.describe_placement_groups(GroupNames=[resources["placementGroup"]])[
        "PlacementGroups"
    ]
    assert placement["Strategy"] == "cluster"
    template = resources["launchTemplate"]["launchTemplateId"]
    [version] = ec2.describe_launch_template_versions(LaunchTemplateId=template)[
        "LaunchTemplateVersions"
    ]
    [interface] = version["LaunchTemplateData"]["NetworkInterfaces"]
    assert interface["InterfaceType"] == "interface"
    peers, clients = ec2.describe_security_groups(GroupIds=interface["Groups"])["SecurityGroups"]
    [rule] = (peers if peers["Description"] == "TCP peers" else clients)["IpPermissions"]
    assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 0, 65535)
    [definition] = clean_aws.client("batch").describe_job_definitions()["jobDefinitions"]
    [nodes] = definition["nodeProperties"]["nodeRangeProperties"]
    assert not nodes["container"]["linuxParameters"].get("devices")


def test_data_outlives_the_cluster(clean_aws: EmbeddedAws, deploy: Deploy) -> None:
    deploy("p4d")
    cloudformation = clean_aws.client("cloudformation")

    for name in ("P4dCluster", "P4dStorage", "P4dContainers", "P4dPrerequisites"):
        cloudformation.delete_stack(StackName=name)

    left = {
        stack["StackName"]
        for stack in cloudformation.describe_stacks()["Stacks"]
        if stack["StackStatus"] != "DELETE_COMPLETE"
    }
    assert left == {"P4dNetwork"}
    assert len(clean_aws.client("fsx").describe_file_systems()["FileSystems"]) == 1
    names = clean_aws.client("ecr").describe_repositories()["repositories"]
    assert "p4d" in {each["repositoryName"] for each in names}
    assert not clean_aws.client("batch").describe_compute_environments()["computeEnvironments"]
    assert not clean_aws.client("ec2").describe_launch_templates()["LaunchTemplates"]
