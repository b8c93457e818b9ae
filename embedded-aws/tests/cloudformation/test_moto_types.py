"""Every type that is listed as moto's can really be made; our own have their own tests."""

from collections.abc import Mapping
from typing import Any

import pytest

from embedded_aws.supported import all_supported

TRUST = {
    "Version": "2012-10-17",
    "Statement": {
        "Effect": "Allow",
        "Principal": {"Service": ["lambda.amazonaws.com", "sagemaker.amazonaws.com"]},
        "Action": "sts:AssumeRole",
    },
}


def ref(logical_id: str) -> dict[str, Any]:
    return {"Ref": logical_id}


def att(logical_id: str, attribute: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [logical_id, attribute]}


# What samples stand on, by logical id.
GROUND: dict[str, tuple[str, dict[str, Any]]] = {
    "Vpc": ("AWS::EC2::VPC", {"CidrBlock": "10.0.0.0/16"}),
    "Subnet": (
        "AWS::EC2::Subnet",
        {"VpcId": ref("Vpc"), "CidrBlock": "10.0.0.0/20", "AvailabilityZone": "us-west-2a"},
    ),
    "Other": (
        "AWS::EC2::Subnet",
        {"VpcId": ref("Vpc"), "CidrBlock": "10.0.16.0/20", "AvailabilityZone": "us-west-2b"},
    ),
    "Peer": ("AWS::EC2::VPC", {"CidrBlock": "10.1.0.0/16"}),
    "Role": ("AWS::IAM::Role", {"AssumeRolePolicyDocument": TRUST}),
    "Function": (
        "AWS::Lambda::Function",
        {
            "Code": {"ZipFile": "def handler(event, context): pass"},
            "Handler": "index.handler",
            "Runtime": "python3.13",
            "Role": att("Role", "Arn"),
        },
    ),
    "Queue": ("AWS::SQS::Queue", {}),
    "Api": ("AWS::ApiGateway::RestApi", {"Name": "api"}),
    "Cluster": ("AWS::ECS::Cluster", {}),
    "Task": (
        "AWS::ECS::TaskDefinition",
        {"ContainerDefinitions": [{"Name": "c", "Image": "i", "Memory": 128}]},
    ),
    "Emr": (
        "AWS::EMR::Cluster",
        {
            "Name": "emr",
            "Instances": {
                "MasterInstanceGroup": {"InstanceCount": 1, "InstanceType": "m5.large"},
                "CoreInstanceGroup": {"InstanceCount": 1, "InstanceType": "m5.large"},
            },
            "JobFlowRole": "EMR_EC2_DefaultRole",
            "ServiceRole": "EMR_DefaultRole",
        },
    ),
    "Balancer": (
        "AWS::ElasticLoadBalancingV2::LoadBalancer",
        {"Subnets": [ref("Subnet"), ref("Other")], "Scheme": "internal"},
    ),
    "Targets": (
        "AWS::ElasticLoadBalancingV2::TargetGroup",
        {"Port": 80, "Protocol": "HTTP", "VpcId": ref("Vpc"), "TargetType": "ip"},
    ),
    "Listener": (
        "AWS::ElasticLoadBalancingV2::Listener",
        {
            "LoadBalancerArn": ref("Balancer"),
            "Port": 80,
            "Protocol": "HTTP",
            "DefaultActions": [{"Type": "forward", "TargetGroupArn": ref("Targets")}],
        },
    ),
    "Launch": (
        "AWS::AutoScaling::LaunchConfiguration",
        {"ImageId": "ami-0123456789abcdef0", "InstanceType": "t3.micro"},
    ),
    "User": ("AWS::IAM::User", {}),
    "Zone": ("AWS::Route53::HostedZone", {"Name": "example.org"}),
    "Model": (
        "AWS::SageMaker::Model",
        {
            "ExecutionRoleArn": att("Role", "Arn"),
            "PrimaryContainer": {"Image": "404615174143.dkr.ecr.us-west-2.amazonaws.com/m:1"},
        },
    ),
    "Config": (
        "AWS::SageMaker::EndpointConfig",
        {
            "ProductionVariants": [
                {
                    "InitialInstanceCount": 1,
                    "InitialVariantWeight": 1,
                    "InstanceType": "ml.c4.xlarge",
                    "ModelName": att("Model", "ModelName"),
                    "VariantName": "v",
                }
            ]
        },
    ),
}
RECORD = {"Name": "a.example.org", "Type": "A", "TTL": "60", "ResourceRecords": ["192.0.2.1"]}

