"""Asking an account: all at once, whatever is denied, late or refused, and with which policy."""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import pytest
from botocore.config import Config
from preflight_account import REGION, TRN_QUOTA, Account, Templates, deploy
from preflight_role import Role, without

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from trainshed.aws import BadCredentials
from trainshed.errors import Failure
from trainshed.findings import Finding
from trainshed.findings.rule import checks_of
from trainshed.preflight import SharedAnswers, Subject, ask_account, read_only_policy

# Rounds of calls that wait for one another; each costs the time of one call.
MOST_CALLS_IN_A_ROW = 5
EKS_READS = (
    *("DescribeCluster", "DescribeClusterVersions", "DescribeNodegroup"),
    *("ListClusters", "ListNodegroups"),
)


@pytest.fixture
def healed(clean_aws: EmbeddedAws) -> Iterator[EmbeddedAws]:
    yield clean_aws
    clean_aws.fail()


def of(found: list[Finding], rule: str) -> list[str]:
    return [finding.message for finding in found if finding.rule == rule]


class Counted(SharedAnswers):
    """Counts how many calls waited for one another at most."""

    def __init__(self, name: str, client: Callable[[str], Any]) -> None:
        super().__init__(name, client)
        self.longest = 0
        self._rows: dict[str, int] = {}
        self._mine = threading.local()

    def _shared(self, question: str, ask: Callable[[], Any]) -> Any:
        before = getattr(self._mine, "row", 0)
        row = self._rows.setdefault(question, before + 1)
        try:
            return super()._shared(question, ask)
        finally:
            self._mine.row = max(before, row)
            self.longest = max(self.longest, self._mine.row)


def test_no_question_waits_for_many_others(network: Account, templates: Templates) -> None:
    buckets = [{"bucket": f"bucket-{number}"} for number in range(20)]
    clusters: list[dict[str, Any]] = [
        {},
        {"network": {"name": "other"}, "job": {"buckets": buckets}},
        {"network": network.network},
        {"image": {"repository": "lab"}},
    ]
    for number, fields in enumerate(clusters):
        if number == 1:
            deploy(network, templates, "TrainNetwork", "TrainCluster")
        counted = Counted(REGION, network.aws.client)
        subject = network.subject(**fields)

        ask_account(
            Subject(
                plan=subject.plan, aws=counted, now=subject.now, template=templates["TrainCluster"]
            )
        )

        assert 2 <= counted.longest <= MOST_CALLS_IN_A_ROW


def test_the_first_questions_are_all_asked_at_once(account: Account) -> None:
    first = {
        ("sts", "get_caller_identity"),
        ("ssm", "get_parameter"),
        ("service-quotas", "get_service_quota"),
        ("cloudformation", "describe_stacks"),
        ("ec2", "get_paginator"),
    }
    together = threading.Barrier(len(first))
    passed: set[tuple[str, str]] = set()
    guard = threading.Lock()

    class Gate:
        """A client whose first call of a kind waits until those of the others are there."""

        def __init__(self, service: str) -> None:
            self._service, self._client = service, account.aws.client(service)

        def __getattr__(self, name: str) -> Any:
            with guard:
                waits = (self._service, name) in first - passed
                passed.add((self._service, name))
            if waits:
                together.wait(timeout=20)
            return getattr(self._client, name)

    found = account.ask(client=Gate)

    assert first <= passed
    assert [each.rule for each in found] == ["TS-ACC-091"]


def test_a_question_is_asked_once(account: Account) -> None:
    asked: list[str] = []

    class Noted:
        def __init__(self, service: str) -> None:
            self._client = account.aws.client(service)

        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(self._client, name)

    account.ask(client=Noted)

    assert asked.count("describe_images") == 1
    # The AMI's and the bootstrap's.
    assert asked.count("get_parameter") == 2


