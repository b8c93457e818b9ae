"""`trainshed status` and `trainshed top` of a cluster of plain EC2 nodes, which have booted."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import deployed_jobs
import pytest
from accelerator_reports import neuron_monitor, neuron_report
from command_bench import until
from command_line import Answer
from terminal import session

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from trainshed.aws import Region
from trainshed.status import usage
from trainshed.status.usage import UsageAsker

CLUSTER = """name: PlainCluster
region: us-west-2
orchestrator: ec2
instance: {type: trn1.32xlarge, nodes: {max: 3}}
storage:
  lustre: {capacity_gib: 1200, mount: /fsx}
  efs: {mount: /home}
"""
STACKS = ("PlainNetwork", "PlainStorage", "PlainEfs", "PlainCluster")
Status = Callable[..., Answer]
outputs = partial(deployed_jobs.outputs, cluster="PlainCluster")


@pytest.fixture(scope="module")
def project(write_project: Callable[[str], Path]) -> Path:
    return write_project(CLUSTER)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stand-in of neuron-monitor, which fails on nodes that have a file there."""
    folder = tmp_path_factory.mktemp("tools")
    report = neuron_report(16, {0: 80.0, 1: 60.0})
    failing = f'[ ! -e "{folder}/$EMBEDDED_AWS_ADDRESS" ] || exit 1\n'
    shebang, script = neuron_monitor(report).split("\n", 1)
    (folder / "neuron-monitor").write_text(f"{shebang}\n{failing}{script}")
    (folder / "neuron-monitor").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def aws(
    project: Path, tools: Path, deploy_project: Callable[..., AbstractContextManager[EmbeddedAws]]
) -> Iterator[EmbeddedAws]:
    with deploy_project(project, *STACKS, cell="neuron/ec2", tools=[tools]) as found:
        yield found