# The properties of one resource of each type; what it stands on follows from its references.
SAMPLES: Mapping[str, dict[str, Any]] = {
    **{resource_type: properties for resource_type, properties in GROUND.values()},
    "AWS::ApiGateway::Resource": {
        "RestApiId": ref("Api"),
        "ParentId": att("Api", "RootResourceId"),
        "PathPart": "jobs",
    },
    "AWS::CloudWatch::Dashboard": {"DashboardBody": '{"widgets": []}'},
    "AWS::DataPipeline::Pipeline": {
        "Name": "pipeline",
        "Description": "pipeline",
        "Activate": False,
        "PipelineTags": [],
        "ParameterObjects": [],
        "PipelineObjects": [{"Id": "Default", "Name": "Default", "Fields": []}],
    },
    "AWS::DynamoDB::Table": {
        "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    },
    "AWS::EC2::NetworkInterface": {"SubnetId": ref("Subnet")},
    "AWS::EC2::SpotFleet": {
        "SpotFleetRequestConfigData": {
            "IamFleetRole": att("Role", "Arn"),
            "TargetCapacity": 1,
            "AllocationStrategy": "lowestPrice",
            "LaunchSpecifications": [
                {
                    "ImageId": "ami-0123456789abcdef0",
                    "InstanceType": "t3.micro",
                    "SubnetId": ref("Subnet"),
                    "WeightedCapacity": 1,
                }
            ],
        }
    },
    "AWS::EC2::TransitGateway": {"Description": "gateway"},
    "AWS::EC2::VPCPeeringConnection": {"VpcId": ref("Vpc"), "PeerVpcId": ref("Peer")},
    "AWS::EC2::VPNGateway": {"Type": "ipsec.1"},
    "AWS::EC2::Volume": {"AvailabilityZone": "us-west-2a", "Size": 8},
    "AWS::ECS::Service": {
        "Cluster": ref("Cluster"),
        "TaskDefinition": ref("Task"),
        "DesiredCount": 0,
    },
    "AWS::EMR::InstanceGroupConfig": {
        "InstanceCount": 1,
        "InstanceRole": "TASK",
        "InstanceType": "m5.large",
        "JobFlowId": ref("Emr"),
    },
    "AWS::EMR::SecurityConfiguration": {"SecurityConfiguration": {}},
    "AWS::ElasticLoadBalancing::LoadBalancer": {
        "Listeners": [{"InstancePort": "80", "LoadBalancerPort": "80", "Protocol": "http"}],
        "AvailabilityZones": ["us-west-2a"],
    },
    "AWS::ElasticLoadBalancingV2::ListenerRule": {
        "ListenerArn": ref("Listener"),
        "Priority": 1,
        "Conditions": [{"Field": "path-pattern", "Values": ["/jobs"]}],
        "Actions": [{"Type": "forward", "TargetGroupArn": ref("Targets")}],
    },
    "AWS::IAM::AccessKey": {"UserName": ref("User")},
    "AWS::Kinesis::Stream": {"ShardCount": 1},
    "AWS::Lambda::EventSourceMapping": {
        "FunctionName": ref("Function"),
        "EventSourceArn": att("Queue", "Arn"),
    },
    "AWS::Logs::ResourcePolicy": {"PolicyName": "policy", "PolicyDocument": "{}"},
    "AWS::RDS::DBInstance": {
        "DBInstanceClass": "db.t3.micro",
        "Engine": "postgres",
        "AllocatedStorage": "20",
        "MasterUsername": "keeper",
        "MasterUserPassword": "keeper000",
    },
    "AWS::Route53::HealthCheck": {
        "HealthCheckConfig": {"Type": "HTTP", "IPAddress": "192.0.2.1", "Port": 80}
    },
    "AWS::Route53::RecordSet": {"HostedZoneId": ref("Zone"), **RECORD},
    "AWS::Route53::RecordSetGroup": {"HostedZoneId": ref("Zone"), "RecordSets": [RECORD]},
    "AWS::SageMaker::Endpoint": {"EndpointConfigName": att("Config", "EndpointConfigName")},
    "AWS::SageMaker::NotebookInstance": {
        "InstanceType": "ml.t2.medium",
        "RoleArn": att("Role", "Arn"),
    },
    "AWS::SageMaker::NotebookInstanceLifecycleConfig": {},
    "AWS::StepFunctions::StateMachine": {
        "DefinitionString": '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}',
        "RoleArn": att("Role", "Arn"),
    },
}
MOTOS = [name for name, maker in all_supported().items() if maker == "moto"]


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return {name for item in value for name in references(item)}
    if not isinstance(value, dict):
        return set()
    if "Ref" in value:
        return {value["Ref"]}
    if "Fn::GetAtt" in value:
        return {value["Fn::GetAtt"][0]}
    return {name for item in value.values() for name in references(item)}


def with_ground(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the resources that properties refer to, and those that these refer to."""
    resources: dict[str, Any] = {}
    for name in references(properties):
        resource_type, needed = GROUND[name]
        resources |= {name: {"Type": resource_type, "Properties": needed}, **with_ground(needed)}
    return resources


def test_every_type_of_motos_has_a_sample() -> None:
    assert set(MOTOS) <= set(SAMPLES)


@pytest.mark.parametrize("resource_type", MOTOS)
def test_a_listed_type_is_made(resource_type: str, stack: Any) -> None:
    sample = {"Type": resource_type, "Properties": SAMPLES[resource_type]}

    status = stack.create(
        {**with_ground(SAMPLES[resource_type]), "Sample": sample},
        sections={"Outputs": {"Ref": {"Value": {"Ref": "Sample"}}}},
        Capabilities=["CAPABILITY_IAM"],
        OnFailure="DO_NOTHING",
    )

    reasons = [event.get("ResourceStatusReason") for event in stack.history]
    assert status == "CREATE_COMPLETE", reasons
    assert stack.outputs["Ref"] == stack.physical_id("Sample") != ""
