"""What happens to a cluster after its first deployment, or when that fails."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deployed_jobs import deploy_stacks

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from trainshed.plan import Fleet, load_fleet

Synthesise = Callable[[Fleet], Path]
# Synthesises a cluster file with these lines; returns the assembly's folder.
Assembly = Callable[..., Path]
# Deploys stacks of such a cluster through the API, in this order.
Deploy = Callable[..., None]

CLUSTER = (
    "name: TrainCluster\nregion: us-west-2\ninstance: {{type: trn1.32xlarge, nodes: {nodes}}}\n"
)
NEW = "storage: {lustre: {deployment: scratch-2}}"
NETWORK, STORAGE, IMAGES, COMPUTE = (
    "TrainNetwork",
    "TrainStorage",
    "TrainContainers",
    "TrainCluster",
)


@pytest.fixture(autouse=True)
def channel(clean_aws: EmbeddedAws, publish_ami: Callable[..., str]) -> str:
    """An AMI for the nodes, which a new account lacks."""
    return publish_ami(clean_aws)


@pytest.fixture
def assembly(synthesise: Synthesise, tmp_path: Path) -> Assembly:
    def make(*lines: str, nodes: str = "{max: 4}") -> Path:
        file = tmp_path / "train.yaml"
        file.write_text(CLUSTER.format(nodes=nodes) + "\n".join(lines))
        return synthesise(load_fleet([file]))

    return make


@pytest.fixture
def deploy(clean_aws: EmbeddedAws, assembly: Assembly) -> Deploy:
    def run(*lines: str, stacks: tuple[str, ...], **options: str) -> None:
        folder = assembly(*lines, **options)
        deploy_stacks(clean_aws, folder, *stacks)

    return run


def stack(aws: EmbeddedAws, name: str) -> dict[str, Any]:
    found: dict[str, Any] = aws.client("cloudformation").describe_stacks(StackName=name)["Stacks"][
        0
    ]
    return found


def file_systems(aws: EmbeddedAws) -> list[str]:
    found = aws.client("fsx").describe_file_systems()["FileSystems"]
    return [each["FileSystemId"] for each in found]


def delete(aws: EmbeddedAws, *stacks: str) -> None:
    for name in stacks:
        aws.client("cloudformation").delete_stack(StackName=name)


def test_a_failed_first_deployment_is_repeated_with_the_same_command(
    clean_aws: EmbeddedAws, assembly: Assembly
) -> None:
    folder = assembly("storage: {lustre: {deployment: scratch-2, s3: {bucket: my-datasets}}}")

    with pytest.raises(DeploymentFailed, match="unable to access bucket my-datasets"):
        clean_aws.cdk_deploy(folder, STORAGE)

    failed = stack(clean_aws, STORAGE)
    assert failed["StackStatus"] == "ROLLBACK_COMPLETE"
    # Nothing that bills is left, and nothing keeps the stack from being replaced.
    assert file_systems(clean_aws) == []
    assert failed["EnableTerminationProtection"] is False

    clean_aws.client("s3").create_bucket(
        Bucket="my-datasets", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
    )
    clean_aws.cdk_deploy(folder, STORAGE)

    made = stack(clean_aws, STORAGE)
    assert made["StackStatus"] == "CREATE_COMPLETE"
    assert made["EnableTerminationProtection"] is True
    # The next deployment, which changes nothing, leaves the protection on.
    clean_aws.cdk_deploy(folder, STORAGE)
    assert stack(clean_aws, STORAGE)["EnableTerminationProtection"] is True


def test_an_update_that_is_rolled_back_keeps_the_protection(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    cloudformation = clean_aws.client("cloudformation")
    deploy(NEW, stacks=(NETWORK, STORAGE))
    cloudformation.update_termination_protection(
        StackName=STORAGE, EnableTerminationProtection=True
    )

    with pytest.raises(DeploymentFailed, match="DeploymentType from SCRATCH_2 to PERSISTENT_2"):
        deploy("storage: {lustre: {}}", stacks=(STORAGE,))

    kept = stack(clean_aws, STORAGE)
    assert kept["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert kept["EnableTerminationProtection"] is True


def test_a_kept_file_system_is_found_and_used_when_it_is_named(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy(NEW, stacks=(NETWORK, STORAGE))
    delete(clean_aws, STORAGE)
    [kept] = file_systems(clean_aws)

    with pytest.raises(DeploymentFailed, match=f"storage.lustre.existing: {kept}"):
        deploy(NEW, stacks=(STORAGE,))
    delete(clean_aws, STORAGE)
    deploy(f"storage: {{lustre: {{existing: {kept}}}}}", stacks=(STORAGE,))

    assert file_systems(clean_aws) == [kept]
    published = clean_aws.client("ssm").get_parameters_by_path(Path="/trainshed/lustre/train")
    facts = {each["Name"].rpartition("/")[2]: each["Value"] for each in published["Parameters"]}
    [system] = clean_aws.client("fsx").describe_file_systems(FileSystemIds=[kept])["FileSystems"]
    assert facts == {
        "file-system-id": kept,
        "dns-name": system["DNSName"],
        "mount-name": system["LustreConfiguration"]["MountName"],
    }
    assert lustre_ports_from_clients(clean_aws, system["NetworkInterfaceIds"][0]) == {988, 1018}


def lustre_ports_from_clients(aws: EmbeddedAws, interface: str) -> set[int]:
    """First ports that the group of the nodes may reach on a file system's interface."""
    ec2 = aws.client("ec2")
    clients = stack_resource(aws, NETWORK, "AWS::EC2::SecurityGroup")
    [found] = ec2.describe_network_interfaces(NetworkInterfaceIds=[interface])["NetworkInterfaces"]
    rules = ec2.describe_security_groups(GroupIds=[found["Groups"][0]["GroupId"]])
    return {
        rule["FromPort"]
        for rule in rules["SecurityGroups"][0]["IpPermissions"]
        if clients in [pair["GroupId"] for pair in rule["UserIdGroupPairs"]]
    }


