"""What a review says may go wrong, over comparisons by the real engine behind `cdk diff`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trainshed.app.synthesis import SynthesisedStack
from trainshed.review.changes import compare_templates
from trainshed.review.model import Risk
from trainshed.review.risks import risks

ROOT = Path(__file__).parents[2]
Template = Mapping[str, Any]
KEPT = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
BUCKET, TABLE, LOGS = "AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::Logs::LogGroup"
FILES, REPOSITORY, KEY = "AWS::FSx::FileSystem", "AWS::ECR::Repository", "AWS::KMS::Key"
ENVIRONMENT, QUEUE = "AWS::Batch::ComputeEnvironment", "AWS::Batch::JobQueue"
NODES, LAUNCH = "AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::LaunchTemplate"
KEY_ARN = "arn:aws:kms:us-west-2:123456789012:key/{}"
# A policy needs a statement.
OTHER = {"Action": "sqs:SendMessage", "Resource": "arn:aws:sqs:us-west-2:123456789012:q"}
GROUP, ROLE = "AWS::EC2::SecurityGroup", "AWS::IAM::Role"


def resource(kind: str, properties: Any = None, **attributes: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties or {}, **attributes}


def one(kind: str, properties: Any = None, **attributes: Any) -> Template:
    return {"Resources": {"It": resource(kind, properties, **attributes)}}


EMPTY: Template = {"Resources": {}}


def lustre(deployment: str, *, allowed: bool = False, name: str = "It") -> Template:
    frozen = {
        "FileSystem": {"DeploymentType": deployment},
        "AllowReplacement": allowed,
        "HowToAllow": "storage.lustre.allow_replacement: true",
    }
    given = {"FileSystemType": "LUSTRE", "LustreConfiguration": {"DeploymentType": deployment}}
    return {
        "Resources": {
            "Guard": resource("Custom::ReplacementGuard", frozen),
            name: resource(FILES, given, DependsOn=["Guard"], **KEPT),
        }
    }


def batch(
    *, disk: int = 100, hours: int | None = 1, ami: str = "a", policy: Any = None, **changes: Any
) -> Template:
    """A compute environment with a launch template, as ours are."""
    resources = {
        "MaxvCpus": 8,
        "Subnets": ["s-1"],
        "Ec2Configuration": [{"ImageIdOverride": {"Fn::GetAtt": ["Ami", "ImageId"]}}],
        "LaunchTemplate": {
            "LaunchTemplateId": {"Ref": "Template"},
            "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
        },
    }
    environment = {
        "Type": "MANAGED",
        "State": changes.pop("State", "ENABLED"),
        "ReplaceComputeEnvironment": changes.pop("ReplaceComputeEnvironment", False),
        **({"UpdatePolicy": policy} if policy else {}),
        "ComputeResources": {**resources, **changes},
    }
    limit = {"Timeout": {"AttemptDurationSeconds": hours * 3600}} if hours else {}
    return {
        "Resources": {
            "Ami": resource("Custom::PinnedAmi", {"Parameter": ami}),
            "Template": resource(LAUNCH, {"LaunchTemplateData": {"RootGib": disk}}),
            "It": resource(ENVIRONMENT, environment),
            "Job": resource("AWS::Batch::JobDefinition", {"Type": "container", **limit}),
        }
    }


def one_card_and(others: int) -> Template:
    cards = [{"NetworkCardIndex": index} for index in range(1 + others)]
    found = batch()
    data = {"LaunchTemplateData": {"NetworkInterfaces": cards}}
    return {"Resources": {**found["Resources"], "Template": resource(LAUNCH, data)}}


def with_unlimited_job(template: Template) -> Template:
    job = {"Other": resource("AWS::Batch::JobDefinition", {"Type": "container"})}
    return {"Resources": {**template["Resources"], **job}}


def with_one(name: str, value: Any) -> Template:
    given: dict[str, Any] = {name: value}
    return batch(**given)


def by_default_version(disk: int) -> Template:
    version = {"Fn::GetAtt": ["Template", "DefaultVersionNumber"]}
    return batch(disk=disk, LaunchTemplate={"Version": version})


def nodes(*, size: int = 4, disk: int = 100, **attributes: Any) -> Template:
    given = {
        "MinSize": str(size),
        "MaxSize": str(size),
        "TerminationPolicies": ["NewestInstance"],
        "LaunchTemplate": {"Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]}},
    }
    return {
        "Resources": {
            "Template": resource(LAUNCH, {"LaunchTemplateData": {"RootGib": disk}}),
            "It": resource(NODES, given, **attributes),
        }
    }


def node_group(
    *, size: int = 4, disk: int = 100, repair: bool = True, of_jobs: bool = True
) -> Template:
    taint = {"Key": "aws.amazon.com/neuron", "Value": "present", "Effect": "NO_SCHEDULE"}
    given = {
        "Taints": [taint] if of_jobs else [],
        "ClusterName": "train",
        "NodeRole": "r",
        "Subnets": ["s-1"],
        "ScalingConfig": {"MinSize": size, "MaxSize": size, "DesiredSize": size},
        "NodeRepairConfig": {"Enabled": repair},
        "LaunchTemplate": {
            "Id": {"Ref": "Template"},
            "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
        },
    }
    return {
        "Resources": {
            "Template": resource(LAUNCH, {"LaunchTemplateData": {"RootGib": disk}}),
            "It": resource("AWS::EKS::Nodegroup", given),
        }
    }


def control_plane(version: str = "1.35", **properties: Any) -> Template:
    given = {"Name": "train", "Version": version, "RoleArn": "r", **properties}
    return one("AWS::EKS::Cluster", given)


def launch(**data: Any) -> Template:
    return one(LAUNCH, {"LaunchTemplateData": data})


def tokens(value: str) -> Template:
    return launch(MetadataOptions={"HttpTokens": value})


def disk(**ebs: Any) -> Template:
    return launch(BlockDeviceMappings=[{"DeviceName": "/dev/xvda", "Ebs": ebs}])


def group(*rules: Any) -> Template:
    return one(GROUP, {"GroupDescription": "g", "SecurityGroupIngress": list(rules)})


def policy(**statement: Any) -> Template:
    document = {"Statement": [{"Effect": "Allow", **statement}]}
    return one("AWS::IAM::Policy", {"PolicyName": "p", "Roles": ["r"], "PolicyDocument": document})


def reads_with(
    key: str | None,
    *,
    bucket: bool = True,
    prefix: str = "",
    write: bool = False,
    roles: Sequence[str] = ("r",),
) -> Template:
    """A policy that lets roles read a bucket, and what a key has encrypted in it."""
    objects = {"Action": ["s3:GetObject"], "Resource": f"arn:aws:s3:::b/{prefix}*"}
    encrypted = {
        "Action": ["kms:Decrypt", *(["kms:GenerateDataKey"] if write else [])],
        "Resource": KEY_ARN.format(key),
        "Condition": {"StringEquals": {"kms:ViaService": "s3.us-west-2.amazonaws.com"}},
    }
    statements = [
        {"Effect": "Allow", **each}
        for each, given in ((objects, bucket), (encrypted, key), (OTHER, True))
        if given
    ]
    return one(
        "AWS::IAM::Policy",
        {"PolicyName": "p", "Roles": roles, "PolicyDocument": {"Statement": statements}},
    )


def trust(principal: Any, **statement: Any) -> Template:
    document = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": principal,
        **statement,
    }
    return one(ROLE, {"AssumeRolePolicyDocument": {"Statement": [document]}})


def managed(*names: str) -> Template:
    joined = [
        {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":iam::aws:policy/{name}"]]}
        for name in names
    ]
    return one(ROLE, {"ManagedPolicyArns": joined})


SSH = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "0.0.0.0/0"}
LOST, KILLED, OPEN = "data-loss", "jobs-killed", "open-to-the-world"
BROAD, REPLACED = "broad-permission", "replaced"

# What a change risks: level, kind, and what is said of it, among other words.
CASES: Mapping[str, tuple[Template, Template, list[tuple[str, str, str]]]] = {
    # Data
    "bucket-removed": (
        one(BUCKET),
        EMPTY,
        [("high", LOST, "leaves its stack: what is in it is del")],
    ),
    "bucket-replaced": (
        one(BUCKET, {"BucketName": "a"}),
        one(BUCKET, {"BucketName": "b"}),
        [("high", LOST, "is replaced, because of BucketName: what is in it is deleted")],
    ),
    "bucket-removed-and-kept": (
        one(BUCKET, **KEPT),
        EMPTY,
        [("high", LOST, "a policy keeps what is in it, but the cluster no longer uses it")],
    ),
    "bucket-added": (EMPTY, one(BUCKET), []),
    "repository-replaced": (
        one(REPOSITORY, {"RepositoryName": "a"}, **KEPT),
        one(REPOSITORY, {"RepositoryName": "b"}, **KEPT),
        [("high", LOST, "the repository is replaced, because of RepositoryName")],
    ),
    "file-system-guarded": (
        lustre("SCRATCH_1"),
        lustre("SCRATCH_2"),
        [("high", LOST, "ReplacementGuard stops the deployment, unless storage.lustre.allow_repl")],
    ),
    "file-system-allowed": (
        lustre("SCRATCH_1"),
        lustre("SCRATCH_2", allowed=True),
        [("high", LOST, "allow_replacement: true is set, so nothing stops the deployment")],
    ),
    "file-system-of-another-id": (
        lustre("PERSISTENT_2"),
        lustre("SCRATCH_2", name="Scratch"),
        [("high", LOST, "leaves its stack, and an empty one comes (Scratch): a policy keeps")],
    ),
    "file-system-removed": (
        lustre("PERSISTENT_2"),
        EMPTY,
        [("high", LOST, "and it costs money until somebody deletes it")],
    ),
    "file-system-grows": (
        one(FILES, {"StorageCapacity": 1200}),
        one(FILES, {"StorageCapacity": 2400}),
        [],
    ),
    "logs-removed": (one(LOGS), EMPTY, [("medium", LOST, "the log group leaves its stack")]),
    "logs-removed-and-kept": (one(LOGS, **KEPT), EMPTY, []),
    "logs-of-a-function-removed": (
        {
            "Resources": {
                "It": resource(LOGS),
                "Function": resource(
                    "AWS::Lambda::Function", {"LoggingConfig": {"LogGroup": {"Ref": "It"}}}
                ),
            }
        },
        EMPTY,
        [],
    ),
    "key-removed": (one(KEY), EMPTY, [("high", LOST, "what it encrypts can never be read again")]),
    "key-removed-and-kept": (one(KEY, **KEPT), EMPTY, []),
    "another-key-of-a-bucket": (
        reads_with("old", roles=["r", "s"]),
        reads_with("new", roles=["r", "s"]),
        [
            (
                "medium",
                LOST,
                "key/old through S3: the objects that it has encrypted",
            )
        ],
    ),
    "no-key-of-a-bucket": (
        reads_with("old"),
        reads_with(None),
        [("medium", LOST, "key/old through S3: the objects")],
    ),
    "another-key-and-another-prefix": (
        reads_with("old"),
        reads_with("new", prefix="data/"),
        [("medium", LOST, "key/old through S3: the objects")],
    ),
    "first-key-of-a-bucket": (reads_with(None), reads_with("new"), []),
    "a-key-to-read-with-no-longer-to-write": (
        reads_with("old", write=True),
        reads_with("old"),
        [],
    ),
    "a-bucket-given-up-with-its-key": (reads_with("old"), reads_with(None, bucket=False), []),
    "a-key-that-is-not-for-s3": (
        policy(Action="kms:Decrypt", Resource=KEY_ARN.format("old")),
        policy(Action="kms:Decrypt", Resource=KEY_ARN.format("new")),
        [],
    ),
    "policy-weakened": (
        one(BUCKET, **KEPT),
        one(BUCKET, UpdateReplacePolicy="Retain"),
        [("high", LOST, "is no longer kept when it leaves its stack (DeletionPolicy)")],
    ),
    "policy-strengthened": (one(BUCKET), one(BUCKET, **KEPT), []),
    "protection-removed": (
        one(TABLE, {"DeletionProtectionEnabled": True}),
        one(TABLE, {"DeletionProtectionEnabled": False}),
        [("high", LOST, "can be deleted from now on (DeletionProtectionEnabled)")],
    ),
    "emptied-on-deletion": (
        one(REPOSITORY),
        one(REPOSITORY, {"EmptyOnDelete": True}),
        [("high", LOST, "is emptied when it is deleted (EmptyOnDelete)")],
    ),
    "still-emptied-on-deletion": (
        one(REPOSITORY, {"EmptyOnDelete": True}),
        one(REPOSITORY, {"EmptyOnDelete": True, "ImageTagMutability": "IMMUTABLE"}),
        [],
    ),
    "objects-deleted": (
        EMPTY,
        one("Custom::S3AutoDeleteObjects"),
        [("high", LOST, "all its objects are deleted first")],
    ),
    "shorter-retention": (
        one(LOGS, {"RetentionInDays": 90}),
        one(LOGS, {"RetentionInDays": 7}),
        [("medium", LOST, "RetentionInDays goes from 90 to 7: what is older")],
    ),
    "longer-retention": (
        one(LOGS, {"RetentionInDays": 7}),
        one(LOGS, {"RetentionInDays": 90}),
        [],
    ),
    # Jobs
    "more-vcpus": (batch(), batch(MaxvCpus=16), []),
    "same-subnets": (batch(), batch(policy={"JobExecutionTimeoutMinutes": 60}), []),
    "other-subnets": (
        batch(),
        batch(Subnets=["s-2"]),
        [
            (
                "high",
                KILLED,
                "because of ComputeResources.Subnets[0]: the jobs that run go on for 30",
            )
        ],
    ),
    "jobs-that-the-stack-waits-for": (
        batch(hours=72),
        batch(hours=72, Subnets=["s-2"], policy={"JobExecutionTimeoutMinutes": 120}),
        [("high", KILLED, "they may run for 72 hours; the deployment takes as long as they do")],
    ),
    "short-jobs-that-the-stack-waits-for": (
        batch(hours=1),
        batch(hours=1, Subnets=["s-2"], policy={"JobExecutionTimeoutMinutes": 7200}),
        [("medium", KILLED, "so it should end none; the deployment takes as long as they do")],
    ),
    "jobs-without-limit": (
        batch(hours=None),
        batch(hours=None, Subnets=["s-2"]),
        [("high", KILLED, "and are then ended; nothing limits how long they may run")],
    ),
    "one-job-without-limit": (
        with_unlimited_job(batch()),
        with_unlimited_job(batch(Subnets=["s-2"])),
        [("high", KILLED, "nothing limits how long they may run")],
    ),
    "jobs-longer-than-spared": (
        batch(hours=72),
        batch(hours=1, Subnets=["s-2"], policy={"JobExecutionTimeoutMinutes": 60}),
        [("high", KILLED, "go on for 60 minutes, and are then ended; they may run for 72 hours")],
    ),
    "jobs-spared": (
        batch(hours=72),
        batch(hours=72, Subnets=["s-2"], policy={"JobExecutionTimeoutMinutes": 4320}),
        [("medium", KILLED, "the deployment waits for them, and may fail after 2 hours")],
    ),
    "jobs-not-spared": (
        batch(),
        batch(Subnets=["s-2"], policy={"TerminateJobsOnUpdate": True}),
        [("high", KILLED, "ended at once (TerminateJobsOnUpdate)")],
    ),
    "launch-template": (
        batch(),
        batch(disk=200),
        [("high", KILLED, "a new version of Template (LaunchTemplateData.RootGib)")],
    ),
    "launch-template-with-more-cards": (
        one_card_and(0),
        one_card_and(3),
        [("high", KILLED, "a new version of Template (LaunchTemplateData.NetworkInterfaces)")],
    ),
    "launch-template-of-a-block": (
        batch(ReplaceComputeEnvironment=True),
        batch(ReplaceComputeEnvironment=True, disk=200),
        [("high", KILLED, "the compute environment is replaced, because of a new version of Temp")],
    ),
    "another-ami": (
        batch(),
        batch(ami="b"),
        [("high", KILLED, "because of Ami, which may give another ImageId")],
    ),
    "environment-replaced": (
        batch(ReplaceComputeEnvironment=True),
        batch(ReplaceComputeEnvironment=True, Subnets=["s-2"]),
        [
            (
                "high",
                KILLED,
                "is replaced, because of ComputeResources.Subnets[0]: the jobs that run",
            )
        ],
    ),
    "environment-removed": (batch(), EMPTY, [("high", KILLED, "the compute environment leaves")]),
    "environment-disabled": (
        batch(),
        batch(State="DISABLED"),
        [("medium", KILLED, "the compute environment is disabled: jobs that run go on")],
    ),
    "environment-still-disabled": (
        batch(State="DISABLED"),
        batch(State="DISABLED", MaxvCpus=16),
        [],
    ),
    "launch-template-by-its-default-version": (
        by_default_version(100),
        by_default_version(200),
        [],
    ),
    **{
        f"another-{name}": (
            with_one(name, "a"),
            with_one(name, "b"),
            [("high", KILLED, f"because of ComputeResources.{name}: the jobs that run go on")],
        )
        for name in (
            *("AllocationStrategy", "BidPercentage", "Ec2KeyPair", "ImageId", "InstanceRole"),
            *("InstanceTypes", "PlacementGroup", "SecurityGroupIds", "Tags", "Type"),
            "UpdateToLatestImageVersion",
        )
    },
    "queue-removed": (one(QUEUE), EMPTY, [("high", KILLED, "those that wait as well as those")]),
    "queue-disabled": (
        one(QUEUE, {"State": "ENABLED"}),
        one(QUEUE, {"State": "DISABLED"}),
        [("medium", KILLED, "the job queue is disabled")],
    ),
    "fewer-nodes": (
        nodes(),
        nodes(size=2),
        [("high", KILLED, "gets 2 nodes instead of 4: the newest are terminated")],
    ),
    "fewer-nodes-of-kubernetes": (
        node_group(),
        node_group(size=2),
        [("high", KILLED, "gets 2 nodes instead of 4: EC2 Auto Scaling chooses those that go")],
    ),
    "more-nodes-of-kubernetes": (node_group(), node_group(size=8), []),
    "other-nodes-of-kubernetes": (
        node_group(),
        node_group(disk=200),
        [("high", KILLED, "replaces its nodes one after another, because of")],
    ),
    "other-system-nodes-of-kubernetes": (
        node_group(of_jobs=False),
        node_group(of_jobs=False, disk=200),
        [],
    ),
    "no-repair-of-nodes": (node_group(), node_group(repair=False), []),
    "node-group-goes": (
        node_group(),
        EMPTY,
        [("high", KILLED, "the node group leaves its stack: its nodes are terminated")],
    ),
    "newer-kubernetes": (control_plane(), control_plane("1.36"), []),
    "control-plane-goes": (
        control_plane(),
        EMPTY,
        [
            ("high", LOST, "the cluster"),
            ("high", KILLED, "the control plane leaves its stack: its jobs and all else in it"),
        ],
    ),
    "more-nodes": (nodes(), nodes(size=8), []),
    "another-disk-for-later-nodes": (nodes(), nodes(disk=200), []),
    "another-disk-for-all-nodes": (
        nodes(UpdatePolicy={"AutoScalingRollingUpdate": {}}),
        nodes(disk=200, UpdatePolicy={"AutoScalingRollingUpdate": {}}),
        [("high", KILLED, "replaces the nodes, because of a new version of Template")],
    ),
    "nodes-removed": (nodes(), EMPTY, [("high", KILLED, "its nodes are terminated")]),
    # Open to the world
    "ssh": (group(), group(SSH), [("high", OPEN, "It takes TCP 22 from anywhere (IPv4)")]),
    "ssh-closed": (group(SSH), group(), []),
    "rule-of-its-own": (
        EMPTY,
        one(
            "AWS::EC2::SecurityGroupIngress",
            {"GroupId": {"Ref": "G"}, "IpProtocol": "-1", "CidrIpv6": "::/0"},
        ),
        [("high", OPEN, "G takes all traffic from anywhere (IPv6)")],
    ),
    "out-to-the-world": (
        EMPTY,
        one(
            "AWS::EC2::SecurityGroupEgress",
            {"GroupId": {"Ref": "G"}, "IpProtocol": "-1", "CidrIp": "0.0.0.0/0"},
        ),
        [],
    ),
    "public-address": (
        EMPTY,
        launch(NetworkInterfaces=[{"AssociatePublicIpAddress": True}]),
        [("high", OPEN, "nodes get public addresses")],
    ),
    "public-subnet": (
        one("AWS::EC2::Subnet"),
        one("AWS::EC2::Subnet", {"MapPublicIpOnLaunch": True}),
        [("high", OPEN, "nodes in it get public addresses")],
    ),
    "new-public-subnet": (EMPTY, one("AWS::EC2::Subnet", {"MapPublicIpOnLaunch": True}), []),
    "imdsv1": (tokens("required"), tokens("optional"), [("high", OPEN, "nodes answer IMDSv1")]),
    "imdsv1-as-before": (
        tokens("optional"),
        launch(MetadataOptions={"HttpTokens": "optional"}, ImageId="ami-1"),
        [],
    ),
    "imdsv1-by-default": (
        tokens("required"),
        launch(ImageId="ami-1"),
        [("high", OPEN, "nodes may answer IMDSv1")],
    ),
    "public-under-a-condition": (
        one("AWS::RDS::DBInstance", {"PubliclyAccessible": False}),
        one("AWS::RDS::DBInstance", {"PubliclyAccessible": {"Fn::If": ["Yes", True, False]}}),
        [("high", OPEN, "it gets a public address")],
    ),
    "imdsv2": (tokens("optional"), tokens("required"), []),
    "disk-not-encrypted": (
        disk(Encrypted=True),
        disk(Encrypted=False),
        [("high", OPEN, "it is not encrypted")],
    ),
    "disk-perhaps-not-encrypted": (
        disk(Encrypted=True),
        disk(VolumeSize=1),
        [("high", OPEN, "it may no longer be encrypted")],
    ),
    "public-address-and-imdsv1-by-default": (
        launch(MetadataOptions={"HttpTokens": "required"}),
        launch(NetworkInterfaces=[{"AssociatePublicIpAddress": True}]),
        [
            ("high", OPEN, "nodes get public addresses"),
            ("high", OPEN, "nodes may answer IMDSv1"),
        ],
    ),
    "fewer-disks": (
        launch(BlockDeviceMappings=[{"Ebs": {"Encrypted": True}}, {"Ebs": {"Encrypted": True}}]),
        launch(BlockDeviceMappings=[{"Ebs": {"Encrypted": True}}]),
        [],
    ),
    "without-its-key": (
        one(LOGS, {"KmsKeyId": {"Ref": "Key"}}),
        one(LOGS),
        [("high", OPEN, "it is no longer encrypted as KmsKeyId says")],
    ),
    "public-bucket": (
        one(BUCKET, {"PublicAccessBlockConfiguration": {"BlockPublicAcls": True}}),
        one(BUCKET, {"PublicAccessBlockConfiguration": {"BlockPublicAcls": False}}),
        [("high", OPEN, "it may be made public")],
    ),
    "bucket-policy-for-anyone": (
        EMPTY,
        one(
            "AWS::S3::BucketPolicy",
            {
                "Bucket": "b",
                "PolicyDocument": {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": "*",
                            "Action": "s3:GetObject",
                            "Resource": "arn:aws:s3:::b/*",
                        }
                    ]
                },
            },
        ),
        [("high", OPEN, "anyone may s3:GetObject on b/*")],
    ),
    "repository-policy-for-all-but-one": (
        EMPTY,
        one(
            REPOSITORY,
            {
                "RepositoryPolicyText": {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "NotPrincipal": {"AWS": "x"},
                            "Action": "ecr:BatchGetImage",
                        }
                    ]
                }
            },
        ),
        [("high", OPEN, "anyone but x may ecr:BatchGetImage on It")],
    ),
    "endpoint-policy-for-anyone": (
        EMPTY,
        one(
            "AWS::EC2::VPCEndpoint",
            {
                "PolicyDocument": {
                    "Statement": [
                        {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}
                    ]
                }
            },
        ),
        [],
    ),
    # Permissions
    "everything": (
        EMPTY,
        policy(Action="*", Resource="*"),
        [("high", BROAD, "r may do anything on every resource")],
    ),
    "everything-else": (
        EMPTY,
        policy(NotAction="iam:*", Resource="*"),
        [("high", BROAD, "r may do anything but iam:* on every resource")],
    ),
    "all-of-iam": (EMPTY, policy(Action=["iam:*"], Resource="*"), [("high", BROAD, "r may iam:*")]),
    "all-of-a-service": (
        EMPTY,
        policy(Action="s3:*", Resource="*"),
        [("medium", BROAD, "r may s3:* on every resource")],
    ),
    "all-of-a-service-but-one-bucket": (
        EMPTY,
        policy(Action="s3:*", NotResource="arn:aws:s3:::b"),
        [("medium", BROAD, "r may s3:* on everything but b")],
    ),
    "all-of-a-bucket": (EMPTY, policy(Action="s3:*", Resource="arn:aws:s3:::b/*"), []),
    "pass-any-role": (
        EMPTY,
        policy(Action="iam:Pass*", Resource="*"),
        [("high", BROAD, "r may iam:Pass* on every resource")],
    ),
    "pass-any-role-to-a-service": (
        EMPTY,
        policy(
            Action="iam:PassRole",
            Resource="*",
            Condition={"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
        ),
        [("medium", BROAD, "if iam:PassedToService is ec2.amazonaws.com")],
    ),
    "pass-one-role": (EMPTY, policy(Action="iam:PassRole", Resource="arn:aws:iam::1:role/r"), []),
    "deny-everything": (EMPTY, policy(Effect="Deny", Action="*", Resource="*"), []),
    "everything-under-a-condition": (
        EMPTY,
        one(
            "AWS::IAM::Policy",
            {
                "PolicyName": "p",
                "Roles": ["r"],
                "PolicyDocument": {
                    "Statement": [
                        {
                            "Fn::If": [
                                "Yes",
                                {"Effect": "Allow", "Action": "*", "Resource": "*"},
                                {"Ref": "AWS::NoValue"},
                            ]
                        }
                    ]
                },
            },
        ),
        [("high", BROAD, "r: a statement by ")],
    ),
    "another-name-of-a-statement": (
        policy(Sid="A", Action="*", Resource="*"),
        policy(Sid="B", Action="*", Resource="*"),
        [],
    ),
    "a-role-for-anyone": (
        EMPTY,
        trust({"AWS": "*"}),
        [("high", BROAD, "anyone may sts:AssumeRole on It")],
    ),
    "a-role-for-anyone-of-us": (
        EMPTY,
        trust({"AWS": "*"}, Condition={"StringEquals": {"aws:PrincipalOrgID": "o-1"}}),
        [("medium", BROAD, "anyone may sts:AssumeRole on It, if aws:PrincipalOrgID is o-1")],
    ),
    "a-role-for-a-service": (EMPTY, trust({"Service": "ec2.amazonaws.com"}), []),
    "administrator": (
        managed("AmazonSSMManagedInstanceCore"),
        managed("AmazonSSMManagedInstanceCore", "AdministratorAccess"),
        [("high", BROAD, "managed policy AdministratorAccess for It")],
    ),
    "full-access": (
        managed(),
        managed("AmazonS3FullAccess"),
        [("medium", BROAD, "managed policy AmazonS3FullAccess for It")],
    ),
    "a-policy-of-ours-that-is-called-like-one-of-aws": (
        managed(),
        one(ROLE, {"ManagedPolicyArns": ["arn:aws:iam::123456789012:policy/AdministratorAccess"]}),
        [("medium", BROAD, "managed policy AdministratorAccess for It")],
    ),
    "any-way-to-more-rights": (
        EMPTY,
        policy(Action="iam:Put*", Resource="arn:aws:iam::123456789012:role/*"),
        [("high", BROAD, "r may iam:Put* on")],
    ),
    "more-rights-for-roles-of-a-name": (
        EMPTY,
        policy(Action="iam:PutRolePolicy", Resource="arn:aws:iam::123456789012:role/app-*"),
        [("medium", BROAD, "r may iam:PutRolePolicy on")],
    ),
    "sessions-on-tagged-nodes": (
        EMPTY,
        policy(
            Action="ssm:StartSession",
            Resource="*",
            Condition={"StringEquals": {"ssm:resourceTag/team": "a"}},
        ),
        [],
    ),
    "another-account-becomes-the-role": (
        EMPTY,
        trust({"AWS": "arn:aws:iam::999988887777:role/r"}),
        [("high", BROAD, "may sts:AssumeRole on It")],
    ),
    "another-account-with-an-external-id": (
        EMPTY,
        trust({"AWS": "999988887777"}, Condition={"StringEquals": {"sts:ExternalId": "x"}}),
        [("medium", BROAD, "may sts:AssumeRole on It, if sts:ExternalId is x")],
    ),
    "no-boundary-any-more": (
        one(ROLE, {"PermissionsBoundary": "arn:aws:iam::123456789012:policy/a"}),
        one(ROLE),
        [("high", BROAD, "nothing limits what its policies give")],
    ),
    "another-boundary": (
        one(ROLE, {"PermissionsBoundary": "arn:aws:iam::123456789012:policy/a"}),
        one(ROLE, {"PermissionsBoundary": "arn:aws:iam::123456789012:policy/b"}),
        [("medium", BROAD, "it has another permissions boundary")],
    ),
    "no-longer-denied": (
        policy(Effect="Deny", Action="s3:Delete*", Resource="*"),
        EMPTY,
        [("medium", BROAD, "no longer: r may not s3:Delete* on every resource")],
    ),
    "harmless-policy": (managed(), managed("AmazonSSMManagedInstanceCore"), []),
    "unattached-policy": (
        EMPTY,
        one(
            "AWS::IAM::ManagedPolicy",
            {
                "PolicyDocument": {
                    "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]
                }
            },
        ),
        [("high", BROAD, "It may do anything on every resource")],
    ),
    # Other replacements
    "security-group-replaced": (
        one(GROUP, {"GroupDescription": "a"}),
        one(GROUP, {"GroupDescription": "b"}),
        [("medium", REPLACED, "the security group is replaced, because of GroupDescription")],
    ),
    "placement-group-replaced": (
        one("AWS::EC2::PlacementGroup", {"Strategy": "cluster"}),
        one("AWS::EC2::PlacementGroup", {"Strategy": "spread"}),
        [("medium", REPLACED, "the placement group is replaced, because of Strategy")],
    ),
    "named-role-replaced": (
        one(ROLE, {"RoleName": "a"}),
        one(ROLE, {"RoleName": "b"}),
        [("medium", REPLACED, "the role is replaced, because of RoleName")],
    ),
    "unnamed-role-replaced": (one(ROLE, {"Path": "/a/"}), one(ROLE, {"Path": "/b/"}), []),
    "parameter-replaced": (
        one("AWS::SSM::Parameter", {"Name": "/a"}),
        one("AWS::SSM::Parameter", {"Name": "/b"}),
        [],
    ),
}


def test_the_own_account_is_not_another(tmp_path: Path) -> None:
    template = trust({"AWS": "arn:aws:iam::999988887777:root"})
    mine = SynthesisedStack(
        path="It", region="us-west-2", file=tmp_path, template=template, account="999988887777"
    )

    assert risks({}, {"It": mine}, compare_templates({}, {"It": mine}, ROOT)) == ()


def stack(name: str, template: Template) -> SynthesisedStack:
    return SynthesisedStack(
        path=name, region="us-west-2", file=Path(f"{name}.json"), template=template
    )


@pytest.fixture(scope="module")
def found() -> tuple[Risk, ...]:
    """The risks of all cases, each in a stack of its own, and of a stack that goes."""
    before = {name: stack(name, old) for name, (old, _, _) in CASES.items()}
    after = {name: stack(name, new) for name, (_, new, _) in CASES.items()}
    gone = {"Data": resource(BUCKET, **KEPT), "Jobs": resource(QUEUE)}
    before["gone"] = stack("gone", {"Resources": gone})
    return risks(before, after, compare_templates(before, after, ROOT))


@pytest.mark.parametrize("case", CASES)
def test_risks_of_a_change(found: tuple[Risk, ...], case: str) -> None:
    mine = [risk for risk in found if risk.stack == case]

    expected = CASES[case][2]

    assert [(risk.level, risk.kind) for risk in mine] == [each[:2] for each in expected]
    for risk, (_, _, words) in zip(mine, expected, strict=True):
        assert words in risk.message
        assert risk.remedy and risk.resource


def test_the_most_dangerous_risk_is_first(found: tuple[Risk, ...]) -> None:
    kinds = [risk.kind for risk in found]
    of_data = [risk.level for risk in found if risk.kind == LOST]

    order = [LOST, KILLED, OPEN, BROAD, REPLACED]

    assert kinds == sorted(kinds, key=order.index)
    assert of_data == sorted(of_data, key=["high", "medium"].index)


def test_a_stack_that_is_no_longer_in_the_app_is_not_deleted_by_a_deployment(
    found: tuple[Risk, ...],
) -> None:
    data, jobs = [risk for risk in found if risk.stack == "gone"]

    words = "in a stack that is no longer in the app, which no deployment deletes; once somebody do"

    assert words in data.message
    assert words in jobs.message
    assert (data.level, jobs.level) == ("high", "medium")


@pytest.mark.parametrize(
    ("kind", "field"), [("LUSTRE", "storage.lustre"), ("OPENZFS", "storage.openzfs")]
)
def test_a_file_system_that_is_kept_is_used_again_by_the_field_of_its_type(
    kind: str, field: str
) -> None:
    before = {"Data": stack("Data", one(FILES, {"FileSystemType": kind}, **KEPT))}
    after = {"Data": stack("Data", EMPTY)}

    [risk] = risks(before, after, compare_templates(before, after, ROOT))

    assert f"{field}.existing" in risk.remedy


BUCKET_NAME = {"Fn::Sub": "a-${AWS::AccountId}"}


@pytest.mark.parametrize(
    ("before", "after", "existing"),
    [
        pytest.param(
            one(FILES, **KEPT)["Resources"],
            {"Facts": resource("Custom::ExistingOpenzfs", {"FileSystemId": "fs-1"})},
            "fs-1",
            id="file-system",
        ),
        pytest.param(
            {
                "It": resource(BUCKET, {"BucketName": BUCKET_NAME}, **KEPT),
                "Name": resource("AWS::SSM::Parameter", {"Value": BUCKET_NAME}),
            },
            {"Name": resource("AWS::SSM::Parameter", {"Value": "another"})},
            "another",
            id="bucket",
        ),
    ],
)
def test_what_is_kept_and_followed_by_an_existing_one_is_named(
    before: Any, after: Any, existing: str
) -> None:
    old, new = ({"Data": stack("Data", {"Resources": each})} for each in (before, after))

    [risk] = risks(old, new, compare_templates(old, new, ROOT))

    assert (risk.kind, risk.level) == (LOST, "medium")
    assert risk.message.endswith(f"the cluster uses {existing} from now on")
    assert risk.remedy.startswith(f"ask whether {existing} is the one that leaves")


def test_a_stack_that_is_no_longer_protected_can_be_deleted() -> None:
    open_now = stack("Data", one(BUCKET))
    closed = replace(open_now, protected=True)
    same = compare_templates({}, {}, ROOT)

    [risk] = risks({"Data": closed}, {"Data": open_now}, same)

    assert (risk.level, risk.kind, risk.stack) == ("high", LOST, "Data")
    assert "can be deleted from now on" in risk.message
    assert risks({"Data": open_now}, {"Data": closed}, same) == ()


def test_nothing_is_at_risk_where_nothing_differs() -> None:
    side = {name: stack(name, old) for name, (old, _, _) in CASES.items()}

    assert risks(side, side, compare_templates(side, side, ROOT)) == ()