def test_a_slow_call_holds_up_no_other(account: Account, healed: EmbeddedAws) -> None:
    healed.fail(Fault(service="ec2", operation="DescribeImages", code="", seconds=4, count=None))
    healed.grant_quota(TRN_QUOTA, 1)

    found = list(ask_account(account.subject(), seconds=2).findings)

    assert len(of(found, "TS-ACC-020")) == 1
    late = of(found, "TS-ACC-002")
    assert {message.split()[0] for message in late} == {
        "TS-ACC-040",
        "TS-ACC-041",
        "TS-ACC-042",
        "TS-ACC-043",
        "TS-ACC-044",
    }
    assert all(message.endswith("no answer in 2 s") for message in late)


@pytest.mark.parametrize("code", ["ThrottlingException", "InternalFailure"])
def test_what_is_refused_again_and_again_is_not_checked(
    account: Account, healed: EmbeddedAws, code: str
) -> None:
    healed.fail(
        Fault(
            service="servicequotas",
            operation="GetServiceQuota",
            code=code,
            count=None,
            when={"QuotaCode": TRN_QUOTA},
        )
    )

    [message] = of(account.ask(), "TS-ACC-002")

    assert message.startswith("TS-ACC-020 was not checked (the quota of vCPUs is smaller")
    assert code in message


@pytest.mark.parametrize("code", ["ExpiredToken", "RequestExpired", "InvalidClientTokenId"])
def test_bad_credentials_are_one_error(account: Account, healed: EmbeddedAws, code: str) -> None:
    healed.fail(Fault(service="*", operation="*", code=code, count=None))

    with pytest.raises(BadCredentials, match=f"does not take the credentials: {code}"):
        account.ask()


def test_an_aws_that_cannot_be_reached_is_one_error(account: Account) -> None:
    def nowhere(service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url="http://127.0.0.1:9",
            region_name=REGION,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )

    with pytest.raises(Failure, match="AWS cannot be reached"):
        account.ask(client=nowhere)


