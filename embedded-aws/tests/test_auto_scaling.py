"""Auto Scaling groups of servers: when launches are tried again, and time-outs pass."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest
from amis import AMAZON_LINUX
from job_bench import job_aws

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.job_settings import JobSettings

_pause = threading.Event()
_TOO_OFTEN = 500
SHORTAGE = Fault(service="ec2", operation="RunInstances", code="InsufficientInstanceCapacity")


@pytest.fixture(scope="module")
def fast_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """A minute of AWS's lasts a tenth of a second."""
    with job_aws(tmp_path_factory.mktemp("aws"), JobSettings(speed=600)) as aws:
        yield aws


def create_group(
    aws: EmbeddedAws, *, rebalance: bool = False, market: Mapping[str, object] | None = None
) -> Callable[[], list[str]]:
    """Create a group of two, and return what gives the ids of its instances."""
    ec2, autoscaling = aws.client("ec2"), aws.client("autoscaling")
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/20", AvailabilityZoneId="usw2-az4")[
        "Subnet"
    ]["SubnetId"]
    data = {"ImageId": AMAZON_LINUX, "InstanceType": "trn1.32xlarge", **(market or {})}
    ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)
    autoscaling.create_auto_scaling_group(
        AutoScalingGroupName="nodes",
        LaunchTemplate={"LaunchTemplateName": "nodes", "Version": "1"},
        MinSize=2,
        MaxSize=2,
        VPCZoneIdentifier=subnet,
        CapacityRebalance=rebalance,
    )

    def ids() -> list[str]:
        [group] = autoscaling.describe_auto_scaling_groups()["AutoScalingGroups"]
        return [each["InstanceId"] for each in group["Instances"]]

    return ids


def until(holds: Callable[[], bool]) -> None:
    for _ in range(_TOO_OFTEN):
        if holds():
            return
        _pause.wait(0.02)
    raise AssertionError("it never came about")


def test_a_failed_launch_is_tried_again_after_a_minute(fast_aws: EmbeddedAws) -> None:
    fast_aws.fail(SHORTAGE)

    ids = create_group(fast_aws)

    until(lambda: len(ids()) == 2)
    activities = fast_aws.client("autoscaling").describe_scaling_activities()["Activities"]
    assert sorted(each["StatusCode"] for each in activities) == [
        "Failed",
        "Successful",
        "Successful",
    ]


def test_failed_launches_are_tried_again_at_once_when_the_faults_change(
    clean_aws: EmbeddedAws,
) -> None:
    clean_aws.fail(replace(SHORTAGE, count=None))
    ids = create_group(clean_aws)
    assert ids() == []

    clean_aws.fail()

    until(lambda: len(ids()) == 2)


def on_spot(**options: str) -> dict[str, object]:
    return {"InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": options}}


def ends(aws: EmbeddedAws) -> dict[str, tuple[str, str, str]]:
    """The reason of each instance's end, and the state and status of its request."""
    ec2 = aws.client("ec2")
    requests = {
        each["InstanceId"]: each
        for each in ec2.describe_spot_instance_requests()["SpotInstanceRequests"]
    }
    return {
        node["InstanceId"]: (
            node.get("StateReason", {}).get("Code", ""),
            requests[node["InstanceId"]]["State"],
            requests[node["InstanceId"]]["Status"]["Code"],
        )
        for part in ec2.describe_instances()["Reservations"]
        for node in part["Instances"]
    }


def test_a_node_that_ec2_takes_back_ends_after_two_minutes_and_is_replaced(
    fast_aws: EmbeddedAws,
) -> None:
    fast_aws.reset()
    ids = create_group(fast_aws, market=on_spot())
    taken, other = ids()

    fast_aws.notify_spot(taken, "rebalance")
    fast_aws.notify_spot(taken)

    assert ends(fast_aws)[taken][1:] == ("active", "marked-for-termination")
    until(lambda: taken not in ids() and len(ids()) == 2)
    assert other in ids()
    assert ends(fast_aws)[taken] == (
        "Server.SpotInstanceTermination",
        "closed",
        "instance-terminated-no-capacity",
    )
    assert ends(fast_aws)[other] == ("", "active", "fulfilled")


