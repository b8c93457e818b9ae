"""Every type gives what its published schema promises: Ref and each attribute of Fn::GetAtt."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from amis import own_ami

from embedded_aws import services
from embedded_aws.cloudformation.resource import handler_of, supported_types
from embedded_aws.cloudformation.schema import schema_of
from embedded_aws.job_settings import JobSettings
from embedded_aws.settings import ServerSettings

REGION = "us-west-2"
POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}],
}
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {
                "Service": [
                    "batch.amazonaws.com",
                    "codebuild.amazonaws.com",
                    "ec2.amazonaws.com",
                    "eks.amazonaws.com",
                    "lambda.amazonaws.com",
                    "pods.eks.amazonaws.com",
                    "scheduler.amazonaws.com",
                ]
            },
            "Action": "sts:AssumeRole",
        }
    ],
}
NODES = {
    "MainNode": 0,
    "NumNodes": 2,
    "NodeRangeProperties": [
        {
            "TargetNodes": "0:",
            "Container": {
                "Image": "repository/image:tag",
                "ResourceRequirements": [
                    {"Type": "VCPU", "Value": "1"},
                    {"Type": "MEMORY", "Value": "1024"},
                ],
            },
        }
    ],
}

ALARM = {
    "Namespace": "AWS/SQS",
    "MetricName": "ApproximateNumberOfMessagesVisible",
    "Statistic": "Maximum",
    "Period": 300,
    "EvaluationPeriods": 1,
    "Threshold": 10,
    "ComparisonOperator": "GreaterThanOrEqualToThreshold",
}
# Its end record alone.
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)

# A resource of each type, by its logical id, out of those made before it.
Properties = Callable[[Mapping[str, Any]], dict[str, Any]]
SAMPLES: tuple[tuple[str, Properties], ...] = (
    ("AWS::EC2::VPC", lambda made: {"CidrBlock": "10.0.0.0/16"}),
    ("AWS::EC2::InternetGateway", lambda made: {}),
    (
        "AWS::EC2::VPCGatewayAttachment",
        lambda made: {
            "VpcId": made["VPC"].ref,
            "InternetGatewayId": made["InternetGateway"].ref,
        },
    ),
    (
        "AWS::EC2::Subnet",
        lambda made: {
            "VpcId": made["VPC"].ref,
            "CidrBlock": "10.0.0.0/20",
            "AvailabilityZoneId": "usw2-az4",
        },
    ),
    ("AWS::EC2::RouteTable", lambda made: {"VpcId": made["VPC"].ref}),
    (
        "AWS::EC2::Route",
        lambda made: {
            "RouteTableId": made["RouteTable"].ref,
            "DestinationCidrBlock": "0.0.0.0/0",
            "GatewayId": made["InternetGateway"].ref,
        },
    ),
    (
        "AWS::EC2::SubnetRouteTableAssociation",
        lambda made: {"RouteTableId": made["RouteTable"].ref, "SubnetId": made["Subnet"].ref},
    ),
    ("AWS::EC2::EIP", lambda made: {}),
    (
        "AWS::EC2::NatGateway",
        lambda made: {
            "SubnetId": made["Subnet"].ref,
            "AllocationId": made["EIP"].attributes["AllocationId"],
        },
    ),
    (
        "AWS::EC2::VPCEndpoint",
        lambda made: {
            "VpcId": made["VPC"].ref,
            "ServiceName": "com.amazonaws.us-west-2.s3",
            "VpcEndpointType": "Gateway",
        },
    ),
    (
        "AWS::EC2::SecurityGroup",
        lambda made: {"VpcId": made["VPC"].ref, "GroupDescription": "peers"},
    ),
    (
        "AWS::EC2::SecurityGroupIngress",
        lambda made: {
            "GroupId": made["SecurityGroup"].ref,
            "IpProtocol": "-1",
            "SourceSecurityGroupId": made["SecurityGroup"].ref,
        },
    ),
    (
        "AWS::EC2::SecurityGroupEgress",
        lambda made: {
            "GroupId": made["SecurityGroup"].ref,
            "IpProtocol": "-1",
            "DestinationSecurityGroupId": made["SecurityGroup"].ref,
        },
    ),
    ("AWS::EC2::PlacementGroup", lambda made: {"Strategy": "cluster"}),
    (
        "AWS::EC2::LaunchTemplate",
        lambda made: {"LaunchTemplateData": {"InstanceType": "trn1.32xlarge"}},
    ),
    (
        "AWS::AutoScaling::AutoScalingGroup",
        lambda made: {
            "MinSize": "0",
            "MaxSize": "0",
            "LaunchTemplate": {"LaunchTemplateId": made["Nodes"].ref, "Version": "1"},
            "VPCZoneIdentifier": [made["Subnet"].ref],
        },
    ),
    (
        "AWS::EC2::CapacityReservation",
        lambda made: {
            "InstanceType": "trn1.32xlarge",
            "InstancePlatform": "Linux/UNIX",
            "InstanceCount": 2,
            "AvailabilityZoneId": "usw2-az4",
        },
    ),
    (
        "AWS::EC2::Instance",
        lambda made: {
            "ImageId": made["image"],
            "InstanceType": "m5.large",
            "SubnetId": made["Subnet"].ref,
        },
    ),
    ("AWS::IAM::Role", lambda made: {"AssumeRolePolicyDocument": TRUST}),
    ("AWS::IAM::InstanceProfile", lambda made: {"Roles": [made["Role"].ref]}),
    (
        "AWS::IAM::Policy",
        lambda made: {
            "PolicyName": "read",
            "PolicyDocument": POLICY,
            "Roles": [made["Role"].ref],
        },
    ),
    ("AWS::IAM::ManagedPolicy", lambda made: {"PolicyDocument": POLICY}),
    ("AWS::IAM::ServiceLinkedRole", lambda made: {"AWSServiceName": "spot.amazonaws.com"}),
    ("AWS::Logs::LogGroup", lambda made: {"RetentionInDays": 30}),
    (
        "AWS::EC2::FlowLog",
        lambda made: {
            "ResourceId": made["VPC"].ref,
            "ResourceType": "VPC",
            "TrafficType": "ALL",
            "LogGroupName": made["LogGroup"].ref,
            "DeliverLogsPermissionArn": made["Role"].attributes["Arn"],
        },
    ),
    (
        "AWS::Batch::ComputeEnvironment",
        lambda made: {
            "Type": "MANAGED",
            "ComputeResources": {
                "Type": "EC2",
                "MaxvCpus": 256,
                "InstanceTypes": ["m5.large"],
                "InstanceRole": made["InstanceProfile"].attributes["Arn"],
                "Subnets": [made["Subnet"].ref],
                "SecurityGroupIds": [made["SecurityGroup"].ref],
            },
        },
    ),
    (
        "AWS::Batch::JobQueue",
        lambda made: {
            "Priority": 1,
            "ComputeEnvironmentOrder": [
                {"Order": 1, "ComputeEnvironment": made["ComputeEnvironment"].ref}
            ],
        },
    ),
    ("AWS::Batch::JobDefinition", lambda made: {"Type": "multinode", "NodeProperties": NODES}),
    (
        "AWS::FSx::FileSystem",
        lambda made: {
            "FileSystemType": "LUSTRE",
            "FileSystemTypeVersion": "2.15",
            "StorageCapacity": 1200,
            "SubnetIds": [made["Subnet"].ref],
            "SecurityGroupIds": [made["SecurityGroup"].ref],
            "LustreConfiguration": {
                "DeploymentType": "PERSISTENT_2",
                "PerUnitStorageThroughput": 125,
            },
        },
    ),
    ("AWS::S3::Bucket", lambda made: {}),
    ("AWS::ResourceGroups::Group", lambda made: {"Name": "attributes"}),
    (
        "AWS::S3::BucketPolicy",
        lambda made: {
            "Bucket": made["Bucket"].ref,
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Deny",
                        "Principal": "*",
                        "Action": "s3:*",
                        "Resource": made["Bucket"].attributes["Arn"],
                    }
                ],
            },
        },
    ),
    (
        "AWS::FSx::DataRepositoryAssociation",
        lambda made: {
            "FileSystemId": made["FileSystem"].ref,
            "FileSystemPath": "/data",
            "DataRepositoryPath": f"s3://{made['Bucket'].ref}/data/",
        },
    ),
    ("AWS::EFS::FileSystem", lambda made: {}),
    (
        "AWS::EFS::MountTarget",
        lambda made: {
            "FileSystemId": made["AWS::EFS::FileSystem"].ref,
            "SubnetId": made["Subnet"].ref,
            "SecurityGroups": [made["SecurityGroup"].ref],
        },
    ),
    (
        "AWS::EFS::AccessPoint",
        lambda made: {"FileSystemId": made["AWS::EFS::FileSystem"].ref},
    ),
    ("AWS::ECR::Repository", lambda made: {}),
    ("AWS::SSM::Parameter", lambda made: {"Type": "String", "Value": "value"}),
    (
        "AWS::SSM::Document",
        lambda made: {
            "Content": {
                "schemaVersion": "2.2",
                "mainSteps": [
                    {
                        "action": "aws:runShellScript",
                        "name": "run",
                        "inputs": {"runCommand": ["true"]},
                    }
                ],
            }
        },
    ),
    ("AWS::KMS::Key", lambda made: {}),
    (
        "AWS::KMS::Alias",
        lambda made: {"AliasName": "alias/attributes", "TargetKeyId": made["Key"].ref},
    ),
    (
        "AWS::Lambda::Function",
        lambda made: {
            "Code": {"ZipFile": "def handler(event, context): return event"},
            "Handler": "index.handler",
            "Runtime": "python3.13",
            "Role": made["Role"].attributes["Arn"],
        },
    ),
    (
        "AWS::Lambda::Permission",
        lambda made: {
            "FunctionName": made["Function"].ref,
            "Action": "lambda:InvokeFunction",
            "Principal": "events.amazonaws.com",
        },
    ),
    ("AWS::SNS::Topic", lambda made: {}),
    (
        "AWS::SNS::TopicPolicy",
        lambda made: {"PolicyDocument": POLICY, "Topics": [made["Topic"].ref]},
    ),
    (
        "AWS::SNS::Subscription",
        lambda made: {
            "TopicArn": made["Topic"].ref,
            "Protocol": "email",
            "Endpoint": "a@example.org",
        },
    ),
    (
        "AWS::ECR::PullThroughCacheRule",
        lambda made: {
            "EcrRepositoryPrefix": "sample-public",
            "UpstreamRegistryUrl": "public.ecr.aws",
        },
    ),
    (
        "AWS::ECR::RepositoryCreationTemplate",
        lambda made: {"Prefix": "sample-public", "AppliedFor": ["PULL_THROUGH_CACHE"]},
    ),
    (
        "AWS::CodeBuild::Project",
        lambda made: {
            "Artifacts": {"Type": "NO_ARTIFACTS"},
            "Environment": {
                "Type": "LINUX_CONTAINER",
                "ComputeType": "BUILD_GENERAL1_SMALL",
                "Image": "aws/codebuild/amazonlinux-x86_64-standard:5.0",
            },
            "ServiceRole": made["Role"].attributes["Arn"],
            "Source": {"Type": "NO_SOURCE", "BuildSpec": "version: 0.2"},
        },
    ),
    ("AWS::SQS::Queue", lambda made: {}),
    ("AWS::Events::Rule", lambda made: {"ScheduleExpression": "rate(1 hour)"}),
    (
        "AWS::SQS::QueuePolicy",
        lambda made: {"PolicyDocument": POLICY, "Queues": [made["Queue"].ref]},
    ),
    (
        "AWS::EC2::VPCCidrBlock",
        lambda made: {"VpcId": made["VPC"].ref, "CidrBlock": "10.1.0.0/16"},
    ),
    (
        "AWS::IAM::RolePolicy",
        lambda made: {
            "PolicyName": "inline",
            "RoleName": made["Role"].ref,
            "PolicyDocument": POLICY,
        },
    ),
    ("AWS::SecretsManager::Secret", lambda made: {}),
    ("AWS::Events::EventBus", lambda made: {"Name": "bus"}),
    ("AWS::Lambda::Version", lambda made: {"FunctionName": made["Function"].ref}),
    (
        "AWS::Lambda::Alias",
        lambda made: {
            "FunctionName": made["Function"].ref,
            "FunctionVersion": made["Version"].attributes["Version"],
            "Name": "live",
        },
    ),
    ("AWS::CloudWatch::Alarm", lambda made: ALARM),
    ("AWS::CloudWatch::Dashboard", lambda made: {"DashboardBody": '{"widgets": []}'}),
    ("AWS::Lambda::LayerVersion", lambda made: {"Content": made["upload"](made["Bucket"].ref)}),
    (
        "AWS::EKS::Cluster",
        lambda made: {
            "RoleArn": made["eks_role"].attributes["Arn"],
            "ResourcesVpcConfig": {"SubnetIds": [made["Subnet"].ref, made["other_subnet"].ref]},
            "AccessConfig": {"AuthenticationMode": "API"},
        },
    ),
    (
        "AWS::EKS::Nodegroup",
        lambda made: {
            "ClusterName": made["Cluster"].ref,
            "NodeRole": made["node_role"].attributes["Arn"],
            "Subnets": [made["Subnet"].ref],
            "ScalingConfig": {"MinSize": 1, "MaxSize": 1, "DesiredSize": 1},
        },
    ),
    (
        "AWS::EKS::Addon",
        lambda made: {"ClusterName": made["Cluster"].ref, "AddonName": "vpc-cni"},
    ),
    (
        "AWS::EKS::AccessEntry",
        lambda made: {
            "ClusterName": made["Cluster"].ref,
            "PrincipalArn": made["Role"].attributes["Arn"],
        },
    ),
    (
        "AWS::EKS::PodIdentityAssociation",
        lambda made: {
            "ClusterName": made["Cluster"].ref,
            "Namespace": "train",
            "ServiceAccount": "jobs",
            "RoleArn": made["eks_role"].attributes["Arn"],
        },
    ),
    (
        "AWS::Budgets::Budget",
        lambda made: {
            "Budget": {
                "BudgetType": "COST",
                "TimeUnit": "MONTHLY",
                "BudgetLimit": {"Amount": 100, "Unit": "USD"},
            }
        },
    ),
    (
        "AWS::Scheduler::Schedule",
        lambda made: {
            "ScheduleExpression": "rate(1 day)",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "Target": {
                "Arn": "arn:aws:scheduler:::aws-sdk:autoscaling:setDesiredCapacity",
                "RoleArn": made["Role"].attributes["Arn"],
                "Input": json.dumps(
                    {"AutoScalingGroupName": made["AutoScalingGroup"].ref, "DesiredCapacity": 0}
                ),
            },
        },
    ),
    ("AWS::CDK::Metadata", lambda made: {"Analytics": "v2:deflate64:x"}),
    ("AWS::CloudFormation::WaitCondition", lambda made: {}),
    ("AWS::CloudFormation::WaitConditionHandle", lambda made: {}),
)

# Read-only properties that exist only beside a property which no cluster of ours sets.
ABSENT = {
    "AWS::Batch::ComputeEnvironment": ("ComputeResources.", "EksConfiguration."),
    "AWS::EFS::FileSystem": ("ReplicationConfiguration.",),
    "AWS::EC2::VPC": ("VpcEncryptionControl.",),
    "AWS::EC2::VPCCidrBlock": ("Ipv6AddressAttribute", "IpSource"),
    "AWS::S3::Bucket": ("MetadataConfiguration.", "MetadataTableConfiguration."),
}

# Types whose Ref is not the schema's primary identifier, by the resource type's documentation.
OTHER_REF = {
    "AWS::Batch::JobDefinition": "JobDefinitionArn",
    "AWS::EC2::EIP": "PublicIp",
    "AWS::Events::Rule": "RuleName",
}


services.load()
# Stacks and custom resources have tests of their own.
TYPES = [
    resource_type
    for resource_type in supported_types()
    if ".resource_types" in type(handler_of(resource_type)).__module__
]


@pytest.fixture(scope="module")
def made(client: Any, deploy: Any) -> Iterator[dict[str, Any]]:
    """One resource of each type, by the type and by the last part of its name."""
    # EKS takes minutes of AWS's.
    services.install(ServerSettings(jobs=JobSettings(speed=100_000)))

    def upload(bucket: str) -> dict[str, str]:
        client("s3").put_object(Bucket=bucket, Key="layer.zip", Body=EMPTY_ZIP)
        return {"S3Bucket": bucket, "S3Key": "layer.zip"}

    made: dict[str, Any] = {"image": own_ami(client), "upload": upload}
    data = {"InstanceType": "trn1.32xlarge", "ImageId": made["image"]}
    made["Nodes"] = deploy("AWS::EC2::LaunchTemplate", "Nodes", LaunchTemplateData=data)
    for resource_type, properties in SAMPLES:
        logical_id = resource_type.rpartition(":")[2]
        made[resource_type] = deploy(resource_type, logical_id, **properties(made))
        made[logical_id] = made[resource_type]
        if resource_type == "AWS::EC2::Subnet":
            made["other_subnet"] = _other_subnet(client, deploy, made)
        if resource_type == "AWS::IAM::Role":
            policy = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
            trusted = {"AssumeRolePolicyDocument": TRUST, "ManagedPolicyArns": [policy]}
            made["eks_role"] = deploy("AWS::IAM::Role", "EksRole", **trusted)
            pull = "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"
            trusted = {"AssumeRolePolicyDocument": TRUST, "ManagedPolicyArns": [pull]}
            made["node_role"] = deploy("AWS::IAM::Role", "NodeRole", **trusted)
    yield made
    services.install()


def _other_subnet(client: Any, deploy: Any, made: dict[str, Any]) -> Any:
    """Make a subnet in another zone than the first one's."""
    ec2 = client("ec2")
    [subnet] = ec2.describe_subnets(SubnetIds=[made["Subnet"].ref])["Subnets"]
    zones = ec2.describe_availability_zones()["AvailabilityZones"]
    zone = next(it for it in zones if it["ZoneName"] != subnet["AvailabilityZone"])
    place = {"AvailabilityZone": zone["ZoneName"], "CidrBlock": "10.0.128.0/24"}
    return deploy("AWS::EC2::Subnet", "OtherSubnet", VpcId=made["VPC"].ref, **place)


