"""Calls that fail on purpose."""

from collections.abc import Iterator
from time import monotonic
from typing import Any
from urllib.error import HTTPError

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import FAULTS_PATH, Fault
from embedded_aws.settings import access_key

DENIED = Fault(service="ec2", operation="DescribeVpcs", code="UnauthorizedOperation", message="no")


@pytest.fixture
def faulty(embedded_aws: EmbeddedAws) -> Iterator[EmbeddedAws]:
    yield embedded_aws
    embedded_aws.fail()


def code(caught: pytest.ExceptionInfo[ClientError]) -> tuple[str, int]:
    response = caught.value.response
    return response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]


def _vpcs(more: bytes) -> bytes:
    return b'[{"service":"ec2","operation":"DescribeVpcs",%b}]' % more


def once(aws: EmbeddedAws, service: str) -> Any:
    """Return a client that does not repeat what a server's error answered."""
    return boto3.client(
        service,
        endpoint_url=aws.endpoint,
        region_name="us-west-2",
        aws_access_key_id=access_key(aws.settings.accounts[0]),
        aws_secret_access_key=aws.settings.secret_key,
        config=Config(retries={"total_max_attempts": 1}),
    )


def test_a_call_fails_as_often_as_asked(faulty: EmbeddedAws) -> None:
    ec2 = faulty.client("ec2")
    faulty.fail(Fault(**{**_as_dict(DENIED), "count": 2}))

    for _ in range(2):
        with pytest.raises(ClientError, match="no") as caught:
            ec2.describe_vpcs()
        assert code(caught) == ("UnauthorizedOperation", 403)

    ec2.describe_vpcs()


def test_a_call_may_always_fail_until_reported_otherwise(faulty: EmbeddedAws) -> None:
    ec2 = faulty.client("ec2")
    faulty.fail(Fault(**{**_as_dict(DENIED), "count": None}))
    for _ in range(3):
        with pytest.raises(ClientError):
            ec2.describe_vpcs()

    faulty.fail()

    ec2.describe_vpcs()


def test_other_calls_and_services_are_answered(faulty: EmbeddedAws) -> None:
    faulty.fail(DENIED)

    faulty.client("ec2").describe_subnets()
    faulty.client("ssm").describe_parameters()


def test_a_json_service_fails_in_its_own_words(faulty: EmbeddedAws) -> None:
    faulty.fail(
        Fault(
            service="ssm",
            operation="GetParameter",
            code="AccessDeniedException",
            when={"Name": "/secret"},
        )
    )
    ssm = faulty.client("ssm")

    with pytest.raises(ClientError) as other:
        ssm.get_parameter(Name="/another")
    with pytest.raises(ClientError) as caught:
        ssm.get_parameter(Name="/secret")

    assert other.value.response["Error"]["Code"] == "ParameterNotFound"
    assert code(caught) == ("AccessDeniedException", 400)


def test_one_zone_is_full_and_another_is_not(faulty: EmbeddedAws) -> None:
    ec2 = once(faulty, "ec2")
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    full, free = (
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.9.{number}.0/24", AvailabilityZone=zone)[
            "Subnet"
        ]["SubnetId"]
        for number, zone in enumerate(("us-west-2a", "us-west-2b"))
    )
    launch = {
        "ImageId": "ami-0123456789abcdef0",
        "InstanceType": "m6i.large",
        "MinCount": 1,
        "MaxCount": 1,
    }
    faulty.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            count=None,
            when={"AvailabilityZone": "us-west-2a"},
        )
    )

    with pytest.raises(ClientError) as caught:
        ec2.run_instances(**launch, SubnetId=full)
    with pytest.raises(ClientError):
        ec2.run_instances(**launch, NetworkInterfaces=[{"DeviceIndex": 0, "SubnetId": full}])
    ec2.run_instances(**launch, SubnetId=free)

    assert code(caught) == ("InsufficientInstanceCapacity", 500)


def test_a_fleet_meets_the_full_zone_of_its_template(faulty: EmbeddedAws) -> None:
    ec2 = once(faulty, "ec2")
    vpc = ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]
    full = ec2.create_subnet(VpcId=vpc, CidrBlock="10.8.0.0/24", AvailabilityZone="us-west-2a")[
        "Subnet"
    ]["SubnetId"]
    ec2.create_launch_template(
        LaunchTemplateName="spot",
        LaunchTemplateData={
            "ImageId": "ami-0123456789abcdef0",
            "NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": full}],
        },
    )
    specification = {"LaunchTemplateName": "spot", "Version": "1"}
    faulty.fail(
        Fault(
            service="ec2",
            operation="CreateFleet",
            code="InsufficientInstanceCapacity",
            when={"AvailabilityZone": "us-west-2a"},
        )
    )

    with pytest.raises(ClientError) as caught:
        ec2.create_fleet(
            Type="instant",
            LaunchTemplateConfigs=[
                {
                    "LaunchTemplateSpecification": specification,
                    "Overrides": [{"InstanceType": "m6i.large"}],
                }
            ],
            TargetCapacitySpecification={"TotalTargetCapacity": 1},
        )

    assert code(caught) == ("InsufficientInstanceCapacity", 500)