def test_a_node_at_risk_is_replaced_before_it_ends_with_capacity_rebalancing(
    fast_aws: EmbeddedAws,
) -> None:
    fast_aws.reset()
    ids = create_group(fast_aws, rebalance=True, market=on_spot())
    taken, other = ids()

    fast_aws.notify_spot(taken, "rebalance")

    until(lambda: taken not in ids())
    [kept, new] = ids()
    assert kept == other
    described = fast_aws.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    assert described[0]["CapacityRebalance"]
    ended, launched, *_ = fast_aws.client("autoscaling").describe_scaling_activities()["Activities"]
    assert launched["Description"] == f"Launching a new EC2 instance: {new}"
    assert ended["Description"] == f"Terminating EC2 instance: {taken}"
    for each in (ended, launched):
        assert "in response to an EC2 instance rebalance recommendation" in each["Cause"]


def test_nodes_at_risk_are_replaced_one_after_the_other(fast_aws: EmbeddedAws) -> None:
    fast_aws.reset()
    ids = create_group(fast_aws, rebalance=True, market=on_spot())
    before = ids()

    fast_aws.fail(replace(SHORTAGE, count=None))
    for each in before:
        fast_aws.notify_spot(each, "rebalance")

    fast_aws.fail()

    until(lambda: not set(before) & set(ids()))
    assert len(ids()) == 2
    activities = fast_aws.client("autoscaling").describe_scaling_activities()["Activities"]
    did = [
        each["Description"].split()[0]
        for each in reversed(activities)
        if each["StatusCode"] == "Successful"
    ]
    assert did == ["Launching"] * 2 + ["Launching", "Terminating"] * 2


def test_a_node_at_risk_stays_as_long_as_there_is_none_in_its_place(
    fast_aws: EmbeddedAws,
) -> None:
    fast_aws.reset()
    ids = create_group(fast_aws, rebalance=True, market=on_spot())
    before = ids()
    fast_aws.fail(replace(SHORTAGE, count=None))

    fast_aws.notify_spot(before[0], "rebalance")

    autoscaling = fast_aws.client("autoscaling")
    until(
        lambda: any(
            each["StatusCode"] == "Failed"
            for each in autoscaling.describe_scaling_activities()["Activities"]
        )
    )
    assert ids() == before


def test_a_node_that_ec2_takes_back_is_replaced_before_its_end_with_capacity_rebalancing(
    clean_aws: EmbeddedAws,
) -> None:
    ids = create_group(clean_aws, rebalance=True, market=on_spot())
    before = ids()

    clean_aws.notify_spot(before[0])

    until(lambda: len(ids()) == 3)
    assert ends(clean_aws)[before[0]][1:] == ("active", "marked-for-termination")


def test_a_price_above_the_highest_ends_nodes_and_launches_none(fast_aws: EmbeddedAws) -> None:
    fast_aws.reset()
    ids = create_group(fast_aws, market=on_spot(MaxPrice="9"))
    before = ids()

    fast_aws.set_spot_price("trn1.32xlarge", 9.5)

    until(lambda: not ids())
    assert {ends(fast_aws)[each][2] for each in before} == {"instance-terminated-by-price"}
    [failed, *_] = fast_aws.client("autoscaling").describe_scaling_activities()["Activities"]
    assert "Your Spot request price of 9 is lower than the minimum" in failed["StatusMessage"]

    fast_aws.set_spot_price("trn1.32xlarge", 8.5)

    until(lambda: len(ids()) == 2)


def test_the_time_of_a_creation_policy_passes_as_fast(fast_aws: EmbeddedAws) -> None:
    condition = {
        "Type": "AWS::CloudFormation::WaitCondition",
        "CreationPolicy": {"ResourceSignal": {"Timeout": "PT5M"}},
    }

    with pytest.raises(DeploymentFailed, match=r"Failed to receive 1 resource signal\(s\)"):
        fast_aws.deploy({"Resources": {"Done": condition}}, stack_name="Slow")
