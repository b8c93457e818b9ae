"""Agents that a plug-in knows send metrics of their instances by the clock."""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from command_bench import MANAGED, CommandBench, until
from job_bench import job_aws
from plugin_package import write_plugin

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings

# Its agent is configured by the number of seconds, and sends the number in another file.
PLUGIN = """
from datetime import timedelta

from botocore.exceptions import ClientError, EndpointConnectionError

from embedded_aws.plugins import MetricAgent, Plugin

def interval(root):
    file = root / "agent"
    return timedelta(seconds=int(file.read_text())) if file.exists() else None

def send(root, times, client):
    value = float((root / "value").read_text())
    data = [
        {
            "MetricName": "Value",
            "Dimensions": [{"Name": "InstanceId", "Value": (root / "id").read_text().strip()}],
            "Timestamp": time,
            "Value": value,
        }
        for time in times
    ]
    try:
        client("cloudwatch").put_metric_data(Namespace="Nodes", MetricData=data)
    except (ClientError, EndpointConnectionError) as error:
        (root / "log").write_text(str(error))

class Watched(Plugin):
    def boot_commands(self):
        return {"watched-.+": ["sh", "-c", '. "$EMBEDDED_AWS_USER_DATA"']}

    def metric_agents(self):
        return {"watched-.+": MetricAgent(interval=interval, send=send)}

PLUGIN = Watched()
"""
BOOT = """cd $EMBEDDED_AWS_NODE
echo $EMBEDDED_AWS_INSTANCE_ID > id
echo 1 > value
"""
EACH_MINUTE = f"{BOOT}echo 60 > agent; echo booted"
SENDS = [*MANAGED, "cloudwatch:PutMetricData"]
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    folder = tmp_path_factory.mktemp("plugin")
    write_plugin(folder, "watched", PLUGIN)
    with pytest.MonkeyPatch.context() as patch:
        paths = [str(folder), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        settings = JobSettings(loopback=True)
        with job_aws(tmp_path_factory.mktemp("agents"), settings) as started:
            yield started


class AgentBench(CommandBench):
    """Instances with agents, of one test."""

    def __init__(self, aws: EmbeddedAws) -> None:
        super().__init__(aws)
        self.cloudwatch = aws.client("cloudwatch")

    def start(self, script: str = EACH_MINUTE, *, subnet: str = "", sends: bool = True) -> str:
        """Launch an instance that has booted; return its id."""
        image = self.ec2.register_image(Name=f"watched-{self.name}-{len(script)}-{subnet}")
        [instance] = self.launch(
            ImageId=image["ImageId"],
            UserData=script,
            profile=self.profile(*(SENDS if sends else MANAGED)),
            SubnetId=subnet or self.subnet,
        )
        until(
            lambda: (
                "booted"
                in self.ec2.get_console_output(InstanceId=instance).get("Output", "").splitlines()
            ),
            "a boot",
        )
        return instance

    def values(self, instance: str) -> list[float]:
        """The value of each minute, the oldest first."""
        # What has passed is not known here, and nothing is newer than two hours.
        [found] = self.cloudwatch.get_metric_data(
            MetricDataQueries=[
                {
                    "Id": "m",
                    "MetricStat": {
                        "Metric": {
                            "Namespace": "Nodes",
                            "MetricName": "Value",
                            "Dimensions": [{"Name": "InstanceId", "Value": instance}],
                        },
                        "Period": 60,
                        "Stat": "Sum",
                    },
                }
            ],
            StartTime=datetime.now(UTC) - timedelta(hours=1),
            EndTime=datetime.now(UTC) + timedelta(days=4),
            ScanBy="TimestampAscending",
        )["MetricDataResults"]
        return list(found["Values"])

    def let_pass(self, minutes: float) -> None:
        self.aws.let_pass(hours=minutes / 60)

    def state(self) -> str:
        [alarm] = self.cloudwatch.describe_alarms(AlarmNames=[self.name])["MetricAlarms"]
        return str(alarm["StateValue"])


@pytest.fixture
def bench(aws: EmbeddedAws) -> AgentBench:
    return AgentBench(aws)


def test_an_agent_sends_once_its_instance_has_booted(bench: AgentBench) -> None:
    instance = bench.start()

    until(lambda: bench.values(instance), "a reading")
    assert bench.values(instance) == [1]


def test_an_agent_sends_each_minute_of_the_clock_what_it_reads(bench: AgentBench) -> None:
    instance = bench.start()
    until(lambda: bench.values(instance), "a reading")

    bench.let_pass(5)
    bench.wait(bench.send("echo 3 > $EMBEDDED_AWS_NODE/value", [instance]), instance)
    bench.let_pass(5)

    # One more when a minute of this machine ends meanwhile.
    found = bench.values(instance)
    assert found[:6] == [1] * 6
    assert found[-5:] == [3] * 5
    assert len(found) in (11, 12)


def test_of_a_long_time_the_last_hours_are_sent(bench: AgentBench) -> None:
    instance = bench.start()
    until(lambda: bench.values(instance), "a reading")

    bench.aws.let_pass(days=1)

    assert len(bench.values(instance)) in (1 + 180, 2 + 180)


def test_an_agent_sends_as_often_as_it_is_told_to(bench: AgentBench) -> None:
    instance = bench.start(f"{BOOT}echo 600 > agent; echo booted")
    until(lambda: bench.values(instance), "a reading")

    bench.let_pass(61)

    assert bench.values(instance) == [1] * 7


def test_an_agent_that_does_not_run_sends_nothing_and_makes_up_for_nothing(
    bench: AgentBench,
) -> None:
    instance = bench.start(f"{BOOT}echo booted")
    bench.let_pass(30)
    assert bench.values(instance) == []

    bench.wait(bench.send("echo 60 > $EMBEDDED_AWS_NODE/agent", [instance]), instance)
    bench.let_pass(3)

    assert len(bench.values(instance)) in (3, 4, 5)


@pytest.mark.parametrize("end", ["stop_instances", "terminate_instances"])
def test_an_instance_that_is_gone_sends_no_more(bench: AgentBench, end: str) -> None:
    instance, other = bench.start(), bench.start()
    until(lambda: bench.values(instance) and bench.values(other), "readings")
    before = bench.values(instance)

    getattr(bench.ec2, end)(InstanceIds=[instance])
    bench.let_pass(10)

    assert bench.values(instance) == before
    assert len(bench.values(other)) >= 11


def test_an_instance_that_is_started_again_sends_from_then_on(bench: AgentBench) -> None:
    instance = bench.start()
    until(lambda: bench.values(instance), "a reading")
    bench.ec2.stop_instances(InstanceIds=[instance])
    bench.let_pass(30)

    bench.ec2.start_instances(InstanceIds=[instance])
    until(lambda: len(bench.values(instance)) == 2, "another reading")
    bench.let_pass(5)

    assert len(bench.values(instance)) in (7, 8)


def test_what_the_role_may_not_send_is_refused_and_told(bench: AgentBench) -> None:
    instance = bench.start(sends=False)
    log = "cat $EMBEDDED_AWS_NODE/log"

    bench.let_pass(10)

    found = bench.wait(bench.send(log, [instance]), instance)
    assert bench.values(instance) == []
    assert (
        "is not authorized to perform: cloudwatch:PutMetricData" in found["StandardOutputContent"]
    )
    uses = bench.aws.roles(bench.name)
    assert any(each.action == "cloudwatch:PutMetricData" and each.denied for each in uses)


def test_a_closed_network_lets_no_reading_out(bench: AgentBench) -> None:
    vpc = bench.ec2.create_vpc(CidrBlock="10.30.0.0/16")["Vpc"]["VpcId"]
    closed = bench.ec2.create_subnet(VpcId=vpc, CidrBlock="10.30.0.0/20")["Subnet"]["SubnetId"]
    instance = bench.start(subnet=closed)

    bench.let_pass(5)
    assert bench.values(instance) == []

    bench.ec2.create_vpc_endpoint(
        VpcId=vpc,
        VpcEndpointType="Interface",
        ServiceName="com.amazonaws.us-west-2.monitoring",
        PrivateDnsEnabled=True,
    )
    bench.let_pass(5)
    assert len(bench.values(instance)) in (5, 6)


def test_alarms_are_judged_by_all_that_agents_send(bench: AgentBench) -> None:
    instance = bench.start()
    bench.cloudwatch.put_metric_alarm(
        AlarmName=bench.name,
        Namespace="Nodes",
        MetricName="Value",
        Dimensions=[{"Name": "InstanceId", "Value": instance}],
        Statistic="Maximum",
        Period=60,
        EvaluationPeriods=5,
        Threshold=2,
        ComparisonOperator="GreaterThanThreshold",
        TreatMissingData="notBreaching",
    )
    until(lambda: bench.values(instance), "a reading")
    bench.let_pass(10)
    well = bench.state()
    bench.wait(bench.send("echo 3 > $EMBEDDED_AWS_NODE/value", [instance]), instance)
    bench.let_pass(4)
    early = bench.state()
    bench.let_pass(2)
    high = bench.state()

    bench.ec2.terminate_instances(InstanceIds=[instance])
    bench.let_pass(10)

    assert (well, early, high, bench.state()) == ("OK", "OK", "ALARM", "OK")


def test_metrics_of_agents_are_listed(bench: AgentBench) -> None:
    instance = bench.start()

    def listed() -> list[str]:
        found = bench.cloudwatch.list_metrics(
            Namespace="Nodes", Dimensions=[{"Name": "InstanceId", "Value": instance}]
        )["Metrics"]
        return [json.dumps(each, sort_keys=True) for each in found]

    until(listed, "the metric")
    bench.let_pass(5)

    assert len(listed()) == 1
