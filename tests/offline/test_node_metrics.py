"""Nodes of a deployed cluster send their metrics, with their own role."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_bench import CommandBench, until

from embedded_aws.embedded import EmbeddedAws
from trainshed.metrics import CLUSTER, INSTANCE, NAMESPACE, sent_metrics

CLUSTER_FILE = """name: Watched
region: us-west-2
orchestrator: ec2
instance: {type: p4d.24xlarge, nodes: {max: 2}}
"""
TEMPERATURE, USE = "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_UTIL"
FAULT = "DCGM_FI_DEV_ROW_REMAP_FAILURE"
EXPORTER = "$EMBEDDED_AWS_NODE/run/exporters/nvidia-dcgm-exporter"
LOG = "$EMBEDDED_AWS_NODE/opt/aws/amazon-cloudwatch-agent/logs/amazon-cloudwatch-agent.log"
# The exporter answers as at the boot.
WELL = f"[ -e well ] || cp {EXPORTER} well; cp well {EXPORTER}"


@pytest.fixture(scope="module")
def aws(
    write_project: Callable[[str], Path],
    deploy_project: Callable[..., AbstractContextManager[EmbeddedAws]],
) -> Iterator[EmbeddedAws]:
    """An embedded AWS with the cluster deployed, whose nodes have booted."""
    project = write_project(CLUSTER_FILE)
    with deploy_project(project, "WatchedNetwork", "Watched", cell="nvidia/ec2", speed=1) as found:
        yield found


class Watched:
    """The cluster, whose two nodes have booted and are well.

    Args:
        aws: where it is.
    """

    def __init__(self, aws: EmbeddedAws) -> None:
        self.aws, self._bench = aws, CommandBench(aws)
        self._cloudwatch = aws.client("cloudwatch")
        until(lambda: len(self.booted()) == 2, "the boots")
        self.nodes = self.booted()
        for node in self.nodes:
            self.run(node, WELL)

    def booted(self) -> list[str]:
        found = self.aws.client("ec2").describe_instances(
            Filters=[
                {"Name": "tag:trainshed:boot", "Values": ["ok"]},
                {"Name": "instance-state-name", "Values": ["running"]},
            ]
        )
        return [
            each["InstanceId"] for group in found["Reservations"] for each in group["Instances"]
        ]

    def run(self, node: str, script: str) -> str:
        """Run a script on a node; return its output."""
        done = self._bench.wait(self._bench.send(script, [node]), node)
        assert done["Status"] == "Success", done
        return str(done["StandardOutputContent"])

    def set_value(self, node: str, metric: str, value: int) -> None:
        """Have the exporter of a node answer otherwise about its first GPU."""
        self.run(
            node, f"""sed -i 's/^{metric}{{gpu="0"}} .*/{metric}{{gpu="0"}} {value}/' {EXPORTER}"""
        )

    def let_pass(self, minutes: int) -> None:
        self.aws.let_pass(hours=minutes / 60)

    def alarms(self) -> set[str]:
        """Those that have gone off, by their names without the cluster's."""
        found = self._cloudwatch.describe_alarms(StateValue="ALARM")["MetricAlarms"]
        return {each["AlarmName"].removeprefix("Watched-") for each in found}

    def samples(self, metric: str, **dimensions: str) -> float:
        """How many there are of a metric."""
        points = self._statistics(metric, "SampleCount", **dimensions)
        return float(sum(points))

    def largest(self, metric: str, **dimensions: str) -> float:
        return max(self._statistics(metric, "Maximum", **dimensions))

    def _statistics(self, metric: str, statistic: str, **dimensions: str) -> list[float]:
        # What has passed on the clock is not known here.
        points = self._cloudwatch.get_metric_statistics(
            Namespace=NAMESPACE,
            MetricName=metric,
            Dimensions=[{"Name": key, "Value": value} for key, value in dimensions.items()],
            StartTime=datetime.now(UTC) - timedelta(hours=1),
            EndTime=datetime.now(UTC) + timedelta(days=2),
            Period=3600,
            Statistics=[statistic],
        )["Datapoints"]
        return [each[statistic] for each in points]

    def listed(self, *dimensions: str) -> set[str]:
        """Names of the cluster's metrics with exactly these dimensions."""
        pages = self._cloudwatch.get_paginator("list_metrics").paginate(Namespace=NAMESPACE)
        return {
            each["MetricName"]
            for page in pages
            for each in page["Metrics"]
            if {it["Name"] for it in each["Dimensions"]} == set(dimensions)
        }


