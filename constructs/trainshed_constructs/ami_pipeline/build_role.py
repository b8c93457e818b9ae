"""What a build of AMIs may do: bake, test and publish those of its cells, and little else."""

from collections.abc import Iterator, Mapping, Sequence

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from trainshed.ami.channel import Channel
from trainshed.spec import AmiPipelineSpec

# The tags that Packer and `trainshed ami publish --test` put on what they make, as they make it.
_ROLE_TAG = "trainshed:role"
_ROLES = ["ami-builder", "ami-test"]
# Service Authorization Reference: these take no resource.
_LOOKS = (
    "DescribeImageAttribute",
    "DescribeImages",
    "DescribeInstanceStatus",
    "DescribeInstanceTypes",
    "DescribeInstances",
    "DescribeKeyPairs",
    "DescribeRegions",
    "DescribeSecurityGroups",
    "DescribeSnapshots",
    "DescribeSubnets",
    "DescribeTags",
    "DescribeVolumes",
    "DescribeVpcs",
)
_BIRTHS = ["CopyImage", "CreateImage", "CreateKeyPair", "CreateSecurityGroup", "RunInstances"]
_TAGGED = {"StringEquals": {f"aws:ResourceTag/{_ROLE_TAG}": _ROLES}}
_TAGGING = {"StringEquals": {f"aws:RequestTag/{_ROLE_TAG}": _ROLES}}
_OUR_KEYS = {"ForAllValues:StringLike": {"aws:TagKeys": ["Name", "trainshed:*"]}}
# AMIs and snapshots belong to no account in ARNs.
_NOBODY = ""


