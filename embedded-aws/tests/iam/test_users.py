"""Calls with a user's credentials do what the user's policies allow, and nothing else."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from moto.backends import get_backend
from moto.core.utils import utcnow

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.enforcement import expiry
from embedded_aws.iam.principals import TemporaryKey, principal_of

Allow = Callable[..., dict[str, Any]]
# A client of a service with the credentials of a user, or with those given.
As = Callable[..., Any]

ACCOUNT = "123456789012"
SOMEBODY = f"arn:aws:iam::{ACCOUNT}:user/somebody"
DATA = "arn:aws:s3:::data"


def document(*statements: Mapping[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


@pytest.fixture
def iam(clean_aws: EmbeddedAws) -> Any:
    """A client with the account's own credentials, and a user without policies."""
    iam = clean_aws.client("iam")
    iam.create_user(UserName="somebody")
    return iam


@pytest.fixture
def as_user(iam: Any) -> As:
    """Return a client of a service with the user's credentials, or with those given."""
    key = iam.create_access_key(UserName="somebody")["AccessKey"]

    def client(service: str, given: Mapping[str, Any] = key, **more: Any) -> Any:
        return boto3.client(
            service,
            **more,
            region_name="us-west-2",
            aws_access_key_id=given["AccessKeyId"],
            aws_secret_access_key=given["SecretAccessKey"],
            aws_session_token=given.get("SessionToken"),
        )

    return client


@pytest.fixture
def own(iam: Any) -> Callable[..., None]:
    """Give the user an inline policy of these statements."""

    def give(*statements: Mapping[str, Any]) -> None:
        iam.put_user_policy(
            UserName="somebody", PolicyName="own", PolicyDocument=document(*statements)
        )

    return give


def error(method: Callable[..., Any], **params: Any) -> dict[str, Any]:
    with pytest.raises(ClientError) as caught:
        method(**params)
    return {**caught.value.response["Error"]}


def test_a_user_without_policies_may_nothing(as_user: As) -> None:
    refused = error(as_user("ec2").describe_vpcs)

    assert refused["Code"] == "UnauthorizedOperation"
    assert refused["Message"] == (
        f"You are not authorized to perform this operation. User: {SOMEBODY} is not authorized to "
        "perform: ec2:DescribeVpcs on resource: * because no identity-based policy allows the "
        "ec2:DescribeVpcs action"
    )


def test_the_root_user_may_everything(clean_aws: EmbeddedAws) -> None:
    assert clean_aws.client("ec2").describe_vpcs()["Vpcs"] == []


def test_inline_attached_and_group_policies_count(
    iam: Any, as_user: As, own: Callable[..., None], allow: Allow
) -> None:
    arns = [
        iam.create_policy(PolicyName=action, PolicyDocument=document(allow(f"ec2:{action}")))[
            "Policy"
        ]["Arn"]
        for action in ("DescribeSubnets", "DescribeVolumes")
    ]
    iam.create_group(GroupName="team")
    iam.put_group_policy(
        GroupName="team", PolicyName="own", PolicyDocument=document(allow("ec2:DescribeRegions"))
    )
    own(allow("ec2:DescribeVpcs"))
    iam.attach_user_policy(UserName="somebody", PolicyArn=arns[0])
    iam.attach_group_policy(GroupName="team", PolicyArn=arns[1])
    ec2 = as_user("ec2")

    ec2.describe_vpcs()
    ec2.describe_subnets()
    for call in (ec2.describe_regions, ec2.describe_volumes):
        assert error(call)["Code"] == "UnauthorizedOperation"
    iam.add_user_to_group(UserName="somebody", GroupName="team")

    ec2.describe_regions()
    ec2.describe_volumes()
    iam.remove_user_from_group(UserName="somebody", GroupName="team")
    assert error(ec2.describe_volumes)["Code"] == "UnauthorizedOperation"


