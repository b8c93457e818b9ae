"""IAM's roles, profiles and policies through their handlers."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.cloudformation.resource import HandlerError

MANAGED = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"


def allow(action: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Action": action, "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def attached(client: Any, role: Any) -> list[str]:
    reply = client("iam").list_attached_role_policies(RoleName=role.ref)
    return [policy["PolicyArn"] for policy in reply["AttachedPolicies"]]


def inline(client: Any, role: Any) -> dict[str, Any]:
    iam = client("iam")
    names = iam.list_role_policies(RoleName=role.ref)["PolicyNames"]
    return {
        name: iam.get_role_policy(RoleName=role.ref, PolicyName=name)["PolicyDocument"]
        for name in names
    }


def test_a_role_gets_loses_and_changes_policies_in_place(client: Any, role: Any) -> None:
    role.update(
        ManagedPolicyArns=[MANAGED],
        Policies=[{"PolicyName": "read", "PolicyDocument": allow("s3:GetObject")}],
    )
    first = attached(client, role), inline(client, role)

    role.update(
        "ManagedPolicyArns",
        Policies=[{"PolicyName": "write", "PolicyDocument": allow("s3:PutObject")}],
        Description="writes",
        MaxSessionDuration=7200,
    )

    assert first == ([MANAGED], {"read": allow("s3:GetObject")})
    assert attached(client, role) == []
    assert inline(client, role) == {"write": allow("s3:PutObject")}
    described = client("iam").get_role(RoleName=role.ref)["Role"]
    assert (described["Description"], described["MaxSessionDuration"]) == ("writes", 7200)


def test_a_role_gets_and_loses_its_boundary(client: Any, role: Any) -> None:
    iam = client("iam")

    role.update(PermissionsBoundary=MANAGED)
    bound = iam.get_role(RoleName=role.ref)["Role"]["PermissionsBoundary"]
    role.update("PermissionsBoundary")

    assert bound["PermissionsBoundaryArn"] == MANAGED
    assert "PermissionsBoundary" not in iam.get_role(RoleName=role.ref)["Role"]


def test_a_role_is_deleted_with_its_own_policies(client: Any, role: Any) -> None:
    role.update(
        ManagedPolicyArns=[MANAGED],
        Policies=[{"PolicyName": "read", "PolicyDocument": allow("s3:GetObject")}],
    )

    role.delete()
    role.delete()

    with pytest.raises(ClientError, match="NoSuchEntity"):
        client("iam").get_role(RoleName=role.ref)


def test_a_role_with_a_policy_attached_by_others_is_not_deleted(client: Any, role: Any) -> None:
    client("iam").attach_role_policy(RoleName=role.ref, PolicyArn=MANAGED)

    with pytest.raises(ClientError, match="must detach all policies first"):
        role.delete()


def test_a_role_whose_policy_cannot_be_attached_leaves_nothing(client: Any, deploy: Any) -> None:
    missing = "arn:aws:iam::aws:policy/NoSuchPolicy"

    with pytest.raises(ClientError, match="NoSuchPolicy does not exist"):
        deploy(
            "AWS::IAM::Role",
            RoleName="left-behind",
            AssumeRolePolicyDocument=allow("sts:AssumeRole"),
            ManagedPolicyArns=[missing],
        )

    with pytest.raises(ClientError, match="NoSuchEntity"):
        client("iam").get_role(RoleName="left-behind")


def test_an_instance_profile_changes_its_role_in_place(client: Any, deploy: Any, role: Any) -> None:
    other = deploy(
        "AWS::IAM::Role", AssumeRolePolicyDocument=role.attributes["AssumeRolePolicyDocument"]
    )
    profile = deploy("AWS::IAM::InstanceProfile", Roles=[role.ref])

    profile.update(Roles=[other.ref])

    described = client("iam").get_instance_profile(InstanceProfileName=profile.ref)
    roles = [each["RoleName"] for each in described["InstanceProfile"]["Roles"]]
    assert roles == [other.ref]
    profile.delete()
    profile.delete()
    with pytest.raises(ClientError, match="NoSuchEntity"):
        client("iam").get_instance_profile(InstanceProfileName=profile.ref)


def test_an_inline_policy_moves_with_its_name(client: Any, deploy: Any, role: Any) -> None:
    policy = deploy(
        "AWS::IAM::Policy", PolicyName="read", PolicyDocument=allow("s3:Get*"), Roles=[role.ref]
    )

    policy.update(PolicyName="write", PolicyDocument=allow("s3:Put*"))

    assert inline(client, role) == {"write": allow("s3:Put*")}
    policy.delete()
    policy.delete()
    assert inline(client, role) == {}


def test_a_managed_policy_keeps_its_arn_when_its_document_changes(
    client: Any, deploy: Any, role: Any
) -> None:
    iam = client("iam")
    policy = deploy("AWS::IAM::ManagedPolicy", PolicyDocument=allow("s3:Get*"), Roles=[role.ref])
    arn = policy.ref

    policy.update(PolicyDocument=allow("s3:Put*"))

    version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    document = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]
    assert policy.ref == arn
    assert document["Document"] == allow("s3:Put*")
    assert len(iam.list_policy_versions(PolicyArn=arn)["Versions"]) == 1
    assert attached(client, role) == [arn]
    policy.delete()
    policy.delete()
    assert attached(client, role) == []


def test_a_service_linked_role_lies_under_its_service(client: Any, deploy: Any) -> None:
    role = deploy("AWS::IAM::ServiceLinkedRole", AWSServiceName="fsx.amazonaws.com")

    described = client("iam").get_role(RoleName=role.ref)["Role"]
    assert described["Path"] == "/aws-service-role/fsx.amazonaws.com/"
    role.delete()
    with pytest.raises(ClientError, match="NoSuchEntity"):
        client("iam").get_role(RoleName=role.ref)


def test_what_another_stack_wrote_on_a_role_is_not_overwritten(deploy: Any, role: Any) -> None:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    named = {
        "RoleName": role.ref,
        "PolicyName": "data",
        "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]},
    }
    deploy("AWS::IAM::RolePolicy", **named)

    with pytest.raises(HandlerError, match="already exists on role"):
        deploy("AWS::IAM::RolePolicy", **named)


@pytest.mark.parametrize(
    "version", [{}, {"Version": "2008-10-17"}, {"Version": "2012-10-17"}], ids=str
)
def test_inline_and_trust_policies_may_be_of_2008(
    client: Any, deploy: Any, version: dict[str, str]
) -> None:
    trust = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}}
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    role = deploy(
        "AWS::IAM::Role",
        AssumeRolePolicyDocument={**version, "Statement": [{**trust, "Action": "sts:AssumeRole"}]},
        Policies=[{"PolicyName": "data", "PolicyDocument": {**version, "Statement": [statement]}}],
    )

    role.update(
        AssumeRolePolicyDocument={**version, "Statement": {**trust, "Action": "sts:TagSession"}}
    )

    policy = client("iam").get_role_policy(RoleName=role.ref, PolicyName="data")
    assert policy["PolicyDocument"] == {**version, "Statement": [statement]}


@pytest.mark.parametrize("version", [{}, {"Version": "2008-10-17"}], ids=str)
def test_managed_policies_may_not_be_of_2008(deploy: Any, version: dict[str, str]) -> None:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}

    with pytest.raises(ClientError, match="must be version 2012-10-17 or greater"):
        deploy("AWS::IAM::ManagedPolicy", PolicyDocument={**version, "Statement": [statement]})


def test_a_version_that_never_was_is_refused(deploy: Any, role: Any) -> None:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}

    with pytest.raises(ClientError, match="Syntax errors in policy"):
        deploy(
            "AWS::IAM::RolePolicy",
            RoleName=role.ref,
            PolicyName="odd",
            PolicyDocument={"Version": "2015-10-17", "Statement": [statement]},
        )
