"""LustreFileSystem, its security group, its guard and its mount in a template."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Match, Template
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from trainshed.plan import Mount, StorageKind
from trainshed.spec import Compression, DeploymentType, LustreSpec, S3Link
from trainshed_constructs import ConstructError, FirstBoot, LustreFileSystem

ROOT = Path(__file__).parents[2]
FILE_SYSTEM, LINK, GUARD, PARAMETER = (
    "AWS::FSx::FileSystem",
    "AWS::FSx::DataRepositoryAssociation",
    "Custom::ReplacementGuard",
    "AWS::SSM::Parameter",
)
INGRESS, EGRESS = "AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"
CLIENTS = "sg-0123456789abcdef0"
KEPT = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}


def settings_of(**changes: Any) -> LustreSpec:
    return LustreSpec(**{"capacity_gib": 4800, "throughput": 250, **changes})


SCRATCH = {
    "deployment": DeploymentType.SCRATCH_2,
    "throughput": None,
    "compression": Compression.NONE,
}
VARIANTS = {
    "plain": settings_of(),
    "scratch": settings_of(**SCRATCH),
    "efa": settings_of(efa=True, throughput=1000, metadata_iops=6000),
    "linked": settings_of(s3=S3Link(bucket="my-data", prefix="wiki/"), allow_replacement=True),
}


def build(scope: cdk.Stack, settings: LustreSpec) -> LustreFileSystem:
    vpc = ec2.Vpc.from_vpc_attributes(
        scope, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )
    return LustreFileSystem(
        scope,
        "Lustre",
        vpc=vpc,
        subnet=ec2.Subnet.from_subnet_id(scope, "Subnet", "subnet-0123456789abcdef0"),
        clients=ec2.SecurityGroup.from_security_group_id(scope, "Clients", CLIENTS),
        name="train",
        settings=settings,
    )


@pytest.fixture(scope="module")
def templates() -> Mapping[str, Template]:
    stacks = {name: cdk.Stack(cdk.App(), "Stack") for name in VARIANTS}
    for name, stack in stacks.items():
        build(stack, VARIANTS[name])
    return {name: Template.from_stack(stack) for name, stack in stacks.items()}


def only(template: Template, resource_type: str) -> dict[str, Any]:
    [found] = template.find_resources(resource_type).values()
    return dict(found)


def test_a_persistent_file_system_has_lustre_2_15_metadata_and_backups(
    templates: Mapping[str, Template],
) -> None:
    templates["plain"].has_resource_properties(
        FILE_SYSTEM,
        {
            "FileSystemType": "LUSTRE",
            "FileSystemTypeVersion": "2.15",
            "StorageCapacity": 4800,
            "KmsKeyId": Match.absent(),
            "LustreConfiguration": {
                "DeploymentType": "PERSISTENT_2",
                "PerUnitStorageThroughput": 250,
                "MetadataConfiguration": {"Mode": "AUTOMATIC", "Iops": Match.absent()},
                "DataCompressionType": "LZ4",
                "AutomaticBackupRetentionDays": 7,
                "CopyTagsToBackups": Match.absent(),
                "EfaEnabled": Match.absent(),
                "WeeklyMaintenanceStartTime": Match.absent(),
            },
        },
    )


def test_a_scratch_file_system_has_nothing_that_only_persistent_ones_take(
    templates: Mapping[str, Template],
) -> None:
    properties = only(templates["scratch"], FILE_SYSTEM)["Properties"]

    assert properties["FileSystemTypeVersion"] == "2.15"
    assert properties["LustreConfiguration"] == {
        "DeploymentType": "SCRATCH_2",
        "DataCompressionType": "NONE",
    }


def test_an_efa_file_system_has_provisioned_metadata(templates: Mapping[str, Template]) -> None:
    templates["efa"].has_resource_properties(
        FILE_SYSTEM,
        {
            "LustreConfiguration": {
                "EfaEnabled": True,
                "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
            }
        },
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_data_outlives_the_stack(templates: Mapping[str, Template], variant: str) -> None:
    templates[variant].has_resource(FILE_SYSTEM, KEPT)
    templates[variant].has_resource("AWS::EC2::SecurityGroup", KEPT)


def test_the_servers_keep_their_rules_and_clients_groups_can_be_deleted(
    templates: Mapping[str, Template],
) -> None:
    for kind, peer in ((INGRESS, "SourceSecurityGroupId"), (EGRESS, "DestinationSecurityGroupId")):
        for rule in templates["plain"].find_resources(kind).values():
            ends = (rule["Properties"]["GroupId"], rule["Properties"][peer])
            assert (rule.get("DeletionPolicy") is None) == (CLIENTS in ends)


def openings(template: Template) -> set[tuple[str, str, str, str]]:
    """Direction, owner, peer and ports of every rule; the file system's own group is `servers`."""
    [servers] = template.find_resources("AWS::EC2::SecurityGroup")

    def name(group: object) -> str:
        names = {"clients": CLIENTS, "servers": {"Fn::GetAtt": [servers, "GroupId"]}}
        [found] = [key for key, value in names.items() if value == group]
        return found

    found = set()
    for kind, peer in ((INGRESS, "SourceSecurityGroupId"), (EGRESS, "DestinationSecurityGroupId")):
        for rule in template.find_resources(kind).values():
            rule = rule["Properties"]
            ports = (rule.get("FromPort", ""), rule.get("ToPort", ""))
            found.add(
                (
                    "in" if kind == INGRESS else "out",
                    name(rule["GroupId"]),
                    name(rule[peer]),
                    f"{rule['IpProtocol']} {ports[0]}-{ports[1]}",
                )
            )
    return found