def stack_resource(aws: EmbeddedAws, name: str, resource_type: str) -> str:
    """Physical id of the only resource of a type in a stack."""
    resources = aws.client("cloudformation").describe_stack_resources(StackName=name)
    [found] = [
        each["PhysicalResourceId"]
        for each in resources["StackResources"]
        if each["ResourceType"] == resource_type
    ]
    return str(found)


def test_an_empty_file_system_is_made_beside_a_kept_one_only_when_that_is_allowed(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy(NEW, stacks=(NETWORK, STORAGE))
    delete(clean_aws, STORAGE)

    deploy(NEW.replace("scratch-2", "scratch-2, allow_replacement: true"), stacks=(STORAGE,))

    assert len(file_systems(clean_aws)) == 2


def test_a_stack_lets_go_of_its_file_system_and_goes_on_using_it(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy(NEW, stacks=(NETWORK, STORAGE))
    [kept] = file_systems(clean_aws)

    deploy(f"storage: {{lustre: {{existing: {kept}}}}}", stacks=(STORAGE,))

    assert file_systems(clean_aws) == [kept]
    [system] = clean_aws.client("fsx").describe_file_systems(FileSystemIds=[kept])["FileSystems"]
    assert lustre_ports_from_clients(clean_aws, system["NetworkInterfaceIds"][0]) == {988, 1018}


@pytest.mark.parametrize(
    ("storage", "reason"),
    [
        ("{existing: fs-0123456789abcdef0}", "there is no file system fs-0123456789abcdef0"),
        ("{existing: KEPT, efa: true}", "is not EFA-enabled; leave out storage.lustre.efa"),
        ("{existing: KEPT, name: other}", "give that VPC in the cluster file"),
    ],
)
def test_a_file_system_that_nodes_cannot_use_is_refused_with_the_reason(
    clean_aws: EmbeddedAws, deploy: Deploy, storage: str, reason: str
) -> None:
    deploy(NEW, stacks=(NETWORK, STORAGE))
    [kept] = file_systems(clean_aws)
    lines = [f"storage: {{lustre: {storage.replace('KEPT', kept)}}}"]
    stacks: tuple[str, ...] = (STORAGE,)
    if "other" in storage:
        lines.append("network: {name: other}")
        stacks = ("OtherNetwork", "OtherStorage")

    with pytest.raises(DeploymentFailed, match=reason):
        deploy(*lines, stacks=stacks)

    assert file_systems(clean_aws) == [kept]


def test_a_kept_repository_is_found_and_used_when_the_file_says_that_it_exists(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    ecr = clean_aws.client("ecr")
    deploy(stacks=(IMAGES,))
    delete(clean_aws, IMAGES)
    with pytest.raises(DeploymentFailed, match=r"use it with image\.existing: true"):
        deploy(stacks=(IMAGES,))
    delete(clean_aws, IMAGES)
    deploy("image: {existing: true}", stacks=(IMAGES,))

    delete(clean_aws, IMAGES)
    assert ecr.describe_repositories(repositoryNames=["train"])["repositories"]


def test_an_images_stack_is_updated_while_its_repository_is_there(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy(stacks=(IMAGES,))

    deploy("owner: somebody-else", stacks=(IMAGES,))

    assert stack(clean_aws, IMAGES)["StackStatus"] == "UPDATE_COMPLETE"


def test_another_s3_link_is_refused_with_the_way_to_it_which_works(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    def linked(prefix: str) -> str:
        s3 = f"s3: {{bucket: my-datasets, prefix: {prefix}}}"
        return f"storage: {{lustre: {{deployment: scratch-2, {s3}}}}}"

    clean_aws.client("s3").create_bucket(
        Bucket="my-datasets", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
    )
    deploy(linked("old/"), stacks=(NETWORK, STORAGE))

    with pytest.raises(DeploymentFailed, match="deploy once without s3, then with the new one"):
        deploy(linked("new/"), stacks=(STORAGE,))
    deploy(NEW, stacks=(STORAGE,))
    deploy(linked("new/"), stacks=(STORAGE,))

    [link] = clean_aws.client("fsx").describe_data_repository_associations()["Associations"]
    assert link["DataRepositoryPath"] == "s3://my-datasets/new/"


def test_more_nodes_can_be_kept_without_a_new_compute_environment(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy(stacks=(NETWORK, COMPUTE), nodes="{max: 4}")
    before = stack_resource(clean_aws, COMPUTE, "AWS::Batch::ComputeEnvironment")

    deploy(stacks=(NETWORK, COMPUTE), nodes="{min: 2, max: 4}")

    batch = clean_aws.client("batch")
    [found] = batch.describe_compute_environments()["computeEnvironments"]
    assert found["computeEnvironmentArn"] == before
    assert found["computeResources"]["minvCpus"] == 2 * 128
    assert found["computeResources"]["desiredvCpus"] == 2 * 128


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("zone: usw2-az4", "zone usw2-az1 cannot go from TrainNetwork, in use by TrainStorage"),
        (
            "network: {cidr: 10.60.0.0/16}",
            "the VPC of TrainNetwork cannot change from 10.20.0.0/16 to 10.60.0.0/16",
        ),
        (
            "network: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0}",
            "the VPC of TrainNetwork cannot change from 10.20.0.0/16 to vpc-0123456789abcdef0",
        ),
    ],
)
def test_a_network_in_use_is_not_taken_away_before_anything_is_made(
    clean_aws: EmbeddedAws, deploy: Deploy, change: str, reason: str
) -> None:
    deploy(NEW, stacks=(NETWORK, STORAGE))

    with pytest.raises(DeploymentFailed, match=reason):
        deploy(change, NEW, stacks=(NETWORK,))

    status = stack(clean_aws, NETWORK)["StackStatus"]
    assert status == "UPDATE_ROLLBACK_COMPLETE"
    assert len(clean_aws.client("ec2").describe_nat_gateways()["NatGateways"]) == 1
    assert len(clean_aws.client("ec2").describe_vpcs()["Vpcs"]) == 1


def test_a_zone_that_nobody_uses_may_go(clean_aws: EmbeddedAws, deploy: Deploy) -> None:
    deploy(NEW, stacks=(NETWORK,))

    deploy("zone: usw2-az4", NEW, stacks=(NETWORK, STORAGE))

    assert stack(clean_aws, NETWORK)["StackStatus"] == "UPDATE_COMPLETE"


def test_a_network_gains_endpoints_while_it_is_in_use(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy(NEW, stacks=(NETWORK, STORAGE))

    deploy(NEW, "network: {endpoints: [ecr]}", stacks=(NETWORK,))

    assert stack(clean_aws, NETWORK)["StackStatus"] == "UPDATE_COMPLETE"


def gateways(aws: EmbeddedAws) -> int:
    """How many NAT gateways were made; EC2 lists those that are deleted for a while."""
    return len(aws.client("ec2").describe_nat_gateways()["NatGateways"])


@pytest.mark.parametrize(
    ("storage", "moved", "stacks"),
    [
        (NEW, "TrainCluster, TrainStorage", (NETWORK, STORAGE, COMPUTE)),
        # Batch would take the nodes to the new VPC, and the old one would stay and bill.
        ("", "TrainCluster", (NETWORK, COMPUTE)),
    ],
)
def test_another_network_name_is_refused_before_a_second_network_is_made(
    clean_aws: EmbeddedAws,
    assembly: Assembly,
    deploy: Deploy,
    storage: str,
    moved: str,
    stacks: tuple[str, ...],
) -> None:
    deploy(storage, stacks=stacks)

    with pytest.raises(
        DeploymentFailed, match=f"{moved} cannot move from TrainNetwork to LabNetwork: undo"
    ):
        clean_aws.cdk_deploy(assembly(storage, "network: {name: lab}"), COMPUTE)

    assert gateways(clean_aws) == 1
    assert len(clean_aws.client("ec2").describe_vpcs()["Vpcs"]) == 1
    # With the name put back, everything is as before.
    deploy(storage, stacks=stacks)


def test_a_cluster_does_not_move_to_a_network_that_is_there(
    clean_aws: EmbeddedAws,
    assembly: Assembly,
    deploy: Deploy,
    synthesise: Synthesise,
    tmp_path: Path,
) -> None:
    lab = tmp_path / "lab.yaml"
    lab.write_text(CLUSTER.format(nodes="{max: 4}").replace("Train", "Lab") + "zone: usw2-az4\n")
    first = synthesise(load_fleet([lab]))
    clean_aws.deploy(
        json.loads((first / "LabNetwork.template.json").read_text()), stack_name="LabNetwork"
    )
    deploy(NEW, stacks=(NETWORK, STORAGE))
    train = tmp_path / "train.yaml"
    train.write_text(f"{train.read_text()}\nnetwork: {{name: lab}}\n")
    both = synthesise(load_fleet([lab, train]))

    with pytest.raises(DeploymentFailed, match="TrainStorage cannot move from TrainNetwork to Lab"):
        clean_aws.deploy(
            json.loads((both / "LabNetwork.template.json").read_text()), stack_name="LabNetwork"
        )

    # The zone of the new cluster would have had one more.
    assert gateways(clean_aws) == 2
    assert stack(clean_aws, "LabNetwork")["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"


@pytest.mark.parametrize("change", ["storage: {lustre: {deployment: scratch-2, name: data}}", ""])
def test_a_file_system_in_use_is_not_renamed_or_left_out_before_anything_is_made(
    clean_aws: EmbeddedAws, deploy: Deploy, change: str
) -> None:
    deploy(NEW, stacks=(NETWORK, STORAGE, COMPUTE))

    with pytest.raises(
        DeploymentFailed,
        match="file system train cannot go from TrainNetwork, in use by TrainCluster, TrainStorage",
    ):
        deploy(change, stacks=(NETWORK,))

    groups = clean_aws.client("ec2").describe_security_groups()["SecurityGroups"]
    clients = [each for each in groups if "mount the Lustre file system" in each["Description"]]
    assert [each["Description"].split()[-1] for each in clients] == ["train"]


def test_a_file_system_gets_another_name_after_a_teardown(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy(NEW, stacks=(NETWORK, STORAGE, COMPUTE))
    [kept] = file_systems(clean_aws)

    delete(clean_aws, COMPUTE, STORAGE)
    deploy(
        f"storage: {{lustre: {{existing: {kept}, name: data}}}}",
        stacks=(NETWORK, "DataStorage", COMPUTE),
    )

    assert file_systems(clean_aws) == [kept]


def test_another_name_of_a_file_system_is_refused_in_a_vpc_that_was_there(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    ec2 = clean_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.40.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.40.0.0/20", AvailabilityZoneId="usw2-az1")[
        "Subnet"
    ]["SubnetId"]
    there = f"network: {{vpc: {vpc}, subnet: {subnet}}}\nzone: usw2-az1"
    deploy(there, NEW, stacks=(NETWORK, STORAGE))

    with pytest.raises(DeploymentFailed, match="file system train cannot go from TrainNetwork"):
        deploy(there, NEW.replace("scratch-2", "scratch-2, name: data"), stacks=(NETWORK,))
    with pytest.raises(DeploymentFailed, match="TrainStorage cannot move from TrainNetwork to Lab"):
        deploy(there.replace("{vpc", "{name: lab, vpc"), NEW, stacks=("LabNetwork",))


def test_one_of_two_clusters_takes_a_file_system_of_its_own(
    clean_aws: EmbeddedAws, synthesise: Synthesise, tmp_path: Path
) -> None:
    def deploy(name: str, *stacks: str) -> None:
        for cluster, lustre in (("One", name), ("Two", "lab")):
            (tmp_path / f"{cluster}.yaml").write_text(
                CLUSTER.format(nodes="{max: 4}").replace("TrainCluster", cluster)
                + "network: {name: lab}\n"
                + f"storage: {{lustre: {{deployment: scratch-2, name: {lustre}}}}}\n"
            )
        folder = synthesise(load_fleet(sorted(tmp_path.glob("*.yaml"))))
        deploy_stacks(clean_aws, folder, *stacks)

    deploy("lab", "LabNetwork", "LabStorage", "One", "Two")

    deploy("own", "LabNetwork", "OwnStorage", "One")

    assert len(file_systems(clean_aws)) == 2