def bake_statements(
    spec: AmiPipelineSpec, *, builder_role_arn: str, builder_profile_arn: str
) -> Iterator[iam.PolicyStatement]:
    """Allow what Packer does to make an AMI of an instance that it reaches by Session Manager.

    Follows the plugin's documentation, "IAM Task or Instance Role", narrowed to what carries the
    tag `trainshed:role`, which nothing can get after it was made. Not allowed: opening ports,
    roles, other people's instances, AMIs and snapshots, sharing AMIs and snapshots.

    Args:
        spec: the pipeline.
        builder_role_arn: role of the build instance.
        builder_profile_arn: instance profile of the same.
    """
    yield _allow("Look", _ec2(*_LOOKS), ["*"], {"StringEquals": _in_regions(spec)})
    yield _allow("LaunchTagged", _ec2("RunInstances"), _own("instance", "volume"), _TAGGING)
    yield _allow(
        "LaunchWith",
        _ec2("RunInstances"),
        [
            *_own("network-interface", "security-group"),
            *(
                resource
                for subnet in spec.subnets or "*"
                for resource in _own("subnet", name=subnet)
            ),
            *_own("key-pair", name="packer_*"),
            *_public(Aws.REGION),
        ],
    )
    yield _allow("KeyPair", _ec2("CreateKeyPair"), _own("key-pair", name="packer_*"), _TAGGING)
    yield _allow("Group", _ec2("CreateSecurityGroup"), _own("security-group"), _TAGGING)
    yield _allow("GroupIn", _ec2("CreateSecurityGroup"), _own("vpc"))
    amis = _public("*")
    yield _allow(
        "TagAtBirth",
        _ec2("CreateTags"),
        # The plugin tags the network interface along with its instance.
        [*_own("instance", "key-pair", "network-interface", "security-group", "volume"), *amis],
        {"StringEquals": {"ec2:CreateAction": _BIRTHS}},
    )
    yield _allow(
        "HandleOwn",
        _ec2(
            "CreateImage",
            "DeleteKeyPair",
            "DeleteSecurityGroup",
            "DeleteVolume",
            "GetConsoleOutput",
            "ModifyInstanceAttribute",
            "StopInstances",
            "TerminateInstances",
        ),
        _own("instance", "key-pair", "security-group", "volume"),
        _TAGGED,
    )
    # The plugin gives an AMI and its snapshots the instance's tags as it makes them.
    yield _allow("MakeAmis", _ec2("CreateImage"), _public(Aws.REGION), _TAGGING)
    own_amis = {"StringEquals": {**_TAGGED["StringEquals"], **_in_regions(spec)}}
    yield _allow(
        "FinishOwn",
        _ec2("ModifyImageAttribute"),
        amis,
        # EC2 API reference, "Granting IAM users required permissions for Amazon EC2 resources",
        # calls attributes as parameters are called. The plugin sets these two, one at a time.
        {**own_amis, "StringEqualsIgnoreCase": {"ec2:Attribute": ["Description", "ImdsSupport"]}},
    )
    yield _allow("TagOwn", _ec2("CreateTags"), amis, {**own_amis, **_OUR_KEYS})
    yield _allow(
        "WithdrawOwn", _ec2("DeleteSnapshot", "DeregisterImage"), _public(Aws.REGION), _TAGGED
    )
    if spec.regions:
        there = {"StringEquals": {"aws:RequestedRegion": [*spec.regions]}}
        yield _allow("CopyAmis", _ec2("CopyImage"), amis, there)
        # CopyImage passes on the tags of AMIs, not of snapshots: these have none yet. Without the
        # tag `trainshed:role`, nothing here may delete or change them.
        yield _allow(
            "TagCopies",
            _ec2("CreateTags"),
            [_arn("ec2", "*", _NOBODY, "snapshot/*")],
            {**there, **_OUR_KEYS, "Null": {f"aws:RequestTag/{_ROLE_TAG}": "true"}},
        )
    yield _allow(
        "Reach",
        ["ssm:StartSession"],
        _own("instance"),
        {"StringEquals": {f"ssm:resourceTag/{_ROLE_TAG}": _ROLES[:1]}},
    )
    yield _allow(
        "ReachBy",
        ["ssm:StartSession"],
        [_arn("ssm", Aws.REGION, _NOBODY, "document/AWS-StartPortForwardingSession")],
    )
    # The plugin of 2025 and later signs its opening of the channel with the build's own role.
    yield _allow(
        "KeepSessions",
        ["ssm:ResumeSession", "ssm:TerminateSession", "ssmmessages:OpenDataChannel"],
        _sessions(),
    )
    yield _allow(
        "GiveProfile",
        ["iam:PassRole"],
        [builder_role_arn],
        {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
    )
    yield _allow("ReadProfile", ["iam:GetInstanceProfile"], [builder_profile_arn])


def publish_statement(spec: AmiPipelineSpec) -> iam.PolicyStatement:
    """Allow to point the channel of each cell to an AMI."""
    return _allow(
        "Publish",
        ["ssm:GetParameterHistory", "ssm:PutParameter"],
        _parameters(spec),
        {"StringEquals": _in_regions(spec)},
    )


def encrypt_statements(kms_key_arn: str) -> Iterator[iam.PolicyStatement]:
    """Allow to encrypt AMIs with a key, by way of EC2 only."""
    by_ec2 = {"StringEquals": {"kms:ViaService": f"ec2.{Aws.REGION}.amazonaws.com"}}
    yield _allow(
        "Encrypt",
        [
            "kms:Decrypt",
            "kms:DescribeKey",
            "kms:GenerateDataKeyWithoutPlaintext",
            "kms:ReEncryptFrom",
            "kms:ReEncryptTo",
        ],
        [kms_key_arn],
        by_ec2,
    )
    yield _allow(
        "EncryptOn",
        ["kms:CreateGrant"],
        [kms_key_arn],
        {**by_ec2, "Bool": {"kms:GrantIsForAWSResource": "true"}},
    )


def bake_wildcards(spec: AmiPipelineSpec) -> dict[str, str]:
    """Return why each resource of these statements with a wildcard has one, by resource."""
    own, packers = _own("instance", "key-pair", "security-group", "volume"), "packer_*"
    reasons = {
        "*": "these actions take no resource (Service Authorization Reference); the region "
        "narrows them",
        **dict.fromkeys(own, "gets its id when it is made; the tag trainshed:role narrows it"),
        **dict.fromkeys(_own("key-pair", name=packers), "Packer's name for its temporary keys"),
        **dict.fromkeys(_own("network-interface"), "comes with the instance"),
        **dict.fromkeys(_own("vpc"), "that of the subnet, whichever has capacity"),
        **dict.fromkeys(
            (resource for region in (Aws.REGION, "*") for resource in _public(region)),
            "AMIs and snapshots get their ids when they are made, and base AMIs are others'; their "
            "tag, how they are made, or the region narrows them",
        ),
        **dict.fromkeys(
            _parameters(spec), "in each region of the pipeline; a condition names them"
        ),
        **dict.fromkeys(_sessions(), "gets its id when it starts, after the build's own name"),
    }
    if not spec.subnets:
        reasons |= dict.fromkeys(_own("subnet"), "any of the default VPC that has capacity")
    return reasons


def _in_regions(spec: AmiPipelineSpec) -> dict[str, list[str]]:
    return {"aws:RequestedRegion": [Aws.REGION, *spec.regions]}


def _parameters(spec: AmiPipelineSpec) -> list[str]:
    channels = [Channel(cell=cell, name=spec.channel) for cell in spec.cells]
    return [_arn("ssm", "*", Aws.ACCOUNT_ID, f"parameter{each.parameter}") for each in channels]


def _sessions() -> list[str]:
    # A session is named after that of the role, which CodeBuild names so. For OpenDataChannel, the
    # Systems Manager user guide has ${aws:userid} there, which has the role's id before the name.
    return [
        _arn("ssm", Aws.REGION, Aws.ACCOUNT_ID, f"session/{name}")
        for name in ("AWSCodeBuild-*", "*:AWSCodeBuild-*")
    ]


def _allow(
    sid: str,
    actions: Sequence[str],
    resources: Sequence[str],
    conditions: Mapping[str, object] | None = None,
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid, actions=[*actions], resources=[*resources], conditions=conditions
    )


def _ec2(*names: str) -> list[str]:
    return [f"ec2:{name}" for name in names]


def _own(*kinds: str, name: str = "*") -> list[str]:
    return [_arn("ec2", Aws.REGION, Aws.ACCOUNT_ID, f"{kind}/{name}") for kind in kinds]


def _public(region: str) -> list[str]:
    return [_arn("ec2", region, _NOBODY, f"{kind}/*") for kind in ("image", "snapshot")]


def _arn(service: str, region: str, account: str, resource: str) -> str:
    return f"arn:{Aws.PARTITION}:{service}:{region}:{account}:{resource}"