@pytest.mark.parametrize(
    ("variant", "ports"),
    [("plain", {"tcp 988-988", "tcp 1018-1023"}), ("efa", {"-1 -"})],
)
def test_lustre_is_open_between_servers_and_clients_and_among_servers_both_ways(
    templates: Mapping[str, Template], variant: str, ports: set[str]
) -> None:
    pairs = [("servers", "servers"), ("servers", "clients"), ("clients", "servers")]

    assert openings(templates[variant]) == {
        (direction, owner, peer, port)
        for direction in ("in", "out")
        for owner, peer in pairs
        for port in ports
    }


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_file_system_waits_for_the_rules_that_fsx_looks_at_when_it_creates_one(
    templates: Mapping[str, Template], variant: str
) -> None:
    own = {
        name
        for kind in (INGRESS, EGRESS)
        for name, rule in templates[variant].find_resources(kind).items()
        if CLIENTS not in rule["Properties"].values()
    }

    assert own
    assert own <= set(only(templates[variant], FILE_SYSTEM)["DependsOn"])


def test_an_s3_link_follows_the_bucket_and_deletes_nothing_in_it(
    templates: Mapping[str, Template],
) -> None:
    templates["linked"].has_resource_properties(
        LINK,
        {
            "DataRepositoryPath": "s3://my-data/wiki/",
            "FileSystemPath": "/",
            "BatchImportMetaDataOnCreate": True,
            "S3": {
                "AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]},
                "AutoExportPolicy": {"Events": ["NEW", "CHANGED"]},
            },
        },
    )
    templates["linked"].has_resource_properties(
        FILE_SYSTEM, {"LustreConfiguration": {"AutomaticBackupRetentionDays": 0}}
    )
    templates["plain"].resource_count_is(LINK, 0)


def test_where_it_is_gets_published(templates: Mapping[str, Template]) -> None:
    [file_system] = templates["plain"].find_resources(FILE_SYSTEM)

    published = {
        found["Properties"]["Name"]: found["Properties"]["Value"]
        for found in templates["plain"].find_resources(PARAMETER).values()
    }

    assert published == {
        "/trainshed/lustre/train/dns-name": {"Fn::GetAtt": [file_system, "DNSName"]},
        "/trainshed/lustre/train/mount-name": {"Fn::GetAtt": [file_system, "LustreMountName"]},
        "/trainshed/lustre/train/file-system-id": {"Ref": file_system},
    }


def test_the_guard_comes_before_the_file_system(templates: Mapping[str, Template]) -> None:
    [guard] = templates["plain"].find_resources(GUARD)

    assert guard in only(templates["plain"], FILE_SYSTEM)["DependsOn"]


def test_the_guard_is_reported_what_the_plan_allows(templates: Mapping[str, Template]) -> None:
    templates["plain"].has_resource_properties(GUARD, {"AllowReplacement": False})
    templates["linked"].has_resource_properties(GUARD, {"AllowReplacement": True})


def flat(properties: Mapping[str, Any]) -> dict[str, Any]:
    """A file system's properties and those of its Lustre configuration, by their names."""
    rest = {name: value for name, value in properties.items() if name != "LustreConfiguration"}
    return {**rest, **properties["LustreConfiguration"]}


def create_only_in_the_registry_schema() -> set[str]:
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-west-2", FILE_SYSTEM).schema
    pointers = [
        *schema["createOnlyProperties"],
        *schema.get("conditionalCreateOnlyProperties", []),
    ]
    return {pointer.rpartition("/")[2] for pointer in pointers}


def create_only_for_cdk_diff() -> set[str]:
    """What the documentation marks "Update requires: Replacement", as the CDK CLI ships it."""
    packed = ROOT / "node_modules" / "aws-cdk" / "db.json.gz"
    database = json.loads(gzip.decompress(packed.read_bytes()))["schema"]
    [resource] = [
        entity
        for entity in database["resource"]["entities"]
        if entity["cloudFormationType"] == FILE_SYSTEM
    ]
    lustre = resource["properties"]["LustreConfiguration"]["type"]["reference"]["$ref"]
    [configuration] = [
        entity for entity in database["typeDefinition"]["entities"] if entity["$id"] == lustre
    ]
    return {
        name
        for properties in (resource["properties"], configuration["properties"])
        for name, definition in properties.items()
        if definition.get("causesReplacement", "no") != "no"
    }