def test_some_calls_succeed_before_those_that_fail(faulty: EmbeddedAws) -> None:
    ec2 = once(faulty, "ec2")
    faulty.fail(
        Fault(service="ec2", operation="DescribeVpcs", code="UnauthorizedOperation", after=2)
    )

    ec2.describe_vpcs()
    ec2.describe_subnets()
    ec2.describe_vpcs()
    with pytest.raises(ClientError):
        ec2.describe_vpcs()
    ec2.describe_vpcs()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "this is not JSON: "),
        (b'[{"service": "ec2"}]', "each fault must be an object with service and operation"),
        (
            b'[{"service": "ec2", "operation": "RunInstances", "count": 0}]',
            "number from 1, or null",
        ),
        (_vpcs(b'"after":-1'), "after must be a number from 0"),
        (
            b'[{"service": "ec2", "operation": "RunInstance"}]',
            "ec2 has no operation 'RunInstance'; did you mean RunInstances?",
        ),
        (b'[{"service": "ecs2", "operation": "RunTask"}]', "for 'ecs2'; did you mean ecs?"),
        (
            b'[{"service": "cloudwatch", "operation": "PutMetricAlarm"}]',
            "for 'cloudwatch'; did you mean monitoring?",
        ),
        (b'[{"service": "s3", "operation": "GetObject"}]', "calls of s3 cannot fail on purpose"),
        (b'[{"service": "lambda", "operation": "Invoke"}]', "name their operation in the path"),
        (
            b'[{"service": "guests", "operation": "OpenSSH"}]',
            "guests has no operation 'OpenSSH'; did you mean OpenSsh?",
        ),
        (b"{}", "this is not a list of faults; post"),
        (b"null", "this is not a list of faults; post"),
        (b"[" * 100_000, "this is not JSON: "),
        (b"[5]", "each fault must be an object with service and operation"),
        (b'[{"service":["ec2"],"operation":"x"}]', "a fault's service is a text"),
        (b'[{"service":{},"operation":"x"}]', "a fault's service is a text"),
        (b'[{"service":null,"operation":"x"}]', "a fault's service is a text"),
        (b'[{"service":"ec2","operation":5}]', "a fault's operation is a text"),
        (_vpcs(b'"message":{"a":1}'), "a fault's message is a text"),
        (_vpcs(rb'"message":"\ud800"'), "a fault's message is a text"),
        (_vpcs(b'"code":{"a":1}'), "a fault's code is a text of printable characters"),
        (_vpcs(b'"code":null'), "a fault's code is a text of printable characters"),
        (_vpcs(rb'"code":"a\r\nb"'), "a fault's code is a text of printable characters"),
        (_vpcs(b'"code":"a b"'), "the code of a fault must be one ASCII word, got 'a b'"),
        (_vpcs(b'"when":{"a":1}'), "when must be an object: parameters, each with a text"),
        (_vpcs(b'"cuont":1'), "a fault has no 'cuont'; did you mean count?"),
    ],
)
def test_what_is_no_fault_is_refused(faulty: EmbeddedAws, body: bytes, reason: str) -> None:
    with pytest.raises(HTTPError) as caught:
        faulty.settings.controls.ask("POST", FAULTS_PATH, body)

    assert caught.value.code == 400
    assert reason in caught.value.read().decode()


def test_a_code_arrives_as_it_was_asked_for(faulty: EmbeddedAws) -> None:
    faulty.fail(Fault(**{**_as_dict(DENIED), "code": "a<b>&c"}))

    with pytest.raises(ClientError) as caught:
        faulty.client("ec2").describe_vpcs()

    assert code(caught) == ("a<b>&c", 400)


def _as_dict(fault: Fault) -> dict[str, Any]:
    return {name: getattr(fault, name) for name in ("service", "operation", "code", "message")}


def test_an_answer_may_only_be_late(faulty: EmbeddedAws) -> None:
    ec2 = faulty.client("ec2")
    faulty.fail(Fault(service="ec2", operation="DescribeVpcs", code="", seconds=0.3))
    began = monotonic()

    late = ec2.describe_vpcs()["Vpcs"]
    took, began = monotonic() - began, monotonic()

    assert late == ec2.describe_vpcs()["Vpcs"]
    assert took >= 0.3


def test_every_call_may_be_late_those_of_s3_too(faulty: EmbeddedAws) -> None:
    faulty.fail(Fault(service="*", operation="*", code="", seconds=0.2, count=2))
    began = monotonic()

    faulty.client("s3").list_buckets()
    faulty.client("sts").get_caller_identity()

    assert monotonic() - began >= 0.4


@pytest.mark.parametrize("code_", ["ExpiredToken", "RequestExpired", "ThrottlingException"])
def test_an_error_of_the_sdk_s_own_kind_arrives_as_such(faulty: EmbeddedAws, code_: str) -> None:
    faulty.fail(Fault(service="ec2", operation="DescribeVpcs", code=code_))

    with pytest.raises(ClientError) as caught:
        once(faulty, "ec2").describe_vpcs()

    assert code(caught) == (code_, 400)
