"""`trainshed orphans`: each kind of thing that is left, and that its command removes it."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from preflight_role import Role, without

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.faults import Fault
from trainshed.account.deployed_stacks import DeployedStack, all_stacks
from trainshed.aws import Region
from trainshed.orphans.ownership import OWNERSHIP_ACTIONS
from trainshed.orphans.search import LOOKS, find_orphans
from trainshed.prices import load_prices

ROOT = Path(__file__).parents[2]

LUSTRE = "storage: {lustre: {deployment: scratch-2}}\n"


def named(records: list[dict[str, Any]]) -> dict[str, str]:
    """Return names by kind; of several of a kind, that of the last."""
    return {each["what"]: each["name"] for each in records}


def test_an_account_with_a_cluster_that_runs_has_none(project: Any) -> None:
    project.describe("storage: {lustre: {deployment: scratch-2}, bucket: {}}\n")
    data = "TrainStorage", "TrainBucket"
    project.deploy("TrainNetwork", *data, "TrainContainers", "TrainCluster")

    assert project.orphans() == {"waste": [], "kept": [], "unseen": []}
    assert project.trainshed("orphans", "--region", "us-west-2").out == (
        "nothing is left in us-west-2\n"
    )


def test_what_a_killed_deployment_leaves_goes_by_the_commands(project: Any) -> None:
    project.describe(LUSTRE)
    project.deploy("TrainNetwork", "TrainStorage")

    found = project.orphans()

    assert [each["name"] for each in found["waste"]] == ["TrainStorage", "TrainNetwork"]
    storage, network = found["waste"]
    assert storage["size"] == "1 file system"
    assert storage["why"] == "no deployed cluster uses it"
    # 1200 GiB at 0.14 USD.
    assert storage["usd_per_month"] == 168
    assert network["size"] == "1 NAT gateway, 1 Elastic IP"
    assert network["usd_per_month"] == 36.5
    project.run(storage["command"])
    [system] = project.orphans()["kept"]
    assert system["what"] == "file system"
    project.run(system["command"])
    # Its security group was kept with it, and holds the network.
    found = project.orphans()
    assert [each["what"] for each in found["waste"]] == ["security group", "stack"]
    for each in found["waste"]:
        project.run(each["command"])
    [log] = project.orphans()["kept"]
    assert log["why"] == "a log of TrainNetwork; each line is kept for 90 days"
    project.run(log["command"])
    assert project.orphans() == {"waste": [], "kept": [], "unseen": []}


def test_containers_and_a_bucket_that_a_killed_deployment_leaves(project: Any) -> None:
    project.describe("storage: {bucket: {}}\n")
    project.deploy("TrainBucket", "TrainContainers")
    # As a cluster in an existing VPC, from whose network it imports nothing.
    bucket = {"Fn::Join": ["", ["trainshed-train-", {"Ref": "AWS::AccountId"}, "-us-west-2"]]}
    repository = {"Fn::Sub": "arn:aws:ecr:us-west-2:${AWS::AccountId}:repository/train"}
    parameters = {
        name: {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}}
        for name, value in (("Bucket", bucket), ("Repository", repository))
    }
    cloudformation = project.aws.client("cloudformation")
    cloudformation.create_stack(
        StackName="Cluster", TemplateBody=json.dumps({"Resources": parameters})
    )

    assert project.orphans()["waste"] == []

    cloudformation.delete_stack(StackName="Cluster")
    found = project.orphans()["waste"]

    assert [(each["name"], each["size"]) for each in found] == [
        ("TrainBucket", "1 bucket"),
        # Without images it costs nothing.
        ("TrainContainers", ""),
    ]
    assert {each["why"] for each in found} == {"no deployed cluster uses it"}
    for each in found:
        project.run(each["command"])
    assert [each["what"] for each in project.orphans()["kept"]] == ["bucket", "repository"]


def test_two_things_of_one_name_are_two(project: Any) -> None:
    ecr, cloudformation = project.aws.client("ecr"), project.aws.client("cloudformation")
    ecr.create_repository(
        repositoryName="train", tags=[{"Key": "trainshed:cluster", "Value": "train"}]
    )
    parameter = {
        "Type": "AWS::SSM::Parameter",
        "Properties": {"Name": "train", "Type": "String", "Value": "another's"},
    }
    cloudformation.create_stack(
        StackName="Others", TemplateBody=json.dumps({"Resources": {"Parameter": parameter}})
    )

    [found] = project.orphans()["kept"]

    assert (found["what"], found["name"]) == ("repository", "train")


def test_data_that_a_teardown_keeps_is_no_waste(project: Any) -> None:
    project.describe(
        "storage: {efs: {}, openzfs: {capacity_gib: 64, throughput: 160}, bucket: {}}\n"
    )
    stacks = ("TrainNetwork", "TrainEfs", "TrainOpenZfs", "TrainBucket", "TrainContainers")
    project.deploy(*stacks, "TrainCluster")
    torn = project.trainshed("teardown", "TrainCluster", "--yes")
    assert torn.code == 0, torn.err

    found = project.orphans()

    assert named(found["kept"]).keys() == {
        "EFS file system",
        "OpenZFS file system",
        "bucket",
        "repository",
        "log group",
    }
    assert [each["name"] for each in found["waste"]][-1] == "TrainNetwork"
    assert all(each["age_days"] == 0 for each in found["kept"])
    for each in (*found["kept"], *found["waste"]):
        project.run(each["command"])
    # What FSx makes of a file system that is deleted.
    left = project.orphans()
    assert {each["what"] for each in left["kept"]} == {"backup", "log group"}
    for each in (*left["kept"], *left["waste"]):
        project.run(each["command"])
    assert project.orphans() == {"waste": [], "kept": [], "unseen": []}


def test_automatic_backups_of_efs_outlive_their_file_system(project: Any) -> None:
    project.describe("storage: {efs: {}}\n")
    project.deploy("TrainNetwork", "TrainEfs")
    project.aws.let_pass(days=2)
    assert not named(project.orphans()["kept"]).get("recovery point")
    assert project.trainshed("teardown", "TrainCluster", "--yes").code == 0
    [efs] = [e for e in project.orphans()["kept"] if e["what"] == "EFS file system"]
    project.run(efs["command"])
    # Somebody else's, in the same vault.
    other = project.aws.client("efs").create_file_system(Backup=True)["FileSystemId"]
    project.aws.let_pass(days=1)
    project.aws.client("efs").delete_file_system(FileSystemId=other)

    found = [e for e in project.orphans()["kept"] if e["what"] == "recovery point"]

    assert len(found) == 2
    for each in found:
        assert each["size"] == f"backup of {efs['name']}, 0.0 GiB"
        assert re.fullmatch(
            r"data of storage\.efs, name train; ends by itself on \d{4}-\d\d-\d\d", each["why"]
        )
        with pytest.raises(ClientError, match="explicit deny in a resource-based policy"):
            project.run(each["command"])
    project.aws.client("backup").put_backup_vault_access_policy(
        BackupVaultName="aws/efs/automatic-backup-vault",
        Policy='{"Version": "2012-10-17", "Statement": []}',
    )
    for each in found:
        project.run(each["command"])
    assert "recovery point" not in {e["what"] for e in project.orphans()["kept"]}


def test_what_a_cluster_file_names_as_existing_is_in_use(project: Any) -> None:
    project.describe(LUSTRE)
    project.deploy("TrainNetwork", "TrainStorage", "TrainContainers")
    assert project.trainshed("teardown", "TrainCluster", "--yes").code == 0
    kept = named(project.orphans()["kept"])
    assert {"file system", "repository"} <= kept.keys()

    project.describe(
        f"storage: {{lustre: {{existing: {kept['file system']}}}}}\nimage: {{existing: true}}\n"
    )

    assert named(project.orphans()["kept"]).keys() & {"file system", "repository"} == set()


def test_what_a_cluster_uses_by_existing_is_in_use_without_its_file(project: Any) -> None:
    project.describe(LUSTRE)
    project.deploy("TrainNetwork", "TrainStorage")
    assert project.trainshed("teardown", "TrainCluster", "--yes").code == 0
    [system] = project.orphans()["kept"]
    project.describe(f"storage: {{lustre: {{existing: {system['name']}}}}}\n")
    project.deploy("TrainNetwork", "TrainStorage", "TrainContainers", "TrainCluster")
    project.file.unlink()

    found = project.orphans()

    assert "file system" not in named(found["kept"])


def test_storage_that_no_cluster_of_its_network_uses(project: Any) -> None:
    project.describe(LUSTRE)
    project.deploy("TrainNetwork", "TrainStorage")
    # What its first deployment left before the cluster file lost it.
    project.describe("")
    project.deploy("TrainContainers", "TrainCluster")

    [found] = project.orphans()["waste"]

    assert (found["name"], found["size"]) == ("TrainStorage", "1 file system")


def test_stacks_that_are_being_deployed_are_in_use(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.describe(LUSTRE)
    project.deploy("TrainNetwork", "TrainStorage")

    def at_work(region: Region) -> Iterator[DeployedStack]:
        for each in all_stacks(region):
            busy = each.name == "TrainStorage"
            yield replace(each, status="UPDATE_IN_PROGRESS") if busy else each

    monkeypatch.setattr("trainshed.orphans.ownership.all_stacks", at_work)

    assert project.orphans() == {"waste": [], "kept": [], "unseen": []}


def test_a_stack_whose_creation_failed_can_only_be_deleted(project: Any) -> None:
    ecr, cloudformation = project.aws.client("ecr"), project.aws.client("cloudformation")
    ecr.create_repository(repositoryName="train")
    with pytest.raises(DeploymentFailed, match="there is an ECR repository train already"):
        project.deploy("TrainContainers")
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "not a name"}}
    cloudformation.create_stack(
        StackName="Others", TemplateBody=json.dumps({"Resources": {"Topic": topic}})
    )

    [found] = project.orphans()["waste"]

    assert (found["what"], found["name"]) == ("stack", "TrainContainers")
    assert found["why"] == "its status is ROLLBACK_COMPLETE: it can only be deleted"
    project.run(found["command"])
    assert project.orphans()["waste"] == []


def test_leftovers_of_a_failed_build(project: Any, later: None) -> None:
    ec2 = project.aws.client("ec2")
    [image] = ec2.describe_images(Owners=["self"])["Images"]
    tags = [
        {"Key": "trainshed:role", "Value": "ami-builder"},
        {"Key": "trainshed:build", "Value": "20261101T120000Z"},
    ]
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    launched = ec2.run_instances(
        ImageId=image["ImageId"],
        InstanceType="m6i.large",
        MinCount=1,
        MaxCount=1,
        SubnetId=subnet,
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
    )
    ec2.create_volume(
        AvailabilityZone="us-west-2a",
        Size=30,
        VolumeType="gp3",
        TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
    )
    ec2.create_key_pair(
        KeyName="packer_1", TagSpecifications=[{"ResourceType": "key-pair", "Tags": tags}]
    )

    found = project.orphans()["waste"]

    assert [each["what"] for each in found] == ["instance", "volume", "key pair"]
    assert found[0]["name"] == launched["Instances"][0]["InstanceId"]
    # At 0.096 USD an hour.
    assert found[0]["usd_per_month"] == 70.08
    assert found[1]["size"] == "30 GiB gp3"
    for each in found:
        project.run(each["command"])
    assert project.orphans()["waste"] == []


def test_an_ami_that_no_channel_remembers(
    project: Any, later: None, publish_ami: Callable[..., str]
) -> None:
    first = project.aws.client("ec2").describe_images(Owners=["self"])["Images"][0]["ImageId"]
    for _ in range(3):
        publish_ami(project.aws)

    [found] = project.orphans()["waste"]

    assert (found["what"], found["name"]) == ("AMI", first)
    # EC2 need not say how much of a volume was written.
    assert found["size"].startswith("snapshots of volumes of ")
    assert found["usd_per_month"] is None
    project.run(found["command"])
    assert project.orphans()["waste"] == []


def test_the_price_of_a_snapshot_is_of_what_was_written(
    project: Any, later: None, publish_ami: Callable[..., str]
) -> None:
    for _ in range(3):
        publish_ami(project.aws)

    def client(service: str) -> Any:
        made = project.aws.client(service)
        made.meta.events.register("after-call.ec2.DescribeSnapshots", written)
        return made

    def written(parsed: Any, **_: Any) -> None:
        for each in parsed["Snapshots"]:
            each["FullSnapshotSizeInBytes"] = 10 * 2**30

    place, now = Region("us-west-2", client=client), datetime.now(UTC) + timedelta(days=2)
    found, _ = find_orphans(place, (), load_prices("us-west-2"), now=now)

    [ami] = [each for each in found if each.billed.what == "AMI"]
    assert ami.billed.size == "snapshots of 10.0 GiB"
    # At 0.05 USD.
    assert ami.usd_per_month == pytest.approx(0.5)


def test_a_reservation_in_which_nothing_runs(project: Any) -> None:
    ec2 = project.aws.client("ec2")
    asked = {
        "InstanceType": "trn1.32xlarge",
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZone": "us-west-2d",
        "InstanceCount": 4,
    }
    ours, _ = (
        ec2.create_capacity_reservation(**asked)["CapacityReservation"]["CapacityReservationId"]
        for _ in range(2)
    )
    project.describe(f"zone: us-west-2d\ncapacity: {{reservation: {ours}}}\n")

    [found] = project.orphans()["waste"]

    assert found["name"] == ours
    # Four at 21.5 USD an hour.
    assert found["usd_per_month"] == 62780
    project.run(found["command"])
    assert project.orphans()["waste"] == []


def test_what_is_not_allowed_is_said_and_the_rest_is_found(project: Any) -> None:
    project.describe(LUSTRE)
    project.deploy("TrainNetwork", "TrainStorage")
    project.aws.fail(
        *(
            Fault(service=service, operation=operation, code="AccessDeniedException", count=None)
            for service, operation in (("fsx", "DescribeFileSystems"), ("kms", "ListKeys"))
        )
    )

    done = project.trainshed("orphans", "--region", "us-west-2")

    assert done.code == 1
    assert "TrainNetwork" in done.out
    # The file system is in the stack of the storage.
    assert "waste: at least 36.50 USD per month" in done.out
    assert "could not look at FSx file systems: the credentials may not call fsx:" in done.err
    assert "could not look at KMS keys: the credentials may not call kms:ListKeys" in done.err


def test_an_account_in_which_it_cannot_look_is_not_called_empty(project: Any) -> None:
    refused = (
        ("fsx", "DescribeFileSystems"),
        ("ec2", "DescribeVolumes"),
        ("ec2", "DescribeLaunchTemplates"),
    )
    project.aws.fail(
        *(
            Fault(service=service, operation=operation, code="AccessDeniedException", count=None)
            for service, operation in refused
        )
    )

    done = project.trainshed("orphans", "--region", "us-west-2")

    assert (done.code, done.out) == (1, "")
    said = done.err.splitlines()
    assert "could not look at FSx file systems: the credentials may not call fsx:" in done.err
    assert done.err.count("could not look at") == done.err.count("could not look")
    assert said[-1] == f"{len(said) - 1} of {len(LOOKS)} looks failed: more may be left"


def make_volume_of_kubernetes(ec2: Any, cluster: str) -> None:
    """Make a volume as the EBS CSI driver of an EKS cluster makes one for a claim."""
    tags = {
        f"kubernetes.io/cluster/{cluster}": "owned",
        "ebs.csi.aws.com/cluster": "true",
        "kubernetes.io/created-for/pvc/name": "data",
    }
    ec2.create_volume(
        AvailabilityZone="us-west-2a",
        Size=100,
        VolumeType="gp3",
        TagSpecifications=[
            {
                "ResourceType": "volume",
                "Tags": [{"Key": name, "Value": value} for name, value in tags.items()],
            }
        ],
    )


def test_what_kubernetes_left_is_found_by_the_key_of_its_control_plane(project: Any) -> None:
    kms, ec2 = project.aws.client("kms"), project.aws.client("ec2")
    key = kms.create_key(Tags=[{"TagKey": "trainshed:cluster", "TagValue": "kube"}])
    for cluster in ("kube", "elsewhere"):
        make_volume_of_kubernetes(ec2, cluster)

    found = project.orphans()["kept"]

    assert [(each["what"], each["why"]) for each in found] == [
        ("volume", "Kubernetes of kube made it"),
        ("key", "it encrypts the secrets of the EKS cluster kube in every backup"),
    ]
    assert found[1]["name"] == key["KeyMetadata"]["KeyId"]
    # 100 GiB of gp3 at 0.08 USD; a key costs 1 USD everywhere.
    assert [each["usd_per_month"] for each in found] == [8, 1]
    for each in found:
        project.run(each["command"])
    assert project.orphans()["kept"] == []


def test_a_key_that_nobody_may_look_at_hides_nothing_else(project: Any) -> None:
    kms, ec2 = project.aws.client("kms"), project.aws.client("ec2")
    keys = [
        kms.create_key(Tags=[{"TagKey": "trainshed:cluster", "TagValue": name}])
        for name in ("secret", "kube")
    ]
    secret, kube = (each["KeyMetadata"]["KeyId"] for each in keys)
    make_volume_of_kubernetes(ec2, "kube")
    project.aws.fail(
        *(
            Fault(
                service="kms",
                operation=operation,
                code="AccessDeniedException",
                count=None,
                when={"KeyId": secret},
            )
            for operation in ("DescribeKey", "ListResourceTags")
        )
    )

    found = project.orphans()

    assert [each["what"] for each in found["kept"]] == ["volume", "key"]
    assert found["kept"][1]["name"] == kube
    assert [each["at"] for each in found["unseen"]] == ["what Kubernetes made", "KMS keys"]


def test_a_node_of_a_cluster_that_is_gone(project: Any) -> None:
    ec2 = project.aws.client("ec2")
    [image] = ec2.describe_images(Owners=["self"])["Images"]
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    launched = [
        ec2.run_instances(
            ImageId=image["ImageId"],
            InstanceType="m6i.large",
            MinCount=1,
            MaxCount=1,
            SubnetId=subnet,
            TagSpecifications=[
                {
                    "ResourceType": "instance",
                    "Tags": [{"Key": "trainshed:cluster", "Value": cluster}],
                }
            ],
        )["Instances"][0]["InstanceId"]
        for cluster in ("GoneCluster", "TrainNetwork")
    ]
    project.deploy("TrainNetwork")

    found = [each for each in project.orphans()["waste"] if each["what"] == "instance"]

    assert [each["name"] for each in found] == launched[:1]


def documented_policy() -> dict[str, Any]:
    page = ROOT / "docs/security.md"
    section = page.read_text(encoding="utf-8").partition("## What `trainshed orphans` reads")[2]
    return dict(json.loads(section.partition("```json\n")[2].partition("```")[0]))


def test_the_documented_policy_is_what_the_looks_need() -> None:
    [statement] = documented_policy()["Statement"]

    assert statement["Action"] == sorted(
        {*OWNERSHIP_ACTIONS, *(action for look in LOOKS for action in look.actions)}
    )


def test_the_documented_policy_is_enough_and_each_look_names_what_it_lacks(project: Any) -> None:
    project.describe(LUSTRE + "image: {}\n")
    project.deploy("TrainNetwork", "TrainStorage", "TrainContainers")
    assert project.trainshed("teardown", "TrainCluster", "--yes").code == 0
    project.aws.client("kms").create_key(Tags=[{"TagKey": "trainshed:cluster", "TagValue": "kube"}])
    role, policy = Role(project.aws), documented_policy()

    def look() -> tuple[int, dict[str, str]]:
        place = Region("us-west-2", client=role.client)
        found, unseen = find_orphans(place, (), load_prices("us-west-2"), now=datetime.now(UTC))
        return len(found), {each.at: each.why for each in unseen}

    role.may(policy)
    whole, unseen = look()
    assert unseen == {}
    needed = set()
    for action in policy["Statement"][0]["Action"]:
        role.may(without(policy, action))
        if action not in OWNERSHIP_ACTIONS:
            number, unseen = look()
            assert number <= whole
            if unseen:
                needed.add(action)
                assert all(action in why for why in unseen.values()), unseen
    # Asked only of what this account has not.
    rare = {
        "backup:ListRecoveryPointsByBackupVault",
        "backup:ListTags",
        "ec2:DescribeImageAttribute",
        "ec2:DescribeLaunchTemplateVersions",
        "eks:DescribeCluster",
        "eks:ListNodegroups",
        "elasticloadbalancing:DescribeTags",
        "s3:ListBucket",
        "ssm:GetParameter",
    }
    assert needed >= {*policy["Statement"][0]["Action"]} - {*OWNERSHIP_ACTIONS} - rare