def not_changeable_by_fsx() -> set[str]:
    """What CreateFileSystem takes and UpdateFileSystem does not."""
    model = botocore.session.get_session().get_service_model("fsx")
    created, changed = (
        set(model.shape_for(f"{verb}FileSystemRequest").members)
        | set(model.shape_for(f"{verb}FileSystemLustreConfiguration").members)
        for verb in ("Create", "Update")
    )
    return created - changed - {"LustreConfiguration", "Tags"}


@pytest.mark.parametrize(
    "source", [create_only_in_the_registry_schema, create_only_for_cdk_diff, not_changeable_by_fsx]
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_guard_watches_whatever_would_replace_the_file_system(
    templates: Mapping[str, Template], variant: str, source: Any
) -> None:
    replacing = source()
    file_system = flat(only(templates[variant], FILE_SYSTEM)["Properties"])
    watched = only(templates[variant], GUARD)["Properties"]["FileSystem"]

    expected = {name: value for name, value in file_system.items() if name in replacing}

    assert expected.keys() >= {"SubnetIds", "SecurityGroupIds", "FileSystemType"} & replacing
    assert {name: watched.get(name) for name in expected} == expected


def test_the_guards_function_may_look_at_its_stack_and_file_systems_and_write_its_log_only(
    templates: Mapping[str, Template],
) -> None:
    role = only(templates["plain"], "AWS::IAM::Role")["Properties"]
    [policy] = role["Policies"]

    granted = {
        action: statement["Resource"]
        for statement in policy["PolicyDocument"]["Statement"]
        for action in [statement["Action"]]
        if isinstance(action, str)
    }

    assert "ManagedPolicyArns" not in role
    assert granted == {
        "cloudformation:DescribeStacks": {"Ref": "AWS::StackId"},
        # It takes no resource.
        "fsx:DescribeFileSystems": "*",
    }
    assert policy["PolicyDocument"]["Statement"][2]["Action"] == [
        "logs:CreateLogStream",
        "logs:PutLogEvents",
    ]


def test_the_guards_code_fits_inline(templates: Mapping[str, Template]) -> None:
    code = only(templates["plain"], "AWS::Lambda::Function")["Properties"]["Code"]["ZipFile"]

    assert len(code) <= 4096


def test_a_file_system_of_another_kind_is_another_resource(
    templates: Mapping[str, Template],
) -> None:
    names = {
        name
        for variant in ("plain", "scratch", "efa")
        for name in templates[variant].find_resources(FILE_SYSTEM)
    }

    assert len(names) == 3
    assert [*templates["plain"].find_resources(FILE_SYSTEM)] == [
        *templates["linked"].find_resources(FILE_SYSTEM)
    ]


def test_the_clients_group_may_belong_to_a_stack_that_knows_nothing_of_storage() -> None:
    app = cdk.App()
    network, storage = cdk.Stack(app, "Network"), cdk.Stack(app, "Storage")
    vpc = ec2.Vpc(network, "Vpc", max_azs=1)

    LustreFileSystem(
        storage,
        "Lustre",
        vpc=vpc,
        subnet=vpc.private_subnets[0],
        clients=ec2.SecurityGroup(network, "Clients", vpc=vpc, allow_all_outbound=False),
        name="train",
        settings=settings_of(),
    )

    assert not Template.from_stack(network).find_resources(INGRESS)
    assert not Template.from_stack(network).find_resources(EGRESS)
    Template.from_stack(storage).resource_count_is(INGRESS, 6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"throughput": None}, "persistent-2 needs a throughput", id="no-throughput"),
        pytest.param({**SCRATCH, "throughput": 250}, "throughput is for", id="scratch-throughput"),
        pytest.param({**SCRATCH, "metadata_iops": 1500}, "metadata_iops is for", id="scratch-iops"),
        pytest.param({**SCRATCH, "efa": True}, "efa is for", id="scratch-efa"),
    ],
)
def test_what_fsx_refuses_is_refused_at_construction(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConstructError, match=r"^Stack/Lustre: ") as error:
        build(cdk.Stack(cdk.App(), "Stack"), settings_of(**changes))

    assert message in str(error.value)


def test_a_node_may_read_the_published_parameters_and_no_others() -> None:
    stack = cdk.Stack(cdk.App(), "Stack")
    role = iam.Role(stack, "Node", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    FirstBoot(
        stack, "FirstBoot", mounts=[Mount(kind=StorageKind.LUSTRE, name="train", path="/fsx")]
    ).grant(role)

    [policy] = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    [statement] = policy["Properties"]["PolicyDocument"]["Statement"]

    assert statement["Action"] == "ssm:GetParameters"
    assert [arn["Fn::Join"][1][-1] for arn in statement["Resource"]] == [
        ":parameter/trainshed/lustre/train/dns-name",
        ":parameter/trainshed/lustre/train/mount-name",
    ]
