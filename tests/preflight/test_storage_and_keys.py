"""Rules over the buckets, file systems and keys of an account."""

import re
from pathlib import Path
from typing import Any

import pytest
from preflight_account import REGION, ZONE, Account, answering, only, rules

from trainshed.findings import Severity

ROOT = Path(__file__).parents[2]
DOCUMENTED, *_ = re.findall(
    r"```json\n(.*?)```", (ROOT / "docs/security.md").read_text(), re.DOTALL
)
KEY = "arn:aws:kms:us-west-2:123456789012:key/11111111-1111-1111-1111-111111111111"


def test_a_bucket_that_is_not_there(account: Account) -> None:
    account.aws.client("s3").create_bucket(
        Bucket="runs", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    buckets = [{"bucket": "runs"}, {"bucket": "absent"}]

    found = only(account.ask(job={"buckets": buckets}))

    assert found.rule == "TS-ACC-060"
    assert found.message == "there is no bucket absent"
    assert found.place and found.place.field == "job.buckets.1.bucket"


def test_a_bucket_of_another_region(account: Account) -> None:
    account.aws.client("s3").create_bucket(
        Bucket="runs", CreateBucketConfiguration={"LocationConstraint": REGION}
    )

    # The embedded AWS has one region; it is the cluster that is in another one.
    found = account.ask(region="us-east-2", zone="use2-az3", job={"buckets": [{"bucket": "runs"}]})

    [bucket] = [each for each in found if each.rule == "TS-ACC-061"]
    assert bucket.severity is Severity.WARNING
    assert bucket.message == "runs is in us-west-2, and the cluster is in us-east-2"


def test_a_file_system_that_cannot_be_mounted(network: Account) -> None:
    created = network.aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[network.ids["subnet"]],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]["FileSystemId"]

    def of(named: str, **fields: Any) -> list[str]:
        lustre = {"lustre": {"existing": named}}
        found = network.ask(network=network.network, storage=lustre, **fields)
        return [each.message for each in found if each.rule in ("TS-ACC-062", "TS-ACC-063")]

    assert of(created) == []
    assert of("fs-0123456789abcdef0") == [
        "there is no file system fs-0123456789abcdef0 in us-west-2"
    ]
    assert of(created, zone="usw2-az1") == [
        f"{created} is in {ZONE}, and the nodes are in usw2-az1"
    ]
    fsx = network.aws.client("fsx")
    for lifecycle, found in (("UPDATING", []), ("CREATING", [f"{created} is CREATING"])):

        def changed(answer: dict[str, Any], lifecycle: str = lifecycle) -> None:
            answer["FileSystems"][0].update(Lifecycle=lifecycle)

        with answering(network, "fsx", "DescribeFileSystems", changed):
            assert of(created) == found
    vpc = network.aws.client("ec2").create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    other = network.aws.client("ec2").create_subnet(
        VpcId=vpc, CidrBlock="10.60.0.0/24", AvailabilityZoneId=ZONE
    )["Subnet"]["SubnetId"]
    elsewhere = fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[other],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]["FileSystemId"]
    assert of(elsewhere) == [f"{elsewhere} is in {vpc}, and the nodes are in {network.ids['vpc']}"]


def test_an_openzfs_file_system_that_cannot_be_mounted(network: Account) -> None:
    fsx, ids = network.aws.client("fsx"), network.ids
    group = network.aws.client("ec2").create_security_group(
        GroupName="files", Description="files", VpcId=ids["vpc"]
    )["GroupId"]
    network.aws.client("ec2").authorize_security_group_ingress(
        GroupId=group,
        IpPermissions=[
            {
                "IpProtocol": "tcp",
                "FromPort": 2049,
                "ToPort": 2049,
                "UserIdGroupPairs": [{"GroupId": group}],
            }
        ],
    )
    openzfs = fsx.create_file_system(
        FileSystemType="OPENZFS",
        StorageCapacity=64,
        SubnetIds=[ids["subnet"]],
        SecurityGroupIds=[group],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160},
    )["FileSystem"]["FileSystemId"]

    def of(kind: str, **fields: Any) -> list[str]:
        storage = {kind: {"existing": openzfs}}
        found = network.ask(network=network.network, storage=storage, **fields)
        return [each.message for each in found if each.rule in ("TS-ACC-062", "TS-ACC-063")]

    assert of("openzfs") == []
    assert of("lustre") == [f"{openzfs} is of type OPENZFS, not LUSTRE"]
    assert of("openzfs", zone="usw2-az1") == [
        f"{openzfs} is in {ZONE}, and the nodes are in usw2-az1"
    ]