def test_a_denial_of_a_group_wins(
    iam: Any, as_user: As, own: Callable[..., None], allow: Allow
) -> None:
    own(allow("*"))
    iam.create_group(GroupName="team")
    deny = {**allow("ec2:DescribeVpcs"), "Effect": "Deny"}
    iam.put_group_policy(GroupName="team", PolicyName="no", PolicyDocument=document(deny))
    iam.add_user_to_group(UserName="somebody", GroupName="team")

    refused = error(as_user("ec2").describe_vpcs)

    assert refused["Message"].endswith("with an explicit deny in an identity-based policy")


def test_a_boundary_limits_a_user_until_it_is_taken_away(
    iam: Any, as_user: As, own: Callable[..., None], allow: Allow
) -> None:
    own(allow("*"))
    arn = iam.create_policy(PolicyName="most", PolicyDocument=document(allow("ec2:*")))["Policy"][
        "Arn"
    ]
    iam.put_user_permissions_boundary(UserName="somebody", PermissionsBoundary=arn)

    as_user("ec2").describe_vpcs()
    refused = error(as_user("sqs").list_queues)

    assert refused["Message"].endswith(
        "because no permissions boundary allows the sqs:ListQueues action"
    )
    shown = iam.get_user(UserName="somebody")["User"]["PermissionsBoundary"]
    assert shown["PermissionsBoundaryArn"] == arn
    iam.delete_user_permissions_boundary(UserName="somebody")
    as_user("sqs").list_queues()
    assert "PermissionsBoundary" not in iam.get_user(UserName="somebody")["User"]


def test_a_user_is_made_with_its_boundary(iam: Any, as_user: As, allow: Allow) -> None:
    arn = iam.create_policy(PolicyName="most", PolicyDocument=document(allow("ec2:*")))["Policy"][
        "Arn"
    ]
    iam.create_user(UserName="bound", PermissionsBoundary=arn)
    iam.put_user_policy(UserName="bound", PolicyName="own", PolicyDocument=document(allow("*")))
    key = iam.create_access_key(UserName="bound")["AccessKey"]

    as_user("ec2", key).describe_vpcs()

    assert "permissions boundary" in error(as_user("sqs", key).list_queues)["Message"]
    absent = error(iam.create_user, UserName="other", PermissionsBoundary=f"{arn}-gone")
    assert absent["Code"] == "NoSuchEntity"
    assert error(iam.get_user, UserName="other")["Code"] == "NoSuchEntity"


def test_users_manage_their_own_keys_by_a_variable(
    iam: Any, as_user: As, own: Callable[..., None], allow: Allow
) -> None:
    own(allow(["iam:GetUser", "iam:ListAccessKeys"], "arn:aws:iam::*:user/${aws:username}"))
    iam.create_user(UserName="other")
    user = as_user("iam")

    assert user.get_user()["User"]["UserName"] == "somebody"
    assert len(user.list_access_keys(UserName="somebody")["AccessKeyMetadata"]) == 1
    refused = error(user.list_access_keys, UserName="other")
    assert "on resource: arn:aws:iam::123456789012:user/other" in refused["Message"]


