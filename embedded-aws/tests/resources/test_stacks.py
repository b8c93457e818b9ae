"""Whole stacks: CDK's bootstrap and a training cluster, made, changed and deleted."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from amis import own_ami
from botocore.exceptions import WaiterError

ROOT = Path(__file__).parents[3]
BOOTSTRAP = ROOT / "node_modules/aws-cdk/lib/api/bootstrap/bootstrap-template.yaml"

CHANNEL = "/images/stable"

Deployed = Callable[..., dict[str, str]]


@pytest.fixture(scope="module")
def stacks(client: Any) -> Any:
    """CloudFormation of the embedded AWS, with an AMI for the nodes in its channel."""
    client("ssm").put_parameter(
        Name=CHANNEL,
        Value=own_ami(client),
        Type="String",
        DataType="aws:ec2:image",
    )
    return client("cloudformation")


@pytest.fixture
def deployed(stacks: Any) -> Iterator[Deployed]:
    """Creates a stack, or updates it, and returns its outputs."""
    names = []

    def deploy(name: str, template: str | dict[str, Any], **options: Any) -> dict[str, str]:
        body = template if isinstance(template, str) else json.dumps(template)
        verb = "update" if name in names else "create"
        names.append(name)
        getattr(stacks, f"{verb}_stack")(
            StackName=name, TemplateBody=body, Capabilities=["CAPABILITY_NAMED_IAM"], **options
        )
        waiter = stacks.get_waiter(f"stack_{verb}_complete")
        try:
            waiter.wait(StackName=name)
        except WaiterError:
            events = stacks.describe_stack_events(StackName=name)["StackEvents"]
            failed = [each for each in events if each["ResourceStatus"].endswith("_FAILED")]
            pytest.fail("\n".join(each["ResourceStatusReason"] for each in reversed(failed)))
        outputs = stacks.describe_stacks(StackName=name)["Stacks"][0].get("Outputs", [])
        return {output["OutputKey"]: output["OutputValue"] for output in outputs}

    yield deploy
    for name in names:
        stacks.delete_stack(StackName=name)


def delete(stacks: Any, name: str) -> dict[str, str]:
    """Delete a stack and return what became of each resource."""
    stack_id = stacks.describe_stacks(StackName=name)["Stacks"][0]["StackId"]
    stacks.delete_stack(StackName=name)
    stacks.get_waiter("stack_delete_complete").wait(StackName=stack_id)
    resources = stacks.describe_stack_resources(StackName=stack_id)["StackResources"]
    return {each["LogicalResourceId"]: each["ResourceStatus"] for each in resources}


def test_cdks_bootstrap_comes_and_goes(client: Any, stacks: Any, deployed: Deployed) -> None:
    outputs = deployed("CDKToolkit", BOOTSTRAP.read_text())

    bucket = outputs["BucketName"]
    encryption = client("s3").get_bucket_encryption(Bucket=bucket)
    rule = encryption["ServerSideEncryptionConfiguration"]["Rules"][0]
    key = rule["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"]
    policy = json.loads(client("s3").get_bucket_policy(Bucket=bucket)["Policy"])
    version = client("ssm").get_parameter(Name="/cdk-bootstrap/hnb659fds/version")
    assert key == outputs["FileAssetKeyArn"]
    assert policy["Statement"][0]["Sid"] == "AllowSSLRequestsOnly"
    assert version["Parameter"]["Value"] == outputs["BootstrapVersion"]
    assert bucket == "cdk-hnb659fds-assets-210987654321-us-west-2"

    ends = delete(stacks, "CDKToolkit")
    client("s3").delete_bucket(Bucket=bucket)

    # The bootstrap's own policy keeps the bucket.
    assert {name for name, status in ends.items() if status == "DELETE_SKIPPED"} == {
        "StagingBucket"
    }
    assert set(ends.values()) == {"DELETE_COMPLETE", "DELETE_SKIPPED"}
    roles = [role["RoleName"] for role in client("iam").list_roles()["Roles"]]
    assert [name for name in roles if name.startswith("cdk-")] == []


def ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def attribute(name: str, attribute: str) -> dict[str, list[str]]:
    return {"Fn::GetAtt": [name, attribute]}


def resource(kind: str, /, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def trusting(service: str) -> dict[str, Any]:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": f"{service}.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    return {"Version": "2012-10-17", "Statement": [statement]}


def network() -> dict[str, Any]:
    return {
        "Vpc": resource("EC2::VPC", CidrBlock="10.30.0.0/16", EnableDnsHostnames=True),
        "Gateway": resource("EC2::InternetGateway"),
        "Attachment": resource(
            "EC2::VPCGatewayAttachment", VpcId=ref("Vpc"), InternetGatewayId=ref("Gateway")
        ),
        "Public": resource(
            "EC2::Subnet",
            VpcId=ref("Vpc"),
            CidrBlock="10.30.0.0/24",
            AvailabilityZoneId="usw2-az4",
        ),
        "Private": resource(
            "EC2::Subnet",
            VpcId=ref("Vpc"),
            CidrBlock="10.30.16.0/20",
            AvailabilityZoneId="usw2-az4",
        ),
        "PublicTable": resource("EC2::RouteTable", VpcId=ref("Vpc")),
        "PublicRoute": {
            **resource(
                "EC2::Route",
                RouteTableId=ref("PublicTable"),
                DestinationCidrBlock="0.0.0.0/0",
                GatewayId=ref("Gateway"),
            ),
            "DependsOn": "Attachment",
        },
        "PublicAssociation": resource(
            "EC2::SubnetRouteTableAssociation",
            RouteTableId=ref("PublicTable"),
            SubnetId=ref("Public"),
        ),
        "Address": resource("EC2::EIP", Domain="vpc"),
        "Nat": {
            **resource(
                "EC2::NatGateway",
                SubnetId=ref("Public"),
                AllocationId=attribute("Address", "AllocationId"),
            ),
            "DependsOn": ["PublicRoute", "PublicAssociation"],
        },
        "PrivateTable": resource("EC2::RouteTable", VpcId=ref("Vpc")),
        "PrivateRoute": resource(
            "EC2::Route",
            RouteTableId=ref("PrivateTable"),
            DestinationCidrBlock="0.0.0.0/0",
            NatGatewayId=ref("Nat"),
        ),
        "PrivateAssociation": resource(
            "EC2::SubnetRouteTableAssociation",
            RouteTableId=ref("PrivateTable"),
            SubnetId=ref("Private"),
        ),
        "S3Endpoint": resource(
            "EC2::VPCEndpoint",
            VpcId=ref("Vpc"),
            ServiceName={"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
            VpcEndpointType="Gateway",
            RouteTableIds=[ref("PrivateTable")],
        ),
        "FlowLogs": resource("Logs::LogGroup", RetentionInDays=30),
        "FlowRole": resource("IAM::Role", AssumeRolePolicyDocument=trusting("vpc-flow-logs")),
        "FlowLog": resource(
            "EC2::FlowLog",
            ResourceId=ref("Vpc"),
            ResourceType="VPC",
            TrafficType="ALL",
            LogGroupName=ref("FlowLogs"),
            DeliverLogsPermissionArn=attribute("FlowRole", "Arn"),
        ),
        "DefaultIngress": resource(
            "EC2::SecurityGroupIngress",
            GroupId=attribute("Vpc", "DefaultSecurityGroup"),
            IpProtocol="tcp",
            FromPort=443,
            ToPort=443,
            CidrIp="10.30.0.0/16",
        ),
    }


def storage() -> dict[str, Any]:
    clients = {
        "IpProtocol": "tcp",
        "FromPort": 988,
        "ToPort": 1023,
        "CidrIp": "10.30.0.0/16",
    }
    return {
        "Bucket": resource("S3::Bucket"),
        "LustreGroup": resource(
            "EC2::SecurityGroup",
            GroupDescription="Lustre",
            VpcId=ref("Vpc"),
            SecurityGroupIngress=[clients],
        ),
        "Lustre": resource(
            "FSx::FileSystem",
            FileSystemType="LUSTRE",
            FileSystemTypeVersion="2.15",
            StorageCapacity=4800,
            SubnetIds=[ref("Private")],
            SecurityGroupIds=[ref("LustreGroup")],
            LustreConfiguration={
                "DeploymentType": "PERSISTENT_2",
                "PerUnitStorageThroughput": 250,
                "DataCompressionType": "LZ4",
                "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
            },
        ),
        "Link": resource(
            "FSx::DataRepositoryAssociation",
            FileSystemId=ref("Lustre"),
            FileSystemPath="/data",
            DataRepositoryPath={"Fn::Sub": "s3://${Bucket}/data/"},
        ),
        "MountName": resource(
            "SSM::Parameter",
            Type="String",
            Value=attribute("Lustre", "LustreMountName"),
        ),
        "Repository": resource("ECR::Repository", ImageTagMutability="IMMUTABLE"),
    }


def compute() -> dict[str, Any]:
    interfaces = [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": min(card, 1),
            "InterfaceType": "efa",
            "Groups": [ref("Peers")],
        }
        for card in range(8)
    ]
    peer = {"GroupId": ref("Peers"), "IpProtocol": "-1"}
    container = {
        "Image": {"Fn::Sub": "${Repository.RepositoryUri}:1"},
        "ResourceRequirements": [
            {"Type": "VCPU", "Value": "96"},
            {"Type": "MEMORY", "Value": "500000"},
        ],
    }
    return {
        "Peers": resource("EC2::SecurityGroup", GroupDescription="EFA", VpcId=ref("Vpc")),
        "PeersIn": resource(
            "EC2::SecurityGroupIngress", **peer, SourceSecurityGroupId=ref("Peers")
        ),
        "PeersOut": resource(
            "EC2::SecurityGroupEgress", **peer, DestinationSecurityGroupId=ref("Peers")
        ),
        "Placement": resource("EC2::PlacementGroup", Strategy="cluster"),
        "NodeRole": resource(
            "IAM::Role",
            AssumeRolePolicyDocument=trusting("ec2"),
            ManagedPolicyArns=[
                "arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role"
            ],
        ),
        "NodeProfile": resource("IAM::InstanceProfile", Roles=[ref("NodeRole")]),
        "Template": resource(
            "EC2::LaunchTemplate",
            LaunchTemplateData={
                "ImageId": f"{{{{resolve:ssm:{CHANNEL}}}}}",
                "NetworkInterfaces": interfaces,
                "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
            },
        ),
        "Nodes": resource(
            "Batch::ComputeEnvironment",
            Type="MANAGED",
            ReplaceComputeEnvironment=False,
            ComputeResources={
                "Type": "EC2",
                "AllocationStrategy": "BEST_FIT_PROGRESSIVE",
                "MinvCpus": 0,
                "MaxvCpus": 2048,
                "InstanceTypes": ["trn1.32xlarge"],
                "InstanceRole": attribute("NodeProfile", "Arn"),
                "Subnets": [ref("Private")],
                "PlacementGroup": ref("Placement"),
                "Ec2Configuration": [{"ImageType": "ECS_AL2023"}],
                "LaunchTemplate": {
                    "LaunchTemplateId": ref("Template"),
                    "Version": attribute("Template", "LatestVersionNumber"),
                },
            },
        ),
        "Queue": resource(
            "Batch::JobQueue",
            Priority=1,
            ComputeEnvironmentOrder=[{"Order": 1, "ComputeEnvironment": ref("Nodes")}],
        ),
        "Job": resource(
            "Batch::JobDefinition",
            Type="multinode",
            NodeProperties={
                "MainNode": 0,
                "NumNodes": 2,
                "NodeRangeProperties": [{"TargetNodes": "0:", "Container": container}],
            },
        ),
    }


def cluster() -> dict[str, Any]:
    outputs = {
        "Placement": ref("Placement"),
        "Template": ref("Template"),
        "Nodes": ref("Nodes"),
        "Job": ref("Job"),
        "Lustre": ref("Lustre"),
        "Repository": ref("Repository"),
        "MountName": attribute("MountName", "Value"),
        "LatestVersion": attribute("Template", "LatestVersionNumber"),
    }
    return {
        "Resources": network() | storage() | compute(),
        "Outputs": {name: {"Value": value} for name, value in outputs.items()},
    }


def inventory(client: Any) -> dict[str, set[str]]:
    """Everything of the kinds that the cluster is made of."""
    ec2, batch = client("ec2"), client("batch")
    listed = {
        "VpcId": ec2.describe_vpcs()["Vpcs"],
        "SubnetId": ec2.describe_subnets()["Subnets"],
        "RouteTableId": ec2.describe_route_tables()["RouteTables"],
        "InternetGatewayId": ec2.describe_internet_gateways()["InternetGateways"],
        "AllocationId": ec2.describe_addresses()["Addresses"],
        "FlowLogId": ec2.describe_flow_logs()["FlowLogs"],
        "GroupId": ec2.describe_security_groups()["SecurityGroups"],
        "NetworkInterfaceId": ec2.describe_network_interfaces()["NetworkInterfaces"],
        "GroupName": ec2.describe_placement_groups()["PlacementGroups"],
        "LaunchTemplateId": ec2.describe_launch_templates()["LaunchTemplates"],
        "RoleName": client("iam").list_roles()["Roles"],
        "InstanceProfileName": client("iam").list_instance_profiles()["InstanceProfiles"],
        "logGroupName": client("logs").describe_log_groups()["logGroups"],
        "FileSystemId": client("fsx").describe_file_systems()["FileSystems"],
        "AssociationId": client("fsx").describe_data_repository_associations()["Associations"],
        "Name": client("s3").list_buckets()["Buckets"],
        "repositoryName": client("ecr").describe_repositories()["repositories"],
        "computeEnvironmentArn": batch.describe_compute_environments()["computeEnvironments"],
        "jobQueueArn": batch.describe_job_queues()["jobQueues"],
        "jobDefinitionArn": batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"],
    }
    return {key: {item[key] for item in items} for key, items in listed.items()}


def test_a_cluster_is_created_and_deleted_without_a_trace(
    client: Any, stacks: Any, deployed: Deployed
) -> None:
    before = inventory(client)

    outputs = deployed("Cluster", cluster(), Tags=[{"Key": "Owner", "Value": "ml-platform"}])

    made = inventory(client)
    environment = client("batch").describe_compute_environments(
        computeEnvironments=[outputs["Nodes"]]
    )["computeEnvironments"][0]
    assert environment["status"] == "VALID"
    assert environment["tags"]["Owner"] == "ml-platform"
    assert environment["computeResources"]["placementGroup"] == outputs["Placement"]
    assert environment["computeResources"]["launchTemplate"]["version"] == "1"
    assert outputs["Lustre"] in made["FileSystemId"]
    assert outputs["MountName"] not in ("", "fsx")

    ends = delete(stacks, "Cluster")

    assert set(ends.values()) == {"DELETE_COMPLETE"}
    assert inventory(client) == before


def test_a_new_launch_template_version_reaches_the_compute_environment(
    client: Any, deployed: Deployed
) -> None:
    template = cluster()
    first = deployed("Changing", template)

    changed = copy.deepcopy(template)
    data = changed["Resources"]["Template"]["Properties"]["LaunchTemplateData"]
    data["MetadataOptions"]["HttpPutResponseHopLimit"] = 3
    second = deployed("Changing", changed)

    environment = client("batch").describe_compute_environments(
        computeEnvironments=[second["Nodes"]]
    )["computeEnvironments"][0]
    assert (first["LatestVersion"], second["LatestVersion"]) == ("1", "2")
    assert second["Nodes"] == first["Nodes"]
    assert environment["computeResources"]["launchTemplate"]["version"] == "2"


def test_a_replacement_gets_a_new_name_and_what_it_replaces_goes(
    client: Any, deployed: Deployed
) -> None:
    template = {
        "Resources": {"Group": resource("EC2::PlacementGroup", Strategy="cluster")},
        "Outputs": {"Group": {"Value": ref("Group")}},
    }
    first = deployed("Replaced", template)

    template["Resources"]["Group"]["Properties"] = {"Strategy": "spread"}
    second = deployed("Replaced", template)

    groups = client("ec2").describe_placement_groups()["PlacementGroups"]
    strategies = {group["GroupName"]: group["Strategy"] for group in groups}
    assert first["Group"] not in strategies
    assert strategies[second["Group"]] == "spread"


def test_a_changed_job_definition_is_the_new_revision_everywhere(
    client: Any, deployed: Deployed
) -> None:
    template = cluster()
    resources = {name: template["Resources"][name] for name in ("Repository", "Job")}
    parts = {"Resources": resources, "Outputs": {"Job": {"Value": ref("Job")}}}
    first = deployed("Revised", parts)

    resources["Job"]["Properties"]["NodeProperties"]["NumNodes"] = 4
    second = deployed("Revised", parts)

    assert first["Job"].endswith(":1")
    assert second["Job"] == first["Job"].removesuffix("1") + "2"
    reply = client("batch").describe_job_definitions(jobDefinitions=[second["Job"]])
    assert reply["jobDefinitions"][0]["nodeProperties"]["numNodes"] == 4


def test_an_update_that_fails_halfway_is_rolled_back(
    client: Any, stacks: Any, deployed: Deployed
) -> None:
    def template(policy: str, ports: tuple[int, ...]) -> dict[str, Any]:
        rules = [
            {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": "10.0.0.0/8"}
            for port in ports
        ]
        arn = f"arn:aws:iam::aws:policy/{policy}"
        parts = {
            "Vpc": resource("EC2::VPC", CidrBlock="10.40.0.0/16"),
            "Group": resource(
                "EC2::SecurityGroup",
                GroupDescription="group",
                VpcId=ref("Vpc"),
                SecurityGroupIngress=rules,
            ),
            "Role": resource(
                "IAM::Role", AssumeRolePolicyDocument=trusting("ec2"), ManagedPolicyArns=[arn]
            ),
        }
        outputs = {name: {"Value": ref(name)} for name in parts}
        return {"Resources": parts, "Outputs": outputs}

    outputs = deployed("Halfway", template("ReadOnlyAccess", (22,)))

    with pytest.raises(pytest.fail.Exception, match="NoSuchPolicy does not exist"):
        deployed("Halfway", template("NoSuchPolicy", (443, 444)))

    status = stacks.describe_stacks(StackName="Halfway")["Stacks"][0]["StackStatus"]
    attached = client("iam").list_attached_role_policies(RoleName=outputs["Role"])
    groups = client("ec2").describe_security_groups(GroupIds=[outputs["Group"]])
    permissions = groups["SecurityGroups"][0]["IpPermissions"]
    assert status == "UPDATE_ROLLBACK_COMPLETE"
    names = [policy["PolicyName"] for policy in attached["AttachedPolicies"]]
    assert names == ["ReadOnlyAccess"]
    assert [permission["FromPort"] for permission in permissions] == [22]