class _Page(BaseHTTPRequestHandler):
    """Answers everything with a web page."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>sign in<br></html>")

    do_GET = do_HEAD = do_POST

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_server_that_is_not_aws_is_one_error(account: Account) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def page(service: str) -> Any:
            return boto3.client(
                service,
                endpoint_url=f"http://127.0.0.1:{server.server_port}",
                region_name=REGION,
                aws_access_key_id="testing",
                aws_secret_access_key="testing",
                config=Config(retries={"total_max_attempts": 1}),
            )

        with pytest.raises(Failure, match="the answer is not from AWS"):
            account.ask(client=page)
        server.shutdown()


def test_a_refusal_that_is_not_about_the_credentials_stops_nothing(
    account: Account, healed: EmbeddedAws
) -> None:
    # "Error codes for the Amazon EC2 API", AuthFailure: an AMI without a permission, too.
    healed.fail(
        Fault(
            service="ec2",
            operation="DescribeInstances",
            code="AuthFailure",
            message="Not authorized for images: [ami-0123456789abcdef0]",
            count=None,
        )
    )

    [message] = of(account.ask(), "TS-ACC-002")

    assert message.startswith("TS-ACC-020 was not checked")


PLAIN = {
    "Resources": {
        "Nodes": {
            "Type": "AWS::EC2::LaunchTemplate",
            "Properties": {
                "LaunchTemplateData": {
                    "ImageId": "",
                    "InstanceType": "trn1.32xlarge",
                    "NetworkInterfaces": [{"DeviceIndex": 0, "NetworkCardIndex": 0}],
                }
            },
        },
        "Group": {
            "Type": "AWS::AutoScaling::AutoScalingGroup",
            "Properties": {
                "MinSize": "0",
                "MaxSize": "4",
                "VPCZoneIdentifier": [""],
                "LaunchTemplate": {
                    "LaunchTemplateId": {"Ref": "Nodes"},
                    "Version": {"Fn::GetAtt": ["Nodes", "LatestVersionNumber"]},
                },
            },
        },
    }
}


@pytest.fixture
def clusters(network: Account, templates: Templates) -> list[dict[str, Any]]:
    """Clusters for which every question is asked."""
    aws, ids = network.aws, network.ids
    deploy(network, templates, "TrainNetwork", "TrainCluster")
    plain = json.loads(json.dumps(PLAIN))
    plain["Resources"]["Nodes"]["Properties"]["LaunchTemplateData"]["ImageId"] = ids["ami"]
    plain["Resources"]["Group"]["Properties"]["VPCZoneIdentifier"] = [ids["subnet"]]
    aws.deploy(plain, stack_name="PlainCluster")
    ecr = aws.client("ecr")
    ecr.create_repository(repositoryName="lab")
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": {"digest": f"sha256:{'2' * 64}"},
        "layers": [],
    }
    ecr.put_image(repositoryName="lab", imageTag="v1", imageManifest=json.dumps(manifest))
    aws.client("s3").create_bucket(
        Bucket="runs", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    file_system = aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[ids["subnet"]],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]["FileSystemId"]
    efs = aws.client("efs").create_file_system(CreationToken="home")["FileSystemId"]
    reservation = aws.client("ec2").create_capacity_reservation(
        InstanceType="trn1.32xlarge",
        InstancePlatform="Linux/UNIX",
        AvailabilityZoneId="usw2-az4",
        InstanceCount=4,
    )["CapacityReservation"]["CapacityReservationId"]
    groups = aws.client("resource-groups")
    group = groups.create_group(
        Name="Blocks", Configuration=[{"Type": "AWS::EC2::CapacityReservationPool"}]
    )["Group"]["GroupArn"]
    return [
        {"network": {"name": "other"}},
        {"capacity": {"capacity_block": group}},
        {
            "name": "LabCluster",
            "network": network.network,
            "image": {"repository": "lab", "existing": True},
            "kms_key": aws.client("kms").create_key()["KeyMetadata"]["Arn"],
            "storage": {
                "lustre": {"existing": file_system},
                "efs": {"existing": efs},
                "bucket": {"existing": "runs", "mount": "/data"},
            },
            "capacity": {"reservation": reservation},
            "template": templates["TrainCluster"],
        },
        {
            "name": "PlainCluster",
            "orchestrator": "ec2",
            "image": {},
            "zone": "us-west-2d",
            "capacity": {"spot": {}},
            "network": network.network,
            "instance": {
                "type": "trn1.32xlarge",
                "nodes": {"min": 4, "max": 4},
                "ami": ids["ami"],
            },
        },
    ]


def test_the_policy_is_enough_and_each_action_of_it_is_needed(
    network: Account, clusters: list[dict[str, Any]]
) -> None:
    role = Role(network.aws)
    needed: set[str] = set()
    for fields in clusters:
        policy = read_only_policy(network.subject(**fields))
        role.may(policy)

        found = network.ask(client=role.client, **fields)

        assert of(found, "TS-ACC-001") == []
        assert all(
            message.endswith("the credentials lack ec2:RunInstances")
            for message in of(found, "TS-ACC-091")
        )
        granted = {name for each in policy["Statement"] for name in each["Action"]}
        for action in sorted(granted - needed):
            role.may(without(policy, action))
            denied = of(network.ask(client=role.client, **fields), "TS-ACC-001")
            if denied:
                needed.add(action)
                assert all(message.endswith(f"lack {action}") for message in denied)
    # Asked only where the account has no value of its own, which the embedded AWS always has.
    fallback = {"servicequotas:GetAWSDefaultServiceQuota"}
    # Of clusters of Amazon EKS, which take minutes here as on AWS: test_eks.py makes it faster.
    of_eks = {"iam:GetRole", *(f"eks:{each}" for each in EKS_READS)}
    asked = {action for check in checks_of("preflight") for action in check.actions}
    assert needed == asked - fallback - of_eks


def test_the_policy_names_what_can_be_named(account: Account) -> None:
    subject = account.subject(
        account="123456789012",
        image={"repository": "lab"},
        job={"buckets": [{"bucket": "runs"}]},
    )

    statements = read_only_policy(subject)["Statement"]

    resources = {name: each["Resource"] for each in statements for name in each["Action"]}
    assert resources["s3:ListBucket"] == ["arn:aws:s3:::runs"]
    assert resources["ecr:BatchGetImage"] == ["arn:aws:ecr:us-west-2:123456789012:repository/lab"]
    assert resources["ssm:GetParameter"] == [
        "arn:aws:ssm:us-west-2:123456789012:parameter/cdk-bootstrap/hnb659fds/version",
        "arn:aws:ssm:us-west-2:123456789012:parameter/trainshed/ami/neuron/ecs/stable",
    ]
    assert resources["ec2:DescribeInstances"] == ["*"]
    unneeded = (
        "autoscaling:DescribeAutoScalingGroups",
        "ec2:DescribeCapacityReservations",
        "ec2:DescribeRouteTables",
        "ec2:DescribeVpcAttribute",
        "fsx:DescribeFileSystems",
        "kms:DescribeKey",
        "kms:GetKeyPolicy",
        "kms:ListGrants",
    )
    assert not resources.keys() & set(unneeded)
    verbs = {name.partition(":")[2] for name in resources}
    assert all(verb.startswith(("Describe", "Get", "List", "BatchGet")) for verb in verbs)


def test_the_policy_names_the_storage_that_is_asked_about(account: Account) -> None:
    def resources(**fields: Any) -> dict[str, list[str]]:
        subject = account.subject(account="123456789012", **fields)
        statements = read_only_policy(subject)["Statement"]
        return {name: each["Resource"] for each in statements for name in each["Action"]}

    existing = {"existing": "fs-0123456789abcdef0"}
    efs = resources(storage={"efs": existing})
    new = resources(storage={"lustre": {}, "openzfs": {"mount": "/home"}, "bucket": {}})
    mounted = resources(storage={"bucket": {"existing": "ours", "mount": "/data"}})

    arn = "arn:aws:elasticfilesystem:us-west-2:123456789012:file-system/fs-0123456789abcdef0"
    assert efs["elasticfilesystem:DescribeFileSystems"] == [arn]
    assert efs["elasticfilesystem:DescribeMountTargets"] == [arn]
    assert new["s3:ListBucket"] == ["arn:aws:s3:::trainshed-train-123456789012-us-west-2"]
    assert mounted["s3:GetLifecycleConfiguration"] == ["arn:aws:s3:::ours"]
    assert "fsx:DescribeFileSystems" not in new
    assert "s3:GetLifecycleConfiguration" not in new
    # The cluster names its zone by ID.
    on_spot: dict[str, Any] = {"orchestrator": "ec2", "image": None, "capacity": {"spot": {}}}
    nodes = {"type": "trn1.32xlarge", "nodes": {"min": 4, "max": 4}}
    assert "ec2:DescribeAvailabilityZones" not in resources(**on_spot, instance=nodes)
    assert "ec2:GetSpotPlacementScores" not in new


def test_a_quota_without_a_value_of_the_account_has_aws_s_default(
    account: Account, healed: EmbeddedAws
) -> None:
    healed.fail(
        Fault(
            service="servicequotas",
            operation="GetServiceQuota",
            code="NoSuchResourceException",
            count=None,
        )
    )

    [message] = of(account.ask(), "TS-ACC-020")

    assert message.endswith("is 0")


def test_a_bug_in_a_rule_is_not_hidden(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(service: str, operation: str, **params: Any) -> dict[str, Any]:
        raise KeyError(operation)

    subject = account.subject(now=datetime.now(UTC))
    monkeypatch.setattr(subject.aws, "call", broken)

    with pytest.raises(KeyError):
        ask_account(subject)
