"""Nodes that power themselves off are counted, and at the limit nobody launches more of them.

The construct's own template, rule and function, in an embedded AWS within this process: no guest
is there to power itself off, so the tests make EC2 believe that one did. Guests do it for
themselves in tests/guests.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk.assertions import Template
from moto.backends import get_backend

from embedded_aws.deployment import deploy_template
from embedded_aws.ec2.machines import switched_itself_off
from trainshed_constructs import FailedBootLimit, disable_environment

ACCOUNT, REGION = "123456789012", "us-west-2"
_PATIENCE_SECONDS = 300


@dataclass(frozen=True)
class Cluster:
    """A compute environment with a limit of two.

    Attributes:
        client: makes clients.
        name: value of the tag on its nodes.
        arn: of the compute environment.
        log_group: of the function.
    """

    client: Callable[[str], Any]
    name: str
    arn: str
    log_group: str

    def node(self, *, behaviour: str = "terminate", cluster: str | None = None) -> Any:
        """Launch a node; return moto's instance."""
        tags = [{"Key": "trainshed:cluster", "Value": cluster or self.name}]
        [launched] = self.client("ec2").run_instances(
            ImageId="ami-0123456789abcdef0",
            InstanceType="m5.large",
            MinCount=1,
            MaxCount=1,
            InstanceInitiatedShutdownBehavior=behaviour,
            TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
        )["Instances"]
        found = get_backend("ec2")[ACCOUNT][REGION].all_instances()
        return next(each for each in found if each.id == launched["InstanceId"])

    @property
    def environment(self) -> dict[str, Any]:
        [found] = self.client("batch").describe_compute_environments(
            computeEnvironments=[self.arn]
        )["computeEnvironments"]
        return dict(found)

    def said(self) -> str:
        """What the function has written to its log."""
        pages = self.client("logs").get_paginator("filter_log_events")
        events = pages.paginate(logGroupName=self.log_group).build_full_result()["events"]
        return "\n".join(event["message"] for event in events)

    def wait_for(self, words: str) -> str:
        """Wait until the function has said this."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while words not in (said := self.said()):
            assert time.monotonic() < deadline, f"no {words!r} in {said!r}"
            time.sleep(0.05)
        return said


@pytest.fixture
def client(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    # Calls of functions lead here, too.
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    session = boto3.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION
    )
    return lambda service: session.client(service, endpoint_url=endpoint)


@pytest.fixture
def cluster(client: Callable[[str], Any]) -> Iterator[Cluster]:
    name = f"t{uuid4().hex[:12]}"
    batch, cloudformation = client("batch"), client("cloudformation")
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZoneId="usw2-az4")[
        "Subnet"
    ]["SubnetId"]
    group = ec2.create_security_group(GroupName=name, Description="x", VpcId=vpc)["GroupId"]
    client("iam").create_instance_profile(InstanceProfileName=name)
    arn = batch.create_compute_environment(
        computeEnvironmentName=name,
        type="MANAGED",
        computeResources={
            "type": "EC2",
            "allocationStrategy": "BEST_FIT_PROGRESSIVE",
            "minvCpus": 128,
            "maxvCpus": 256,
            "instanceTypes": ["trn1.32xlarge"],
            "subnets": [subnet],
            "securityGroupIds": [group],
            "instanceRole": name,
        },
    )["computeEnvironmentArn"]
    stack = cdk.Stack(
        cdk.App(),
        "Stack",
        synthesizer=cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
    )
    limit = FailedBootLimit(
        stack,
        "Limit",
        cluster=name,
        stop=disable_environment(arn, min_vcpus=128),
        limit=2,
        hours=3,
    )
    cdk.CfnOutput(stack, "Log", value=limit.function.log_group.log_group_name)
    done = deploy_template(
        cloudformation,
        client("s3"),
        Template.from_stack(stack).to_json(),
        stack_name=name,
        parameters={},
    )
    yield Cluster(client, name, arn, done.outputs["Log"])
    cloudformation.delete_stack(StackName=name)


def test_at_the_limit_the_environment_is_disabled_and_the_log_says_how_to_go_on(
    cluster: Cluster,
) -> None:
    first = cluster.node()
    switched_itself_off(first)
    cluster.wait_for(f"{first.id} powered itself off, node 1 of {cluster.name}")
    assert cluster.environment["state"] == "ENABLED"

    second = cluster.node()
    switched_itself_off(second)

    said = cluster.wait_for("jobs that run go on")
    assert f"disabled {cluster.arn}, because 2 nodes powered themselves off" in said
    assert cluster.environment["state"] == "DISABLED"
    # A disabled environment keeps its minimum.
    assert cluster.environment["computeResources"]["minvCpus"] == 0
    assert (
        f"aws batch update-compute-environment --compute-environment {cluster.arn} --state ENABLED "
        "--compute-resources minvCpus=128"
    ) in said


def test_the_metric_counts_them(cluster: Cluster) -> None:
    node = cluster.node()

    switched_itself_off(node)

    cluster.wait_for(node.id)
    [metric] = cluster.client("cloudwatch").list_metrics(
        Namespace="trainshed/boots",
        MetricName="NodesPoweredOff",
        Dimensions=[{"Name": "Cluster", "Value": cluster.name}],
    )["Metrics"]
    assert metric["Namespace"] == "trainshed/boots"


def test_a_node_that_stops_and_does_not_end_counts_as_well(cluster: Cluster) -> None:
    node = cluster.node(behaviour="stop")

    switched_itself_off(node)

    cluster.wait_for(f"{node.id} powered itself off, node 1")


def test_nodes_that_others_end_and_other_clusters_nodes_do_not_count(cluster: Cluster) -> None:
    ended, stranger, last = cluster.node(), cluster.node(cluster="Another"), cluster.node()

    cluster.client("ec2").terminate_instances(InstanceIds=[ended.id])
    switched_itself_off(stranger)
    switched_itself_off(last)

    said = cluster.wait_for(f"{last.id} powered itself off, node 1")
    assert ended.id not in said
    assert stranger.id not in said
    assert cluster.environment["state"] == "ENABLED"