def test_an_existing_bucket_is_there_and_archives_nothing_that_is_mounted(
    account: Account,
) -> None:
    s3 = account.aws.client("s3")
    here = {"LocationConstraint": "us-west-2"}
    s3.create_bucket(Bucket="ours", CreateBucketConfiguration=here)

    def of(**fields: Any) -> list[str]:
        found = account.ask(storage={"bucket": fields})
        asked = ("TS-ACC-001", "TS-ACC-002", "TS-ACC-060", "TS-ACC-067")
        return [each.message for each in found if each.rule in asked]

    assert of(existing="theirs") == ["there is no bucket theirs"]
    assert of(existing="ours", mount="/data") == []
    to_archive = [{"Days": 90, "StorageClass": "GLACIER"}]
    s3.put_bucket_lifecycle_configuration(
        Bucket="ours",
        LifecycleConfiguration={
            "Rules": [
                {"Filter": {"Prefix": "runs/"}, "Status": "Enabled", "Transitions": to_archive}
            ]
        },
    )
    assert of(existing="ours", mount="/data") == [
        "a lifecycle rule of ours moves objects under runs/ to Glacier, where they cannot be read"
    ]
    assert of(existing="ours", mount="/data", mount_prefix="data/") == []
    assert of(existing="ours") == []


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        pytest.param({"Filter": {}, "Status": "Enabled"}, ["objects"], id="of-all"),
        pytest.param({"Filter": {}, "Status": "Disabled"}, [], id="disabled"),
        pytest.param(
            {
                "Filter": {"And": {"Prefix": "runs/", "Tags": [{"Key": "old", "Value": "yes"}]}},
                "Status": "Enabled",
            },
            ["objects under runs/"],
            id="of-a-prefix-and-a-tag",
        ),
        pytest.param(
            {"Prefix": "runs/", "Status": "Enabled"}, ["objects under runs/"], id="of-older-form"
        ),
    ],
)
def test_a_linked_bucket_archives_nothing_that_lustre_loads(
    account: Account, rule: dict[str, Any], found: list[str]
) -> None:
    s3 = account.aws.client("s3")
    s3.create_bucket(Bucket="ours", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    transitions = [{"Days": 90, "StorageClass": "DEEP_ARCHIVE"}]
    s3.put_bucket_lifecycle_configuration(
        Bucket="ours", LifecycleConfiguration={"Rules": [{**rule, "Transitions": transitions}]}
    )

    messages = [
        each.message
        for each in account.ask(storage={"lustre": {"s3": {"bucket": "ours"}}})
        if each.rule == "TS-ACC-067"
    ]

    assert messages == [
        f"a lifecycle rule of ours moves {what} to Glacier Deep Archive, where they cannot be read"
        for what in found
    ]


def test_a_bucket_that_was_kept(account: Account) -> None:
    s3, own = account.aws.client("s3"), account.aws.client("sts").get_caller_identity()["Account"]

    def of() -> list[str]:
        found = account.ask(storage={"bucket": {}})
        return [each.message for each in found if each.rule == "TS-ACC-066"]

    assert of() == []
    name = f"trainshed-train-{own}-us-west-2"
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    kept = [f"{name} is there already, and TrainBucket did not make it"]
    assert of() == kept
    other = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": name}}
    account.aws.deploy({"Resources": {"Name": other}}, stack_name="TrainBucket")
    assert of() == kept
    s3.delete_bucket(Bucket=name)
    made = {"Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name}}}
    account.aws.deploy({"Resources": made}, stack_name="TrainBucket")
    assert of() == []


def test_a_bucket_that_comes_with_the_cluster_need_not_be_there(account: Account) -> None:
    own = f"trainshed-train-{account.aws.client('sts').get_caller_identity()['Account']}-us-west-2"

    found = account.ask(
        storage={"bucket": {"access": "read"}},
        job={"buckets": [{"bucket": own, "prefix": "runs/", "access": "read-write"}]},
    )

    assert "TS-ACC-060" not in rules(found)


def test_an_efs_file_system_that_cannot_be_mounted(network: Account) -> None:
    efs, ids = network.aws.client("efs"), network.ids
    created = efs.create_file_system(CreationToken="home")["FileSystemId"]

    def of(named: str, **fields: Any) -> list[str]:
        found = network.ask(storage={"efs": {"existing": named}}, **fields)
        return [each.message for each in found if each.rule == "TS-ACC-064"]

    assert of(created, network=network.network) == []
    assert of("fs-0123456789abcdef0", network=network.network) == [
        "there is no EFS file system fs-0123456789abcdef0 in us-west-2"
    ]
    efs.create_mount_target(FileSystemId=created, SubnetId=ids["subnet"])
    assert of(created, network=network.network) == []
    assert of(created) == [
        f"{created} has mount targets in {ids['vpc']}, and the nodes are in a new VPC"
    ]
    for state, found in (("updating", []), ("creating", [f"{created} is creating"])):

        def changed(answer: dict[str, Any], state: str = state) -> None:
            answer["FileSystems"][0].update(LifeCycleState=state)

        with answering(network, "efs", "DescribeFileSystems", changed):
            assert of(created, network=network.network) == found


def test_an_efs_file_system_in_the_deployed_vpc_of_the_cluster(account: Account) -> None:
    efs, ec2 = account.aws.client("efs"), account.aws.client("ec2")
    vpc = {"Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.70.0.0/16"}}}
    account.aws.deploy({"Resources": vpc}, stack_name="TrainNetwork")
    [made] = ec2.describe_vpcs(Filters=[{"Name": "cidr", "Values": ["10.70.0.0/16"]}])["Vpcs"]
    subnet = ec2.create_subnet(VpcId=made["VpcId"], CidrBlock="10.70.0.0/24")["Subnet"]["SubnetId"]
    created = efs.create_file_system(CreationToken="home")["FileSystemId"]
    efs.create_mount_target(FileSystemId=created, SubnetId=subnet)

    found = account.ask(storage={"efs": {"existing": created}})

    assert "TS-ACC-064" not in rules(found)


