"""What watches a cluster: its dashboard, alarms and rules, as they are in the template."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from trainshed import metrics
from trainshed.monitoring import Alarm, MonitoringPlan, Widget, monitoring_of
from trainshed.plan import ClusterPlan, Fleet, make_plan, plan_fleet
from trainshed.spec import ClusterSpec

TOPIC = "arn:aws:sns:us-west-2:123456789012:ops"
TYPES = {"neuron": "trn1.32xlarge", "nvidia": "p4d.24xlarge", "habana": "dl1.24xlarge"}
OF_EKS = {"kubernetes": {"version": "1.35", "access": [{"role": "Op"}]}}


def spec(orchestrator: str = "batch", maker: str = "neuron", **changes: Any) -> ClusterSpec:
    fields: dict[str, Any] = {
        "name": "OneCluster",
        "region": "us-west-2",
        "orchestrator": orchestrator,
        "instance": {"type": TYPES[maker], "nodes": {"max": 4}},
        "storage": {"lustre": {}},
        **(OF_EKS if orchestrator == "eks" else {}),
        **changes,
    }
    return ClusterSpec.model_validate(fields)


def watched(*args: Any, **changes: Any) -> MonitoringPlan:
    found = monitoring_of(make_plan(spec(*args, **changes)))
    assert found
    return found


def graphs_and_alarms(plan: MonitoringPlan) -> list[Widget | Alarm]:
    return [*plan.widgets, *plan.alarms]


def names(plan: MonitoringPlan) -> set[str]:
    return {each.name for each in plan.alarms}


@pytest.fixture(scope="module")
def template(synthesise: Callable[[Fleet], Path]) -> Callable[..., dict[str, Any]]:
    """The template of a cluster's stack."""

    def make(*args: Any, **changes: Any) -> dict[str, Any]:
        assembly = synthesise(plan_fleet([spec(*args, **changes)]))
        found: dict[str, Any] = json.loads((assembly / "OneCluster.template.json").read_text())
        return found

    return make


def resources(template: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each["Properties"] for each in template["Resources"].values() if each["Type"] == kind]


def known_metrics(plan: ClusterPlan) -> set[metrics.Metric]:
    """Those that nodes send, AWS sends, and what counts failed boots."""
    groups = (metrics.LUSTRE_METRICS, metrics.AUTO_SCALING_METRICS, metrics.RULE_METRICS)
    of_aws = {getattr(group, name) for group in groups for name in group.__slots__}
    cell = plan.ami.cell
    assert cell
    accelerator, _, agent = cell.partition("/")
    sent = metrics.sent_metrics(accelerator, agent, efa=bool(plan.devices.get("efa")))
    return {*sent, *of_aws, metrics.NODES_POWERED_OFF}


@pytest.mark.parametrize("maker", TYPES)
@pytest.mark.parametrize("orchestrator", ["batch", "ec2", "eks"])
def test_each_line_is_a_metric_that_somebody_sends(orchestrator: str, maker: str) -> None:
    plan = make_plan(spec(orchestrator, maker))
    watching = monitoring_of(plan)
    assert watching

    lines = [line for each in graphs_and_alarms(watching) for line in each.lines if line.metric]

    assert {line.metric for line in lines} <= known_metrics(plan)
    assert all(set(line.dimensions) == set(line.metric.dimensions) for line in lines if line.metric)


@pytest.mark.parametrize("maker", TYPES)
@pytest.mark.parametrize("orchestrator", ["batch", "ec2", "eks"])
def test_an_expression_is_made_of_lines_beside_it(orchestrator: str, maker: str) -> None:
    watching = watched(orchestrator, maker)

    for each in graphs_and_alarms(watching):
        ids = [line.id for line in each.lines]
        assert len(ids) == len(set(ids))
        # CloudWatch API reference, MetricDataQuery: it begins with a small letter.
        assert all(name[0].islower() and name.replace("_", "").isalnum() for name in ids)
        assert sum(line.shown for line in each.lines) >= 1
        for line in each.lines:
            # Functions of metric math are in capital letters.
            assert set(re.findall(r"\b[a-z]\w*", line.expression or "")) <= set(ids) - {line.id}


def test_alarms_are_about_what_the_accelerators_tell() -> None:
    every = {"no-progress", "retransmissions", "accelerator-fault", "lustre-full"}
    assert names(watched(maker="neuron")) == every
    assert names(watched(maker="nvidia")) == {*every, "hot", "lost-accelerator"}
    assert names(watched(maker="habana")) == {*every, "lost-accelerator"}


@pytest.mark.parametrize(
    ("maker", "busy", "mean"),
    [
        ("neuron", "busy > 0.5 ", "100 * raw_mean"),
        ("nvidia", "busy > 50 ", None),
        ("habana", "busy > 50 ", None),
    ],
)
def test_how_busy_accelerators_are_is_compared_in_the_unit_of_their_maker_and_shown_in_percent(
    maker: str, busy: str, mean: str | None
) -> None:
    plan = watched(maker=maker)

    [hangs] = [each for each in plan.alarms if each.name == "no-progress"]
    [graph] = [each for each in plan.widgets if each.title == "Accelerators, % busy"]
    assert busy in str(hangs.lines[-1].expression)
    shown = [line for line in graph.lines if line.shown]
    assert [line.label for line in shown] == ["mean", "most", "least"]
    assert shown[0].expression == mean


