"""A custom resource that finds out where an existing FSx file system is."""

from aws_cdk import CustomResource
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.custom_resources.inline_function import inline_function, minutes
from trainshed_constructs.custom_resources.inline_resource import resource_of


def existing_file_system(
    scope: Construct,
    *,
    name: str,
    file_system_type: str,
    title: str,
    vpc: ec2.IVpc,
    file_system_id: str,
    efa: bool = False,
) -> CustomResource:
    """Declare the custom resource, which fails when nodes cannot use the file system.

    Its attributes are `DnsName`, `SecurityGroupId` and, of Lustre, `MountName`. Its function may
    write its log, and describe file systems and network interfaces.

    Args:
        scope: the construct of which it is the whole.
        name: in PascalCase it is the resource's type.
        file_system_type: as FSx has it, `LUSTRE` or `OPENZFS`.
        title: as sentences call it.
        vpc: of the nodes; the file system must be in it.
        file_system_id: `fs-...`.
        efa: clients reach it over EFA.
    """
    function = inline_function(
        scope,
        name="existing_fsx",
        description=f"Finds out where an existing {title} is",
        statements=[
            iam.PolicyStatement(
                actions=["fsx:DescribeFileSystems", "ec2:DescribeNetworkInterfaces"],
                resources=["*"],
            )
        ],
        wildcards={"*": "these actions take no resource"},
        timeout=minutes(1),
    )
    return resource_of(
        scope,
        "Resource",
        name=name,
        function=function,
        properties={
            "FileSystemId": file_system_id,
            "FileSystemType": file_system_type,
            "VpcId": vpc.vpc_id,
            "Efa": efa,
        },
    )