def test_a_key(account: Account) -> None:
    kms = account.aws.client("kms")
    key = kms.create_key(Policy=DOCUMENTED)["KeyMetadata"]["Arn"]
    off = kms.create_key(Policy=DOCUMENTED)["KeyMetadata"]
    kms.disable_key(KeyId=off["KeyId"])
    signing = kms.create_key(KeySpec="RSA_2048", KeyUsage="ENCRYPT_DECRYPT", Policy=DOCUMENTED)[
        "KeyMetadata"
    ]["Arn"]

    assert rules(account.ask(kms_key=key)) == []
    for wrong, message in (
        (KEY, "there is no key"),
        (off["Arn"], "is Disabled"),
        (signing, "symmetric keys only"),
    ):
        found = only(account.ask(kms_key=wrong))
        assert found.rule == "TS-ACC-070"
        assert message in found.message


def test_the_policy_of_a_key_lets_services_in(account: Account) -> None:
    kms = account.aws.client("kms")
    key = kms.create_key()["KeyMetadata"]["Arn"]
    role = (
        "arn:aws:iam::123456789012:role/aws-service-role/autoscaling.amazonaws.com/"
        "AWSServiceRoleForAutoScaling"
    )

    default = [each for each in account.ask(kms_key=key) if each.rule == "TS-ACC-071"]
    kms.create_grant(
        KeyId=key, GranteePrincipal=role, Operations=["CreateGrant", "Decrypt", "DescribeKey"]
    )
    granted = only(account.ask(kms_key=key))

    logs, volumes = (each.message for each in default)
    assert "not allow logs.us-west-2.amazonaws.com kms:Encrypt, kms:Decrypt, " in logs
    assert logs.endswith("no log group can be made with it")
    assert f"allow {role} kms:CreateGrant, kms:Decrypt, " in volumes
    assert volumes.endswith("no node starts")
    assert (granted.rule, granted.message) == ("TS-ACC-071", logs)


def slow(network: Account, storage: dict[str, Any], **fields: Any) -> list[tuple[str, str]]:
    """Return what is found of the checkpoints of a training: the field, and the speed."""
    given = {
        "training": {"parameters": 7e9, "checkpoint_minutes": 20},
        "network": network.network,
        "storage": storage,
    }
    return [
        (each.place.field, re.findall("seconds at (.*): with", each.message)[0])
        for each in network.ask(**(given | fields))
        if each.rule == "TS-ACC-068" and each.place
    ]


HARD_DISKS = {
    "DeploymentType": "PERSISTENT_1",
    "PerUnitStorageThroughput": 12,
    "DriveCacheType": "NONE",
}


# 98 GB after every 20 minutes lose a tenth of the time at 735 MB/s.
@pytest.mark.parametrize(
    ("gib", "storage_type", "lustre", "mbps"),
    [
        (1200, "SSD", {"DeploymentType": "SCRATCH_1"}, "234"),
        (2400, "SSD", {"DeploymentType": "SCRATCH_2"}, "468"),
        (4800, "SSD", {"DeploymentType": "SCRATCH_2"}, None),
        (1200, "SSD", {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 100}, "117"),
        (6000, "HDD", HARD_DISKS, "70"),
        (1200, "SSD", {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 500}, "585"),
        (1200, "SSD", {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 1000}, None),
    ],
)
def test_checkpoints_on_an_existing_lustre_file_system(
    network: Account, gib: int, storage_type: str, lustre: dict[str, Any], mbps: str | None
) -> None:
    created = network.aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=gib,
        StorageType=storage_type,
        SubnetIds=[network.ids["subnet"]],
        LustreConfiguration=lustre,
    )["FileSystem"]["FileSystemId"]
    storage = {"lustre": {"existing": created}}

    found = slow(network, storage)

    assert found == ([("storage.lustre.existing", f"{mbps} MB/s")] if mbps else [])
    assert slow(network, storage, training=None) == []