@pytest.fixture
def run(
    aws: EmbeddedAws,
    project: Path,
    trainshed: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> Status:
    until(lambda: len(running(aws)) == 3, "the third node")
    aws.lead_here(monkeypatch)
    monkeypatch.chdir(project)

    return trainshed


@pytest.fixture
def status(run: Status) -> Status:
    """`trainshed status` of the cluster, or of a file."""

    def ask(*words: str) -> Answer:
        cluster = () if words and words[0].endswith(".yaml") else ("PlainCluster",)
        return run("status", *cluster, *words)

    return ask


@pytest.fixture
def top(run: Status) -> Status:
    """`trainshed top` of the cluster, once."""
    return lambda *options: run("top", "PlainCluster", "--once", *options)


def running(aws: EmbeddedAws) -> list[str]:
    """Return the ids of the nodes that have booted."""
    found = aws.client("ec2").describe_instances(
        Filters=[
            {"Name": "instance-state-name", "Values": ["running"]},
            {"Name": "tag:trainshed:boot", "Values": ["ok"]},
        ]
    )
    return [each["InstanceId"] for group in found["Reservations"] for each in group["Instances"]]


def tag(aws: EmbeddedAws, instance: str, key: str, value: str) -> None:
    aws.client("ec2").create_tags(Resources=[instance], Tags=[{"Key": key, "Value": value}])


def lines(done: Answer, label: str) -> list[str]:
    """Return what is shown under a label."""
    return [
        line.removeprefix(label).strip() for line in done.out.splitlines() if line.startswith(label)
    ]


def test_a_cluster_that_is_well_is_on_one_screen(aws: EmbeddedAws, status: Status) -> None:
    done = status()

    assert done.code == 0, done.out
    first, *_ = done.out.splitlines()
    assert first.startswith("PlainCluster in us-west-2, orchestrator ec2, 20")
    assert lines(done, "stacks") == [f"CREATE_COMPLETE: {', '.join(STACKS)}"]
    assert lines(done, "nodes") == ["3 wanted, 3 running, at most 3"]
    assert lines(done, "jobs") == ["none"]
    lustre, efs = lines(done, "storage")
    assert lustre.endswith(" AVAILABLE, 0 of 1,200 GiB (0 %)")
    assert efs.endswith(" available, 0.0 GiB")
    [cost] = lines(done, "cost")
    # Three trn1.32xlarge, and some cents for all else.
    assert cost.startswith("64.9")
    assert lines(done, "alarms")[0].startswith("0 of ")
    assert lines(done, "dashboard") == [outputs(aws)["DashboardUrl"]]
    assert not lines(done, "wrong") + lines(done, "not known")


def test_json_has_each_node_and_what_is_counted(aws: EmbeddedAws, status: Status) -> None:
    found = status("--json").json

    assert found["stacks"] == dict.fromkeys(STACKS, "CREATE_COMPLETE")
    assert found["nodes"]["counts"] == {"running": 3}
    assert {each["instance_id"] for each in found["nodes"]["nodes"]} == {*running(aws)}
    assert found["problems"] == []


def test_nodes_are_shown_by_their_health(aws: EmbeddedAws, status: Status) -> None:
    failed, drained, _ = running(aws)
    tag(aws, failed, "trainshed:boot", "failed: 7 of 8 efa devices are on the PCI bus")
    tag(aws, drained, "trainshed:drained", "yes")

    done = status()

    tag(aws, failed, "trainshed:boot", "ok")
    aws.client("ec2").delete_tags(Resources=[drained], Tags=[{"Key": "trainshed:drained"}])
    assert done.code == 1
    [counts] = lines(done, "nodes")
    assert sorted(counts.split(", ")) == sorted(
        ["3 wanted", "1 running", "1 drained", "1 failed", "at most 3"]
    )
    assert f"{drained} drained: somebody has drained it" in done.out
    assert lines(done, "wrong") == [
        f"node {failed} is failed: 7 of 8 efa devices are on the PCI bus"
    ]


def test_failed_boots_and_suspended_launches_are_wrong(aws: EmbeddedAws, status: Status) -> None:
    gone, _, _ = running(aws)
    group = {"AutoScalingGroupName": outputs(aws)["NodeGroup"]}
    aws.client("autoscaling").suspend_processes(**group, ScalingProcesses=["Launch"])
    tag(aws, gone, "trainshed:boot", "failed: /fsx: not mounted")
    aws.client("ec2").terminate_instances(InstanceIds=[gone])

    done = status()

    aws.client("autoscaling").resume_processes(**group)
    aws.client("ec2").delete_tags(Resources=[gone], Tags=[{"Key": "trainshed:boot"}])
    assert done.code == 1
    boot, missing, suspended = lines(done, "wrong")
    assert boot == f"1 node has failed the checks: /fsx: not mounted ({gone})"
    assert missing == "1 of 3 nodes that are wanted are not there"
    assert suspended.startswith("the launches of its group are suspended, ")
    assert suspended.endswith(f"--auto-scaling-group-name {outputs(aws)['NodeGroup']}")
    assert lines(done, "cost")[0].startswith("43.4")


def test_a_launch_that_fails_is_wrong(aws: EmbeddedAws, status: Status) -> None:
    gone, _, _ = running(aws)
    aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            message="there is no trn1.32xlarge",
            count=None,
        )
    )
    aws.client("ec2").terminate_instances(InstanceIds=[gone])
    until(lambda: "there is no trn1.32xlarge" in status().out, "the failed launch")

    done = status()

    aws.fail()
    assert done.code == 1
    assert any(
        "the newest launch of the Auto Scaling group" in each for each in lines(done, "wrong")
    )


