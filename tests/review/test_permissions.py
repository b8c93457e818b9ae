"""What IAM permits and what security groups let through, in plain words, by the real engine."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainshed.app.synthesis import SynthesisedStack
from trainshed.review.changes import TemplateComparison, compare_templates

ROOT = Path(__file__).parents[2]
ROLE, POLICY = "AWS::IAM::Role", "AWS::IAM::Policy"
GROUP = "AWS::EC2::SecurityGroup"
INGRESS, EGRESS = "AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"
ARN = ["arn:", {"Ref": "AWS::Partition"}]
OWN = [":", {"Ref": "AWS::Region"}, ":", {"Ref": "AWS::AccountId"}, ":"]
Resources = Mapping[str, Any]


def joined(*parts: Any) -> Any:
    return {"Fn::Join": ["", list(parts)]}


def resource(kind: str, path: str, **properties: Any) -> dict[str, Any]:
    return {
        "Type": kind,
        "Properties": properties,
        "Metadata": {"aws:cdk:path": f"case/{path}/Resource"},
    }


def may(**statement: Any) -> Resources:
    """A role with a policy, which are called NodeRole and Policy."""
    document = {"Statement": [{"Effect": "Allow", **statement}]}
    return {
        "Role1": resource(ROLE, "NodeRole"),
        "Policy1": resource(
            POLICY, "Policy", Roles=[{"Ref": "Role1"}], PolicyDocument=document, PolicyName="p"
        ),
    }


def of_resource(kind: str, name: str, statement: Any, **properties: Any) -> Resources:
    document = {"Statement": [{"Effect": "Allow", **statement}]}
    return {"It": resource(kind, "Data", **{name: document}, **properties)}


def rule(kind: str, peer: Any, **properties: Any) -> Resources:
    return {
        "Group1": resource(GROUP, "LustreGroup"),
        "Rule": {
            "Type": kind,
            "Properties": {
                "GroupId": {"Fn::GetAtt": ["Group1", "GroupId"]},
                **peer,
                **properties,
            },
        },
    }


BUCKET_KEY = {"Fn::GetAtt": ["Data1", "Arn"]}
TO_ITSELF = {"SourceSecurityGroupId": {"Fn::GetAtt": ["Group1", "GroupId"]}}
FROM_CLIENTS = {"SourceSecurityGroupId": {"Fn::ImportValue": "exported-clients"}}
LUSTRE = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988}

# The resources that a stack gains, and what is then said of its permissions and rules.
CASES: Mapping[str, tuple[Resources, list[str]]] = {
    "a-bucket-by-its-arn": (
        may(Action="s3:GetObject", Resource=joined(*ARN, ":s3:::my-data/*")),
        ["NodeRole may s3:GetObject on my-data/*"],
    ),
    "a-bucket-of-the-stack": (
        {
            **may(Action="s3:GetObject", Resource=joined(BUCKET_KEY, "/*")),
            "Data1": resource("AWS::S3::Bucket", "Data"),
        },
        ["NodeRole may s3:GetObject on Data/*"],
    ),
    "several-actions-on-several-resources": (
        may(Action=["b:y", "a:x"], Resource=["arn:aws:s3:::b", "arn:aws:s3:::a"]),
        ["NodeRole may a:x, b:y on a, b"],
    ),
    "a-resource-of-this-account": (
        may(Action="logs:PutLogEvents", Resource=joined(*ARN, ":logs", *OWN, "log-group:/x:*")),
        ["NodeRole may logs:PutLogEvents on logs:log-group:/x:*"],
    ),
    "a-resource-of-this-region": (
        may(Action="a:b", Resource=joined(*ARN, ":ecr:us-west-2", ":", OWN[3], ":repository/x")),
        ["NodeRole may a:b on ecr:repository/x"],
    ),
    "a-resource-of-another-region": (
        may(Action="a:b", Resource=joined(*ARN, ":ecr:eu-west-1", ":", OWN[3], ":repository/x")),
        ["NodeRole may a:b on arn:aws:ecr:eu-west-1:this account:repository/x"],
    ),
    "this-stack": (
        may(Action="a:b", Resource={"Ref": "AWS::StackId"}),
        ["NodeRole may a:b on this stack"],
    ),
    "a-resource-of-another-account": (
        may(Action="a:b", Resource="arn:aws:ecr:us-east-1:123456789012:repository/x"),
        ["NodeRole may a:b on arn:aws:ecr:us-east-1:123456789012:repository/x"],
    ),
    "substituted": (
        may(Action="a:b", Resource={"Fn::Sub": "arn:${AWS::Partition}:s3:::${Role1}-data"}),
        ["NodeRole may a:b on NodeRole-data"],
    ),
    "account-in-a-name": (
        may(
            Action="a:b",
            Resource={"Fn::Sub": "arn:${AWS::Partition}:s3:::a-${AWS::AccountId}-${AWS::Region}/*"},
        ),
        ["NodeRole may a:b on a-ACCOUNT-REGION/*"],
    ),
    "imported": (
        may(Action="a:b", Resource=joined({"Fn::ImportValue": "exported-clients"}, "/*")),
        ["NodeRole may a:b on Clients of network/*"],
    ),
    "conditions": (
        may(
            Action="a:b",
            Resource="*",
            Condition={
                "StringEquals": {"aws:SourceVpce": ["vpce-1", "vpce-2"]},
                "Bool": {"aws:SecureTransport": "true"},
                "DateLessThan": {"aws:CurrentTime": "2030"},
                "ForAllValues:StringEquals": {"aws:TagKeys": "a"},
            },
        ),
        [
            "NodeRole may a:b on every resource, if aws:SourceVpce is vpce-1 or vpce-2, "
            "if aws:SecureTransport is true, if aws:CurrentTime DateLessThan 2030, "
            "if every aws:TagKeys is a"
        ],
    ),
    "denied": (
        may(Effect="Deny", Action="*", NotResource="arn:aws:s3:::b"),
        ["NodeRole may not do anything on everything but b"],
    ),
    "all-actions-but": (
        may(NotAction=["iam:*"], Resource="*"),
        ["NodeRole may do anything but iam:* on every resource"],
    ),
    "by-a-function": (
        {
            "It": resource(
                POLICY,
                "P",
                Roles=["r"],
                PolicyName="p",
                PolicyDocument={
                    "Statement": [
                        {
                            "Fn::If": [
                                "Yes",
                                {"Effect": "Allow", "Action": "a:b", "Resource": "*"},
                                {"Ref": "x"},
                            ]
                        }
                    ]
                },
            )
        },
        ["r: a statement by {Effect: Allow, Action: a:b, Resource: *} if Yes, else x"],
    ),
    "inline-policy": (
        {
            "Role1": resource(
                ROLE,
                "JobRole",
                Policies=[
                    {
                        "PolicyName": "p",
                        "PolicyDocument": {
                            "Statement": [{"Effect": "Allow", "Action": "a:b", "Resource": "*"}]
                        },
                    }
                ],
            )
        },
        ["JobRole may a:b on every resource"],
    ),
    "trust": (
        of_resource(
            ROLE,
            "AssumeRolePolicyDocument",
            {"Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}},
        ),
        ["service ec2.amazonaws.com may sts:AssumeRole on Data"],
    ),
    "trust-of-a-provider": (
        of_resource(
            ROLE,
            "AssumeRolePolicyDocument",
            {"Action": "sts:AssumeRoleWithWebIdentity", "Principal": {"Federated": "github"}},
        ),
        ["who signs in by github may sts:AssumeRoleWithWebIdentity on Data"],
    ),
    "bucket-policy": (
        of_resource(
            "AWS::S3::BucketPolicy",
            "PolicyDocument",
            {"Effect": "Deny", "Action": "s3:*", "Principal": "*", "Resource": "arn:aws:s3:::b/*"},
            Bucket="b",
        ),
        ["anyone may not s3:* on b/*"],
    ),
    "repository-policy": (
        of_resource(
            "AWS::ECR::Repository",
            "RepositoryPolicyText",
            {"Action": "ecr:BatchGetImage", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}},
        ),
        ["arn:aws:iam::123456789012:root may ecr:BatchGetImage on Data"],
    ),
    "key-policy": (
        of_resource(
            "AWS::KMS::Key",
            "KeyPolicy",
            {
                "Action": "kms:*",
                "Resource": "*",
                "Principal": {
                    "AWS": joined(*ARN, ":iam::", {"Ref": "AWS::AccountId"}, ":root"),
                },
            },
        ),
        ["this account may kms:* on Data"],
    ),
    "all-but-some": (
        of_resource(
            "AWS::ECR::Repository",
            "RepositoryPolicyText",
            {"Effect": "Deny", "Action": "a:b", "NotPrincipal": {"AWS": "x"}},
        ),
        ["anyone but x may not a:b on Data"],
    ),
    "managed-policy": (
        {
            "Role1": resource(
                ROLE,
                "NodeRole",
                ManagedPolicyArns=[joined(*ARN, ":iam::aws:policy/AmazonSSMManagedInstanceCore")],
            )
        },
        ["managed policy AmazonSSMManagedInstanceCore for NodeRole"],
    ),
    "managed-policy-of-the-stack": (
        {
            "Policy1": resource(
                "AWS::IAM::ManagedPolicy",
                "Reading",
                PolicyDocument={
                    "Statement": [{"Effect": "Allow", "Action": "a:b", "Resource": "*"}]
                },
            ),
            "Role1": resource(ROLE, "NodeRole", ManagedPolicyArns=[{"Ref": "Policy1"}]),
        },
        ["Reading may a:b on every resource", "managed policy Reading for NodeRole"],
    ),
    "all-traffic-from-itself": (
        rule(INGRESS, TO_ITSELF, IpProtocol="-1"),
        ["LustreGroup takes all traffic from itself"],
    ),
    "one-port-from-another-group": (
        rule(INGRESS, FROM_CLIENTS, **LUSTRE),
        ["LustreGroup takes TCP 988 from Clients of network"],
    ),
    "ports-to-a-range": (
        rule(EGRESS, {"CidrIp": "10.0.0.0/16"}, IpProtocol="udp", FromPort=1018, ToPort=1023),
        ["LustreGroup sends UDP 1018-1023 to 10.0.0.0/16"],
    ),
    "all-of-a-protocol": (
        rule(
            EGRESS, {"DestinationPrefixListId": "pl-1"}, IpProtocol="icmp", FromPort=-1, ToPort=-1
        ),
        ["LustreGroup sends all ICMP to pl-1"],
    ),
    "inline-rules": (
        {
            "Group1": resource(
                GROUP,
                "EfaGroup",
                SecurityGroupIngress=[{"CidrIp": "0.0.0.0/0", **LUSTRE}],
                SecurityGroupEgress=[{"CidrIpv6": "::/0", "IpProtocol": "-1"}],
            )
        },
        [
            "EfaGroup sends all traffic to anywhere (IPv6)",
            "EfaGroup takes TCP 988 from anywhere (IPv4)",
        ],
    ),
    "nothing-as-cdk-says-it": (
        rule(EGRESS, {"CidrIp": "255.255.255.255/32"}, IpProtocol="icmp", FromPort=252, ToPort=86),
        [],
    ),
}
EXPORTING = {
    "Resources": {"Clients": {"Type": GROUP}},
    "Outputs": {
        "G": {
            "Value": {"Fn::GetAtt": ["Clients", "GroupId"]},
            "Export": {"Name": "exported-clients"},
        }
    },
}


def stack(path: str, template: Any) -> SynthesisedStack:
    return SynthesisedStack(
        path=path, region="us-west-2", file=Path("template.json"), template=template
    )


def sid(name: str) -> SynthesisedStack:
    return stack("case", {"Resources": may(Sid=name, Action="a:b", Resource="*")})


@pytest.fixture(scope="module")
def comparison() -> TemplateComparison:
    """All cases in one run of the engine: what each gains, and what another stack loses."""
    network = {"network": stack("network", EXPORTING)}
    empty = stack("case", {"Resources": {}})
    full = {name: stack("case", {"Resources": gained}) for name, (gained, _) in CASES.items()}
    before = {**network, **dict.fromkeys(full, empty), "sid": sid("A")}
    before["lost"] = full["a-bucket-by-its-arn"]
    after = {**network, **full, "lost": empty, "sid": sid("B")}
    return compare_templates(before, after, ROOT)


@pytest.mark.parametrize("case", CASES)
def test_what_is_gained_is_described(comparison: TemplateComparison, case: str) -> None:
    both = (*comparison.permissions, *comparison.security_rules)

    found = [each.text for each in both if each.stack == case and each.gained]

    assert found == CASES[case][1]


def test_what_is_lost_is_reported_in_the_same_words(comparison: TemplateComparison) -> None:
    [lost] = [each for each in comparison.permissions if each.stack == "lost"]

    assert (lost.gained, lost.text) == (False, "NodeRole may s3:GetObject on my-data/*")
    assert comparison.permissions[-1] == lost


def test_another_name_of_a_statement_is_no_change(comparison: TemplateComparison) -> None:
    assert [each for each in comparison.permissions if each.stack == "sid"] == []


@pytest.fixture(scope="module")
def snapshots() -> dict[str, Any]:
    """The whole templates among the snapshots of our constructs, by file."""
    found = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in (ROOT / "tests" / "snapshot" / "__snapshots__").glob("*/*.json")
    }
    return {name: each for name, each in found.items() if "Resources" in each}


def test_metadata_and_the_order_of_dependencies_change_nothing(snapshots: dict[str, Any]) -> None:
    other = json.loads(json.dumps(snapshots))
    for template in other.values():
        template["Description"] = "another"
        for each in template["Resources"].values():
            each.setdefault("Metadata", {})["aws:asset:path"] = "another"
            if isinstance(each.get("DependsOn"), list):
                each["DependsOn"].reverse()
    before, after = (
        {name: stack(name, each) for name, each in side.items()} for side in (snapshots, other)
    )

    found = compare_templates(before, after, ROOT)

    assert len(found.differences) == len(snapshots) > 5
    assert (found.stacks, found.permissions, found.security_rules) == ((), (), ())


def test_all_that_our_constructs_permit_is_reported_in_words(snapshots: dict[str, Any]) -> None:
    after = {name: stack(name, each) for name, each in snapshots.items()}

    found = compare_templates({}, after, ROOT)

    texts = [each.text for each in (*found.permissions, *found.security_rules)]
    assert len(texts) > 30
    assert [text for text in texts if "Fn::" in text or "${" in text or '{"' in text] == []