def test_checkpoints_on_lustre_with_intelligent_tiering(network: Account) -> None:
    created = network.aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[network.ids["subnet"]],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]["FileSystemId"]

    # The embedded AWS makes no such file system; it has no storage of its own.
    def tiering(answer: dict[str, Any]) -> None:
        del answer["FileSystems"][0]["StorageCapacity"]
        answer["FileSystems"][0]["LustreConfiguration"] = {
            "DeploymentType": "PERSISTENT_2",
            "ThroughputCapacity": 4000,
        }

    with answering(network, "fsx", "DescribeFileSystems", tiering):
        assert slow(network, {"lustre": {"existing": created}}) == []
        training = {"parameters": 70e9, "checkpoint_minutes": 20}
        [found] = slow(network, {"lustre": {"existing": created}}, training=training)

    assert found == ("storage.lustre.existing", "4,000 MB/s")


@pytest.mark.parametrize(
    ("asked", "enabled", "mbps"),
    [
        (True, True, "87,500 MB/s"),
        (True, False, "12,500 MB/s"),
        (False, True, "12,500 MB/s"),
    ],
)
def test_a_node_reaches_lustre_over_efa_where_both_have_it(
    network: Account, asked: bool, enabled: bool, mbps: str
) -> None:
    created = network.aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[network.ids["subnet"]],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]["FileSystemId"]

    def fast(answer: dict[str, Any]) -> None:
        answer["FileSystems"][0]["StorageCapacity"] = 480_000
        answer["FileSystems"][0]["LustreConfiguration"].update(
            DeploymentType="PERSISTENT_2", PerUnitStorageThroughput=1000, EfaEnabled=enabled
        )

    with answering(network, "fsx", "DescribeFileSystems", fast):
        [(_, found)] = slow(
            network,
            {"lustre": {"existing": created, "efa": asked}},
            training={"parameters": 70e9, "checkpoint_minutes": 1},
            instance={"type": "p5.48xlarge", "ami": network.ids["ami"], "nodes": {"max": 1}},
        )

    assert found == mbps


def test_checkpoints_on_an_existing_openzfs_file_system(network: Account) -> None:
    ids = network.ids
    created = network.aws.client("fsx").create_file_system(
        FileSystemType="OPENZFS",
        StorageCapacity=64,
        SubnetIds=[ids["subnet"]],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 320},
    )["FileSystem"]["FileSystemId"]
    storage = {"openzfs": {"existing": created}}

    assert slow(network, storage) == [("storage.openzfs.existing", "320 MB/s")]
    # What the cluster makes may be faster.
    assert slow(network, storage | {"efs": {}}) == []
    # What is not there, or is of another type, is the matter of another rule.
    assert slow(network, {"lustre": {"existing": created}}) == []
    assert slow(network, storage | {"efs": {"existing": "fs-0123456789abcdef0"}}) == []


@pytest.mark.parametrize(
    ("throughput", "stored_tib", "nodes", "mbps"),
    [
        ({"ThroughputMode": "elastic"}, 0, 1, None),
        ({"ThroughputMode": "elastic", "AvailabilityZoneName": "us-west-2d"}, 0, 1, "524 MB/s"),
        ({"ThroughputMode": "elastic", "AvailabilityZoneName": "us-west-2d"}, 0, 4, None),
        ({"ThroughputMode": "provisioned", "ProvisionedThroughputInMibps": 256}, 0, 4, "268 MB/s"),
        ({"ThroughputMode": "provisioned", "ProvisionedThroughputInMibps": 1024}, 0, 4, None),
        # One client without Elastic throughput writes 500 MiB/s.
        (
            {"ThroughputMode": "provisioned", "ProvisionedThroughputInMibps": 1024},
            0,
            1,
            "524 MB/s",
        ),
        ({}, 0, 4, "105 MB/s"),
        ({}, 5, 4, "524 MB/s"),
        ({}, 10, 4, None),
    ],
)
def test_checkpoints_on_an_existing_efs_file_system(
    network: Account, throughput: dict[str, Any], stored_tib: int, nodes: int, mbps: str | None
) -> None:
    created = network.aws.client("efs").create_file_system(CreationToken="home", **throughput)

    def filled(answer: dict[str, Any]) -> None:
        answer["FileSystems"][0]["SizeInBytes"] = {"Value": stored_tib * 2**40}

    with answering(network, "efs", "DescribeFileSystems", filled):
        found = slow(
            network,
            {"efs": {"existing": created["FileSystemId"]}},
            instance={"type": "trn1.32xlarge", "nodes": {"max": nodes}},
        )

    assert found == ([("storage.efs.existing", mbps)] if mbps else [])