def test_an_alarm_is_wrong(aws: EmbeddedAws, status: Status) -> None:
    cloudwatch = aws.client("cloudwatch")
    name, *_ = sorted(each["AlarmName"] for each in cloudwatch.describe_alarms()["MetricAlarms"])
    answers: list[Answer] = []

    def rings() -> bool:
        # It is well again as soon as its data are judged, once a minute.
        cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="too hot")
        answers.append(status())
        return answers[-1].code == 1

    until(rings, "the alarm")

    cloudwatch.set_alarm_state(AlarmName=name, StateValue="OK", StateReason="well")
    done = answers[-1]
    assert lines(done, "alarms")[0].startswith("1 of ")
    assert f"alarm {name}: too hot" in lines(done, "wrong")


def test_what_may_not_be_looked_at_is_named_and_not_wrong(aws: EmbeddedAws, status: Status) -> None:
    aws.fail(
        Fault(
            service="fsx",
            operation="DescribeFileSystems",
            code="AccessDeniedException",
            message="no",
            count=None,
        ),
        Fault(
            service="ssm",
            operation="DescribeInstanceInformation",
            code="AccessDeniedException",
            message="no",
            count=None,
        ),
    )

    done = status()

    aws.fail()
    refused = lines(done, "not known")
    assert [each.split(" in us-west-2")[0] for each in refused] == [
        "the credentials may not call ssm:DescribeInstanceInformation",
        "the credentials may not call fsx:DescribeFileSystems",
    ]
    assert lines(done, "nodes") == ["3 wanted, 3 running, at most 3"]


def test_what_is_refused_is_named_once_and_hides_nothing_else(
    aws: EmbeddedAws, status: Status
) -> None:
    aws.fail(
        *(
            Fault(
                service=service,
                operation=operation,
                code="AccessDeniedException",
                message="no",
                count=None,
            )
            for service, operation in (
                ("ec2", "DescribeInstances"),
                ("monitoring", "GetMetricStatistics"),
            )
        )
    )

    done = status()

    aws.fail()
    assert [each.split(" in us-west-2")[0] for each in lines(done, "not known")] == [
        "the credentials may not call ec2:DescribeInstances",
        "the credentials may not call cloudwatch:GetMetricStatistics",
    ]
    lustre, _ = lines(done, "storage")
    assert lustre.endswith(" AVAILABLE, 1,200 GiB; how much is used is not known")


def test_what_is_not_deployed_is_wrong_and_costs_nothing(
    aws: EmbeddedAws, status: Status, project: Path
) -> None:
    (project / "other.yaml").write_text(CLUSTER.replace("PlainCluster", "OtherCluster"))

    done = status("other.yaml")

    assert done.code == 1
    assert lines(done, "wrong") == [
        f"stack Other{each} is not deployed: npx cdk deploy OtherCluster"
        for each in ("Network", "Storage", "Efs", "Cluster")
    ]
    assert not lines(done, "nodes") + lines(done, "cost")


def test_top_has_what_all_nodes_do(aws: EmbeddedAws, top: Status) -> None:
    done = top("--json")

    assert done.code == 0, done.out
    assert {each["instance_id"] for each in done.json} == {*running(aws)}
    for each in done.json:
        first, second, *_ = each["accelerators"]
        assert len(each["accelerators"]) == 16
        assert (first["busy_percent"], first["used_mib"], first["total_mib"]) == (70, 2048, 32768)
        assert second["busy_percent"] == 0
        assert each["cpus"] > 0
        assert each["memory_total_mib"] > each["memory_used_mib"] > 0


def test_top_has_a_line_for_each_node(aws: EmbeddedAws, top: Status) -> None:
    done = top()

    first, *rows = done.out.splitlines()
    assert first.endswith(" UTC, 3 of 3 nodes; out, in: GB/s of EFA")
    lines_of = [[cell.strip() for cell in row.split("│")] for row in rows if "i-" in row]
    # Of 16 devices one is busy; of 16 times 32 GiB, two are used.
    assert [row[3:6] for row in lines_of] == [["ok", "4 (0-70)", "0"]] * 3
    assert [row[1] for row in lines_of] == ["0", "1", "2"]