@pytest.fixture
def data(clean_aws: EmbeddedAws) -> Any:
    """A bucket with an object; what gives it a policy."""
    s3 = clean_aws.client("s3")
    s3.create_bucket(Bucket="data", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_object(Bucket="data", Key="a", Body=b"text")

    def give(*statements: Mapping[str, Any]) -> None:
        s3.put_bucket_policy(Bucket="data", Policy=document(*statements))

    return give


def test_what_a_bucket_gives_a_user_no_boundary_limits(
    iam: Any, as_user: As, data: Any, allow: Allow
) -> None:
    arn = iam.create_policy(PolicyName="most", PolicyDocument=document(allow("ec2:*")))["Policy"][
        "Arn"
    ]
    iam.put_user_permissions_boundary(UserName="somebody", PermissionsBoundary=arn)
    s3 = as_user("s3")
    assert error(s3.get_object, Bucket="data", Key="a")["Code"] == "AccessDenied"

    data(allow("s3:GetObject", f"{DATA}/*", Principal={"AWS": SOMEBODY}))

    assert s3.get_object(Bucket="data", Key="a")["Body"].read() == b"text"
    data(allow("s3:GetObject", f"{DATA}/*", Principal="*"))
    assert "permissions boundary" in error(s3.get_object, Bucket="data", Key="a")["Message"]


def test_a_policy_counts_until_it_is_taken_away(
    iam: Any, as_user: As, own: Callable[..., None], allow: Allow
) -> None:
    own(allow("*"))
    ec2 = as_user("ec2")
    ec2.describe_vpcs()
    iam.delete_user_policy(UserName="somebody", PolicyName="own")

    assert error(ec2.describe_vpcs)["Code"] == "UnauthorizedOperation"


@pytest.mark.parametrize(
    ("trusted", "condition", "assumed"),
    [
        pytest.param({"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, {}, True, id="account"),
        pytest.param({"AWS": ACCOUNT}, {}, True, id="account-number"),
        pytest.param({"AWS": ["arn:aws:iam::1:root", SOMEBODY]}, {}, True, id="user"),
        pytest.param({"AWS": f"{SOMEBODY}-else"}, {}, False, id="another-user"),
        pytest.param({"Service": "ec2.amazonaws.com"}, {}, False, id="service"),
        pytest.param(
            {"AWS": ACCOUNT}, {"StringEquals": {"sts:ExternalId": "aa"}}, True, id="external-id"
        ),
        pytest.param(
            {"AWS": ACCOUNT}, {"StringEquals": {"sts:ExternalId": "bb"}}, False, id="another-id"
        ),
    ],
)
def test_a_user_assumes_a_role_that_trusts_it(
    iam: Any,
    as_user: As,
    own: Callable[..., None],
    allow: Allow,
    trusted: Any,
    condition: Any,
    assumed: bool,
) -> None:
    own(allow("sts:AssumeRole"))
    trust = {"Effect": "Allow", "Principal": trusted, "Action": "sts:AssumeRole"}
    role = iam.create_role(
        RoleName="job", AssumeRolePolicyDocument=document({**trust, "Condition": condition})
    )["Role"]["Arn"]
    asked = {"RoleArn": role, "RoleSessionName": "test", "ExternalId": "aa"}

    if assumed:
        as_user("sts").assume_role(**asked)
    else:
        refused = error(as_user("sts").assume_role, **asked)
        assert refused["Message"] == (
            f"User: {SOMEBODY} is not authorized to perform: sts:AssumeRole on resource: {role}"
        )


@pytest.mark.parametrize(
    ("trusted", "named"), [(SOMEBODY, True), (f"arn:aws:iam::{ACCOUNT}:root", False)]
)
def test_a_user_whom_a_role_names_needs_no_policy_to_assume_it(
    iam: Any, as_user: As, trusted: str, named: bool
) -> None:
    trust = {"Effect": "Allow", "Principal": {"AWS": trusted}, "Action": "sts:AssumeRole"}
    condition = {"StringEquals": {"sts:ExternalId": "aa"}}
    role = iam.create_role(
        RoleName="job", AssumeRolePolicyDocument=document({**trust, "Condition": condition})
    )["Role"]["Arn"]
    asked = {"RoleArn": role, "RoleSessionName": "test"}

    if named:
        as_user("sts").assume_role(**asked, ExternalId="aa")
        assert error(as_user("sts").assume_role, **asked)["Code"] == "AccessDenied"
    else:
        refused = error(as_user("sts").assume_role, **asked, ExternalId="aa")
        assert "no identity-based policy" in refused["Message"]


def test_a_session_without_its_user_has_no_identity(iam: Any, as_user: As) -> None:
    sts = as_user("sts", as_user("sts").get_session_token()["Credentials"])
    [key] = iam.list_access_keys(UserName="somebody")["AccessKeyMetadata"]
    iam.delete_access_key(UserName="somebody", AccessKeyId=key["AccessKeyId"])
    iam.delete_user(UserName="somebody")

    assert error(sts.get_caller_identity)["Code"] == "InvalidClientTokenId"


def test_a_session_of_a_user_may_what_the_user_may(
    as_user: As, own: Callable[..., None], allow: Allow
) -> None:
    own(allow(["ec2:DescribeVpcs", "iam:*"]))
    given = as_user("sts").get_session_token()["Credentials"]

    as_user("ec2", given).describe_vpcs()

    assert as_user("sts", given).get_caller_identity()["Arn"] == SOMEBODY
    assert "DescribeSubnets" in error(as_user("ec2", given).describe_subnets)["Message"]
    # STS API reference, GetSessionToken: no calls of IAM without MFA.
    assert error(as_user("iam", given).list_users)["Code"] == "InvalidClientTokenId"
    for call in ("get_session_token", "get_access_key_info"):
        params = {"AccessKeyId": given["AccessKeyId"]} if call == "get_access_key_info" else {}
        assert error(getattr(as_user("sts", given), call), **params)["Code"] == "AccessDenied"


def test_a_federated_user_may_what_user_and_session_policy_allow(
    as_user: As, own: Callable[..., None], allow: Allow
) -> None:
    own(allow(["ec2:Describe*", "sts:GetFederationToken"]))
    policy = document(allow(["ec2:DescribeVpcs", "sqs:ListQueues"]))
    sts = as_user("sts")
    given = sts.get_federation_token(Name="guest", Policy=policy)["Credentials"]
    bare = sts.get_federation_token(Name="guest")["Credentials"]

    as_user("ec2", given).describe_vpcs()

    beyond = error(as_user("ec2", given).describe_subnets)["Message"]
    assert "because no session policy allows the ec2:DescribeSubnets action" in beyond
    assert "User: arn:aws:sts::123456789012:federated-user/guest is not" in beyond
    assert "no identity-based policy" in error(as_user("sqs", given).list_queues)["Message"]
    assert "no session policy" in error(as_user("ec2", bare).describe_vpcs)["Message"]
    identity = as_user("sts", bare).get_caller_identity()
    assert (identity["Arn"], identity["UserId"]) == (
        "arn:aws:sts::123456789012:federated-user/guest",
        "123456789012:guest",
    )


def test_a_federated_session_needs_its_permission(as_user: As) -> None:
    refused = error(as_user("sts").get_federation_token, Name="guest")

    assert refused["Code"] == "AccessDenied"
    assert "sts:GetFederationToken" in refused["Message"]


@pytest.mark.parametrize("seconds", [899, 129_601])
def test_a_session_lasts_15_minutes_to_36_hours(as_user: As, seconds: int) -> None:
    sts = as_user("sts", config=Config(parameter_validation=False))

    refused = error(sts.get_session_token, DurationSeconds=seconds)

    assert refused["Code"] == "ValidationError"
    assert f"Value '{seconds}' at 'DurationSeconds'" in refused["Message"]


def test_a_session_of_the_root_user_lasts_an_hour_at_most(clean_aws: EmbeddedAws) -> None:
    given = clean_aws.client("sts").get_session_token()["Credentials"]

    assert timedelta(minutes=59) < given["Expiration"] - datetime.now(UTC) <= timedelta(hours=1)


@pytest.mark.parametrize("federated", ["", "guest"])
def test_a_session_ends(federated: str) -> None:
    key = get_backend("iam")[ACCOUNT]["aws"].create_temp_access_key()
    ended = utcnow() - timedelta(seconds=1)
    vars(key)["embedded_aws_temporary"] = TemporaryKey(
        token="t", user_name="somebody", federated=federated, policy="", expires=ended
    )
    call = ApiCall(
        service="iam",
        operation="ListUsers",
        account=ACCOUNT,
        region="us-west-2",
        protocol="query",
        params={},
    )

    refused = expiry(principal_of(ACCOUNT, key.access_key_id), call)

    assert refused
    assert refused.code == "ExpiredToken"


def test_a_code_of_an_mfa_device_is_not_taken_unseen(as_user: As) -> None:
    refused = error(
        as_user("sts").get_session_token,
        SerialNumber="arn:aws:iam::123456789012:mfa/somebody",
        TokenCode="123456",
    )

    assert "checks no codes of MFA devices" in refused["Message"]
