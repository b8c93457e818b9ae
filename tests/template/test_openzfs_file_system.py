"""FSx for OpenZFS in templates: what FSx asks of them before it makes a file system."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from trainshed.spec import OpenZfsSpec
from trainshed_constructs import OpenZfsFileSystem


def test_the_group_is_open_to_itself_before_the_file_system_is_made() -> None:
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

    template = Template.from_stack(stack)
    [file_system] = template.find_resources("AWS::FSx::FileSystem").values()
    rules = template.find_resources("AWS::EC2::SecurityGroupIngress")
    own = [
        name
        for name, rule in rules.items()
        if rule["Properties"]["GroupId"] == rule["Properties"]["SourceSecurityGroupId"]
    ]
    assert set(own) & set(file_system["DependsOn"])