def test_top_has_each_accelerator_of_one_node(aws: EmbeddedAws, top: Status) -> None:
    done = top("--node", "1")

    cells = [[cell.strip() for cell in row.split("│")] for row in done.out.splitlines()]
    assert ["0", "70", "2.0 of 32", "", "", "0"] in [row[1:-1] for row in cells]
    assert sum(len(row) > 2 and row[1].isdigit() for row in cells) == 16
    assert "EFA, " in done.out
    assert "load " in done.out


def test_top_names_a_node_whose_tool_fails(aws: EmbeddedAws, tools: Path, top: Status) -> None:
    ec2 = aws.client("ec2")
    failing = running(aws)[1]
    [found] = ec2.describe_instances(InstanceIds=[failing])["Reservations"]
    file = tools / found["Instances"][0]["PrivateIpAddress"]
    file.touch()

    done = top()

    file.unlink()
    assert done.code == 1
    [line] = [each for each in done.out.splitlines() if "no report within 10 seconds" in each]
    assert failing in line


def test_a_node_that_is_late_is_named_and_not_asked_twice(
    aws: EmbeddedAws, run: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker, nodes = UsageAsker(Region("us-west-2", aws.client)), running(aws)
    before = len(aws.client("ssm").list_commands()["Commands"])
    # The program looks for a second.
    monkeypatch.setattr(usage, "_PATIENCE_SECONDS", 0.0)

    late = asker.ask(nodes)
    monkeypatch.setattr(usage, "_PATIENCE_SECONDS", 60.0)
    answered = asker.ask(nodes)

    assert {each.problem for each in late} == {"does not answer within 0 seconds"}
    assert {each.problem for each in answered} == {""}
    assert len(aws.client("ssm").list_commands()["Commands"]) == before + 1


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("no-such-program", "its AMI has no trainshed-usage; bake and publish one"),
        ("exit 3", "its command ended with Failed"),
        ("echo 7", "trainshed-usage printed something else"),
    ],
)
def test_an_answer_that_is_none_is_said(
    aws: EmbeddedAws, run: Status, monkeypatch: pytest.MonkeyPatch, script: str, problem: str
) -> None:
    monkeypatch.setattr(usage, "_SCRIPT", [script])

    [found] = UsageAsker(Region("us-west-2", aws.client)).ask(running(aws)[:1])

    assert found.problem.startswith(problem)


def test_a_node_without_an_agent_is_named(aws: EmbeddedAws, run: Status) -> None:
    gone = "i-0123456789abcdef0"

    found = UsageAsker(Region("us-west-2", aws.client)).ask([gone, running(aws)[0]])

    assert [each.problem for each in found] == ["Systems Manager does not reach its agent", ""]


def test_top_looks_again_until_ctrl_c(aws: EmbeddedAws, run: Status, project: Path) -> None:
    command = [sys.executable, "-m", "trainshed.cli", "top", "PlainCluster", "--interval", "1"]
    environment = {**os.environ, "COLUMNS": "120", "LINES": "50"}
    with session(command, folder=project, environment=environment) as terminal:
        for _ in range(2):
            terminal.wait_for(b"3 of 3 nodes")
        terminal.stop("Ctrl-C")

    assert terminal.process.returncode == 130


def test_the_alarm_about_missing_nodes_goes_off_once_one_is_lost(
    aws: EmbeddedAws, status: Status
) -> None:
    aws.let_pass(hours=0.5)
    well = status()
    aws.fail(
        Fault(
            service="ec2", operation="RunInstances", code="InsufficientInstanceCapacity", count=None
        )
    )
    aws.client("ec2").terminate_instances(InstanceIds=running(aws)[:1])
    until(lambda: len(running(aws)) == 2, "the end of a node")

    aws.let_pass(hours=0.5)

    lost = status()
    aws.fail()
    assert not [each for each in lines(well, "wrong") if "alarm" in each]
    assert "PlainCluster-nodes-missing" in "".join(lines(lost, "wrong"))