def test_an_error_that_a_job_may_have_made_is_no_fault_of_its_gpu() -> None:
    [fault] = [each for each in watched(maker="nvidia").alarms if each.name == "accelerator-fault"]

    found = {line.metric.name for line in fault.lines if line.metric}
    assert "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL" in found
    assert "DCGM_FI_DEV_XID_ERRORS" not in found


def test_a_single_node_makes_progress_without_efa() -> None:
    one = {"type": "trn1.32xlarge", "nodes": {"max": 1}}

    assert "no-progress" not in names(watched(instance=one))


def test_gpus_of_eks_are_watched_as_those_of_other_clusters() -> None:
    of_gpus = {"hot", "lost-accelerator", "accelerator-fault", "no-progress"}
    found = watched("eks", "nvidia")

    assert names(found) == {*of_gpus, "retransmissions", "lustre-full", "nodes-missing"}
    assert [each for each in found.widgets if each.title.startswith("Accelerators")]


def test_how_full_an_existing_file_system_is_needs_no_size() -> None:
    lustre = {"lustre": {"existing": "fs-0123456789abcdef0"}}

    found = watched(storage=lustre, zone="usw2-az4")

    [alarm] = [each for each in found.alarms if each.name == "lustre-full"]
    [graph] = [each for each in found.widgets if each.title == "Lustre, % full"]
    assert alarm.lines == graph.lines
    assert [line.metric.name for line in alarm.lines if line.metric] == [
        "FreeDataStorageCapacity",
        "PhysicalDiskUsage",
    ]


def test_what_is_free_is_asked_of_all_storage_targets(
    template: Callable[..., dict[str, Any]],
) -> None:
    found = template("ec2", storage={"lustre": {"existing": "fs-0123456789abcdef0"}})

    [alarm] = [
        each
        for each in resources(found, "AWS::CloudWatch::Alarm")
        if each["AlarmName"].endswith("-lustre-full")
    ]
    free, used, full = alarm["Metrics"]
    text = "".join(
        part if isinstance(part, str) else "ID" for part in free["Expression"]["Fn::Join"][1]
    )
    assert text == (
        'SELECT SUM(FreeDataStorageCapacity) FROM SCHEMA("AWS/FSx", FileSystemId, StorageTargetId) '
        "WHERE FileSystemId = 'ID'"
    )
    assert (free["Period"], "MetricStat" in free, "Period" in used) == (60, False, False)
    assert (full["Expression"], full["ReturnData"]) == ("100 * used / (used + free)", True)


def test_a_dashboard_is_within_its_grid(template: Callable[..., dict[str, Any]]) -> None:
    [dashboard] = resources(template("ec2", storage={}), "AWS::CloudWatch::Dashboard")

    widgets = json.loads(dashboard["DashboardBody"])["widgets"]

    places = [(each["x"], each["y"]) for each in widgets]
    # The dashboards of an account are the same in all of its regions.
    assert dashboard["DashboardName"] == "OneCluster-us-west-2"
    assert len(set(places)) == len(widgets)
    assert all(each["x"] + each["width"] <= 24 for each in widgets)
    assert {each["properties"]["region"] for each in widgets} == {"us-west-2"}


def test_alarms_and_rules_publish_to_the_topic_that_is_asked_for(
    template: Callable[..., dict[str, Any]],
) -> None:
    found = template(notify=TOPIC)
    alarms = resources(found, "AWS::CloudWatch::Alarm")
    targets = [
        target
        for rule in resources(found, "AWS::Events::Rule")
        for target in rule.get("Targets", [])
        if target["Id"] == "Topic"
    ]

    assert {each["AlarmName"].removeprefix("OneCluster-") for each in alarms} == names(watched())
    assert [each["AlarmActions"] for each in alarms] == [[TOPIC]] * len(alarms)
    assert [each["Arn"] for each in targets] == [TOPIC]


def test_without_a_topic_alarms_and_rules_tell_nobody(
    template: Callable[..., dict[str, Any]],
) -> None:
    found = template()

    alarms = resources(found, "AWS::CloudWatch::Alarm")
    assert alarms
    assert not [each for each in alarms if "AlarmActions" in each]
    assert "DashboardUrl" in found["Outputs"]


def test_a_cluster_without_monitoring_has_none_of_it(
    template: Callable[..., dict[str, Any]],
) -> None:
    found = template("ec2", monitoring=False)

    assert not resources(found, "AWS::CloudWatch::Alarm")
    assert not resources(found, "AWS::CloudWatch::Dashboard")
    assert "DashboardUrl" not in found["Outputs"]
    [group] = resources(found, "AWS::AutoScaling::AutoScalingGroup")
    assert "MetricsCollection" not in group