@pytest.fixture
def watched(aws: EmbeddedAws) -> Watched:
    found = Watched(aws)
    # What other tests did is past.
    found.let_pass(60)
    assert found.alarms() == set()
    return found


def test_nodes_send_what_the_cluster_has_for_its_nodes_and_itself(watched: Watched) -> None:
    expected = {each.name for each in sent_metrics("nvidia", "ec2", efa=True)}

    assert watched.listed(CLUSTER) == expected
    assert watched.listed(CLUSTER, INSTANCE) == expected


def test_a_fault_is_of_its_node_and_the_cluster_and_an_alarm_goes_off(watched: Watched) -> None:
    faulty, other = watched.nodes

    watched.set_value(faulty, FAULT, 1)
    # Alarms go by minutes that have ended.
    watched.let_pass(2)

    assert watched.largest(FAULT, **{CLUSTER: "Watched"}) == 1
    assert watched.largest(FAULT, **{CLUSTER: "Watched", INSTANCE: faulty}) == 1
    assert watched.largest(FAULT, **{CLUSTER: "Watched", INSTANCE: other}) == 0
    assert watched.alarms() == {"accelerator-fault"}


def test_a_gpu_that_is_hot_for_five_minutes_is_told_and_then_no_more(watched: Watched) -> None:
    watched.set_value(watched.nodes[0], TEMPERATURE, 87)
    watched.let_pass(30)
    as_hot_as_it_may_be = watched.alarms()
    watched.set_value(watched.nodes[0], TEMPERATURE, 88)
    watched.let_pass(4)
    early = watched.alarms()
    watched.let_pass(2)
    late = watched.alarms()
    watched.set_value(watched.nodes[0], TEMPERATURE, 60)
    watched.let_pass(2)

    assert (as_hot_as_it_may_be, early, late, watched.alarms()) == (set(), set(), {"hot"}, set())


def test_a_gpu_that_is_gone_for_fifteen_minutes_is_told(watched: Watched) -> None:
    watched.run(watched.nodes[0], f"""sed -i '/gpu="7"/d' {EXPORTER}""")
    watched.let_pass(10)
    early = watched.alarms()

    watched.let_pass(6)

    assert (early, watched.alarms()) == (set(), {"lost-accelerator"})


def test_a_node_that_ends_sends_no_more_and_no_alarm_takes_it_for_a_lost_gpu(
    watched: Watched,
) -> None:
    gone, other = watched.nodes
    of_gone, of_other = ({CLUSTER: "Watched", INSTANCE: each} for each in (gone, other))
    before = watched.samples(USE, **of_gone), watched.samples(USE, **of_other)

    watched.aws.client("ec2").terminate_instances(InstanceIds=[gone])
    watched.let_pass(20)

    assert watched.samples(USE, **of_gone) == before[0]
    assert watched.samples(USE, **of_other) - before[1] in (8 * 20, 8 * 21)
    assert "lost-accelerator" not in watched.alarms()


def test_what_a_role_may_not_send_is_missing_and_in_the_agents_log(watched: Watched) -> None:
    iam = watched.aws.client("iam")
    [role] = [
        each.role for each in watched.aws.roles("Watched") if each.action == "logs:PutLogEvents"
    ]
    denial = {"Effect": "Deny", "Action": "logs:PutLogEvents", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [denial]})
    of_cluster = {CLUSTER: "Watched"}
    before = watched.samples(USE, **of_cluster), watched.samples("mem_used_percent", **of_cluster)

    iam.put_role_policy(RoleName=role, PolicyName="Denied", PolicyDocument=document)
    watched.let_pass(20)
    after = watched.samples(USE, **of_cluster), watched.samples("mem_used_percent", **of_cluster)
    iam.delete_role_policy(RoleName=role, PolicyName="Denied")

    assert after[0] == before[0]
    assert after[1] >= before[1] + 2 * 20
    assert "may not call logs:PutLogEvents in us-west-2" in watched.run(
        watched.nodes[0], f"cat {LOG}"
    )
    # No data are well.
    assert watched.alarms() == set()
