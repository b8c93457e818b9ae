"""What Auto Scaling groups send of themselves, and that alarms see it."""

from datetime import UTC, datetime, timedelta

import pytest
from amis import AMAZON_LINUX
from command_bench import until

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault

MINUTE = timedelta(minutes=1)
SHORTAGE = Fault(
    service="ec2",
    operation="RunInstances",
    code="InsufficientInstanceCapacity",
    message="No.",
    count=None,
)


class Place:
    """A group of two, in the default VPC."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self.aws, self.passed = aws, timedelta()
        self.autoscaling, self.cloudwatch = aws.client("autoscaling"), aws.client("cloudwatch")
        ec2 = aws.client("ec2")
        ec2.create_default_vpc()
        [subnet, *_] = ec2.describe_subnets()["Subnets"]
        ec2.create_launch_template(
            LaunchTemplateName="nodes",
            LaunchTemplateData={"ImageId": AMAZON_LINUX, "InstanceType": "t3.medium"},
        )
        self.autoscaling.create_auto_scaling_group(
            AutoScalingGroupName="nodes",
            LaunchTemplate={"LaunchTemplateName": "nodes", "Version": "1"},
            MinSize=0,
            MaxSize=4,
            DesiredCapacity=2,
            VPCZoneIdentifier=subnet["SubnetId"],
        )

    def send(self, *metrics: str) -> None:
        self.autoscaling.enable_metrics_collection(
            AutoScalingGroupName="nodes", Granularity="1Minute", Metrics=list(metrics)
        )

    def let_pass(self, hours: float) -> None:
        self.aws.let_pass(hours=hours)
        self.passed += timedelta(hours=hours)

    def values(self, metric: str) -> list[float]:
        """Return the value of each minute of the last hours, the oldest first."""
        now = datetime.now(UTC) + self.passed
        found = self.cloudwatch.get_metric_statistics(
            Namespace="AWS/AutoScaling",
            MetricName=metric,
            Dimensions=[{"Name": "AutoScalingGroupName", "Value": "nodes"}],
            StartTime=now - timedelta(hours=12),
            EndTime=now + MINUTE,
            Period=60,
            Statistics=["Average", "SampleCount"],
        )["Datapoints"]
        assert {each["SampleCount"] for each in found} <= {1}
        return [each["Average"] for each in found]

    def lose_one(self) -> None:
        """Have EC2 end an instance, and have no other one."""
        self.aws.fail(SHORTAGE)
        self.aws.client("ec2").terminate_instances(InstanceIds=self.instances()[:1])

    def instances(self) -> list[str]:
        """Return the ids of the group's instances."""
        [group] = self.autoscaling.describe_auto_scaling_groups()["AutoScalingGroups"]
        return [each["InstanceId"] for each in group["Instances"]]


@pytest.fixture
def place(clean_aws: EmbeddedAws) -> Place:
    return Place(clean_aws)


def test_a_group_that_is_not_told_to_sends_nothing(place: Place) -> None:
    place.let_pass(1)

    assert place.values("GroupDesiredCapacity") == []


def test_a_group_sends_its_sizes_each_minute_from_when_it_is_told_to(place: Place) -> None:
    place.let_pass(1)
    place.send()
    place.let_pass(0.5)

    # One more when a minute ends meanwhile.
    assert len(place.values("GroupDesiredCapacity")) in (31, 32)
    assert set(place.values("GroupDesiredCapacity")) == {2}
    assert set(place.values("GroupMaxSize")) == {4}
    assert set(place.values("GroupTotalInstances")) == {2}
    assert set(place.values("GroupInServiceCapacity")) == {2}
    assert set(place.values("GroupStandbyInstances")) == {0}


def test_only_the_metrics_that_are_named_are_sent(place: Place) -> None:
    place.send("GroupInServiceInstances")
    place.let_pass(0.1)

    assert set(place.values("GroupInServiceInstances")) == {2}
    assert place.values("GroupDesiredCapacity") == []


def test_minutes_have_the_sizes_that_were_then(place: Place) -> None:
    place.send()
    place.let_pass(0.2)
    place.autoscaling.set_desired_capacity(AutoScalingGroupName="nodes", DesiredCapacity=3)
    place.let_pass(0.2)

    wanted = place.values("GroupDesiredCapacity")

    assert set(wanted[:11]) == {2}
    assert set(wanted[-11:]) == {3}


def test_a_group_stops_sending(place: Place) -> None:
    place.send()
    place.let_pass(0.1)
    before = place.values("GroupMinSize")
    place.autoscaling.disable_metrics_collection(AutoScalingGroupName="nodes")
    place.let_pass(0.1)

    assert place.values("GroupMinSize") == before


def test_an_alarm_sees_that_an_instance_is_missing(place: Place) -> None:
    place.send()
    place.cloudwatch.put_metric_alarm(
        AlarmName="missing",
        Metrics=[
            *(
                {
                    "Id": line,
                    "MetricStat": {
                        "Metric": {
                            "Namespace": "AWS/AutoScaling",
                            "MetricName": metric,
                            "Dimensions": [{"Name": "AutoScalingGroupName", "Value": "nodes"}],
                        },
                        "Period": 300,
                        "Stat": "Minimum",
                    },
                    "ReturnData": False,
                }
                for line, metric in (
                    ("wanted", "GroupDesiredCapacity"),
                    ("there", "GroupInServiceInstances"),
                )
            ),
            {"Id": "missing", "Expression": "wanted - there"},
        ],
        EvaluationPeriods=3,
        Threshold=0,
        ComparisonOperator="GreaterThanThreshold",
        TreatMissingData="ignore",
    )

    def state() -> str:
        [found] = place.cloudwatch.describe_alarms()["MetricAlarms"]
        return str(found["StateValue"])

    place.let_pass(0.5)
    well = state()
    place.lose_one()
    place.let_pass(0.5)
    missing = state()
    place.aws.fail()
    until(lambda: len(place.instances()) == 2, "another instance")
    place.let_pass(0.5)

    assert (well, missing, state()) == ("OK", "ALARM", "OK")
