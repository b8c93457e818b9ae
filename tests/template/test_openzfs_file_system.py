"""FSx for OpenZFS in templates: what FSx asks of them before it makes a file system."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from trainshed.spec import OpenZfsSpec
from trainshed_constructs import OpenZfsFileSystem


def made() -> Template:
    stack = cdk.Stack(cdk.App(), "Storage")
    vpc = ec2.Vpc(stack, "Vpc")
    OpenZfsFileSystem(
        stack,
        "OpenZfs",
        vpc=vpc,
        subnet=vpc.private_subnets[0],
        clients=ec2.SecurityGroup(stack, "Nodes", vpc=vpc),
        name="train",
        settings=OpenZfsSpec(),
    )

    return Template.from_stack(stack)


def test_the_group_is_open_to_itself_before_the_file_system_is_made() -> None:
    template = made()
    [file_system] = template.find_resources("AWS::FSx::FileSystem").values()
    rules = template.find_resources("AWS::EC2::SecurityGroupIngress")
    own = [
        name
        for name, rule in rules.items()
        if rule["Properties"]["GroupId"] == rule["Properties"]["SourceSecurityGroupId"]
    ]
    assert set(own) & set(file_system["DependsOn"])
    kept = template.to_json()["Resources"][own[0]]
    assert kept["DeletionPolicy"] == "RetainExceptOnCreate"


def test_root_of_a_node_is_root_there_and_what_cannot_change_is_guarded() -> None:
    template = made()
    [file_system] = template.find_resources("AWS::FSx::FileSystem").values()
    [guard] = template.find_resources("Custom::ReplacementGuard").values()

    root = file_system["Properties"]["OpenZFSConfiguration"]["RootVolumeConfiguration"]
    [export] = root["NfsExports"]
    options = ["rw", "crossmnt", "no_root_squash"]
    assert export["ClientConfigurations"] == [{"Clients": "*", "Options": options}]
    guarded = guard["Properties"]["FileSystem"]
    assert guarded["DataCompressionType"] == root["DataCompressionType"] == "ZSTD"
    assert guarded["DeploymentType"] == "SINGLE_AZ_HA_2"