def test_the_group_of_plain_nodes_sends_how_many_it_wants(
    template: Callable[..., dict[str, Any]],
) -> None:
    [group] = resources(template("ec2"), "AWS::AutoScaling::AutoScalingGroup")

    assert group["MetricsCollection"] == [{"Granularity": "1Minute"}]


def test_the_group_of_a_node_group_is_watched_by_the_name_that_eks_gives_it(
    template: Callable[..., dict[str, Any]],
) -> None:
    found = template("eks")

    [asked] = resources(found, "Custom::ScalingGroupName")
    [missing] = [
        each
        for each in resources(found, "AWS::CloudWatch::Alarm")
        if each["AlarmName"] == "OneCluster-nodes-missing"
    ]
    values = [
        dimension["Value"]
        for query in missing["Metrics"]
        if "MetricStat" in query
        for dimension in query["MetricStat"]["Metric"]["Dimensions"]
    ]
    assert [each["Fn::GetAtt"][1] for each in values] == ["Name", "Name"]
    assert asked["NodegroupName"]["Fn::GetAtt"][1] == "NodegroupName"
    [dashboard] = resources(found, "AWS::CloudWatch::Dashboard")
    assert values[0] in dashboard["DashboardBody"]["Fn::Join"][1]


def test_a_cluster_of_eks_without_monitoring_does_not_ask_for_the_name(
    template: Callable[..., dict[str, Any]],
) -> None:
    assert not resources(template("eks", monitoring=False), "Custom::ScalingGroupName")


def test_the_end_of_a_block_is_told(template: Callable[..., dict[str, Any]]) -> None:
    block = "cr-0123456789abcdef0"

    found = template(capacity={"capacity_block": block}, zone="usw2-az4", notify=TOPIC)

    [rule] = [
        each
        for each in resources(found, "AWS::Events::Rule")
        if "Capacity Block" in str(each["EventPattern"])
    ]
    assert rule["EventPattern"]["detail"] == {"capacity-reservation-id": [block]}
    # AWS's documents have had both names.
    assert set(rule["EventPattern"]["detail-type"]) == {
        "Capacity Block Expiration Warning",
        "Capacity Block Reservation Expiration Warning",
    }
    assert rule["Targets"][0]["Arn"] == TOPIC


FIRST, SECOND = "cr-0123456789abcdef0", "cr-0fedcba9876543210"


def calendar(kind: str) -> dict[str, Any]:
    windows = [
        {kind: FIRST, "from": "2126-12-01T11:30Z", "until": "2126-12-08T11:30Z"},
        {kind: SECOND, "from": "2126-12-10T11:30Z", "until": "2127-01-01T01:15Z"},
    ]
    return {"capacity": {"calendar": windows}, "zone": "usw2-az4"}


@pytest.mark.parametrize(
    ("kind", "then"),
    [
        ("capacity_block", "EC2 begins to end its instances at 00:45"),
        ("reservation", "those that run go on, on demand"),
    ],
)
def test_people_are_told_two_hours_before_a_window_ends(kind: str, then: str) -> None:
    first, second = watched(**calendar(kind)).messages

    assert (f"{first.at}", f"{second.at}") == (
        "2126-12-08 09:30:00+00:00",
        "2126-12-31 23:15:00+00:00",
    )
    assert second.subject == f"{SECOND} ends in two hours: OneCluster"
    assert f"{SECOND} ends at 2127-01-01 01:15 UTC" in second.says
    assert then in second.says


def test_a_block_without_a_window_has_no_message_of_its_own() -> None:
    assert watched(capacity={"capacity_block": FIRST}, zone="usw2-az4").messages == ()


def test_each_window_has_a_schedule_that_may_publish_to_the_topic_alone(
    template: Callable[..., dict[str, Any]],
) -> None:
    found = template(notify=TOPIC, **calendar("capacity_block"))

    schedules = resources(found, "AWS::Scheduler::Schedule")
    expressions = {each["ScheduleExpression"] for each in schedules}
    assert expressions == {"cron(30 9 8 12 ? 2126)", "cron(15 23 31 12 ? 2126)"}
    assert all(json.loads(each["Target"]["Input"])["TopicArn"] == TOPIC for each in schedules)
    [role] = {each["Target"]["RoleArn"]["Fn::GetAtt"][0] for each in schedules}
    [policy] = [
        each for each in resources(found, "AWS::IAM::Policy") if {"Ref": role} in each["Roles"]
    ]
    publish, encrypt = policy["PolicyDocument"]["Statement"]
    assert (publish["Action"], publish["Resource"]) == ("sns:Publish", TOPIC)
    assert encrypt["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]


@pytest.mark.parametrize("changes", [{}, {"notify": TOPIC, "monitoring": False}])
def test_there_are_no_schedules_where_nobody_is_told(
    template: Callable[..., dict[str, Any]], changes: dict[str, Any]
) -> None:
    found = template(**calendar("capacity_block"), **changes)

    assert resources(found, "AWS::Scheduler::Schedule") == []