def test_every_supported_type_has_a_sample() -> None:
    assert sorted(resource_type for resource_type, _ in SAMPLES) == TYPES


@pytest.mark.parametrize("resource_type", TYPES)
def test_getatt_gives_every_read_only_property(resource_type: str, made: dict[str, Any]) -> None:
    schema = schema_of(resource_type, REGION)
    assert schema is not None
    promised = {".".join(path) for path in schema.paths("readOnlyProperties")}
    promised = {name for name in promised if not name.startswith(ABSENT.get(resource_type, ("-",)))}

    given = made[resource_type].attributes

    assert [name for name in promised if name not in given] == []
    assert None not in [given[name] for name in promised]


@pytest.mark.parametrize("resource_type", TYPES)
def test_ref_is_the_primary_identifier(resource_type: str, made: dict[str, Any]) -> None:
    schema = schema_of(resource_type, REGION)
    assert schema is not None
    resource = made[resource_type]
    identifier = [path[0] for path in schema.paths("primaryIdentifier")]
    if resource_type in OTHER_REF:
        identifier = [OTHER_REF[resource_type]]

    parts = resource.ref.split("|") if len(identifier) > 1 else [resource.ref]

    assert len(parts) == len(identifier)
    for name, part in zip(identifier, parts, strict=True):
        assert resource.attributes.get(name, part) == part
