"""How jobs are looked up in every cluster, and looked at: in few calls, and ever less often."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from trainshed.aws import AwsRefusal
from trainshed.cli.job_display import display
from trainshed.errors import Failure, TrainshedError
from trainshed.jobs.model import EndCause, Job, JobState, ranges
from trainshed.jobs.scheduler import UnseenJobs, find_job, find_scheduler
from trainshed.jobs.watching import watch

NODES = 250


def stack(name: str, **outputs: str) -> dict[str, Any]:
    found = [{"OutputKey": key, "OutputValue": value} for key, value in outputs.items()]
    return {"StackName": name, "Outputs": found}


def batch_stack(name: str, queue: str) -> dict[str, Any]:
    return stack(name, Orchestrator="batch", JobQueue=queue, JobDefinition="arn:definition")


EC2_STACK = stack(
    "PlainCluster", Orchestrator="ec2", JobDocument="document", NodeGroup="nodes", LogGroup="jobs"
)


class Batch:
    """A region with one job, which is over after some looks.

    Args:
        statuses: one for each look.
    """

    def __init__(self, *statuses: str) -> None:
        self.name = "us-west-2"
        self.statuses = list(statuses)
        self.asked: list[list[str]] = []

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        assert (service, operation) == ("batch", "describe_jobs")
        self.asked.append(params["jobs"])
        if params["jobs"] == ["job-1"] and len(self.statuses) > 1:
            del self.statuses[0]
        # In another order than asked.
        return {"jobs": [self._job(each) for each in reversed(params["jobs"])]}

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Any:
        # A stack without outputs is no cluster's.
        stacks = [{"StackName": "TrainNetwork"}, batch_stack("TrainCluster", "arn:queue")]
        return {"Stacks": stacks, "jobSummaryList": []}[key]

    def _job(self, job_id: str) -> dict[str, Any]:
        index = job_id.partition("#")[2]
        details: dict[str, Any] = {"nodeProperties": {"numNodes": NODES}}
        if index:
            details = {"nodeDetails": {"nodeIndex": int(index), "isMainNode": index == "0"}}
        return {
            "jobId": job_id,
            "jobName": "pretrain",
            "jobQueue": "arn:queue",
            "status": self.statuses[0],
            "createdAt": 1000,
            **details,
        }


def test_a_node_that_pulls_the_container_image_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    region: Any = Batch("STARTING")
    _, job = find_job(region, "job-1")

    with display() as show:
        show(job, ["a line"])

    [shown] = [line for line in capsys.readouterr().out.splitlines() if "pulls" in line]
    assert shown.endswith(f" node 0-{NODES - 1} STARTING: pulls the container image")


class BetweenAttempts(Batch):
    """A job whose only attempt so far is over on each node."""

    def _job(self, job_id: str) -> dict[str, Any]:
        status = "FAILED" if "#" in job_id else "RUNNING"
        attempts = [{"container": {"exitCode": 7}}]
        return super()._job(job_id) | {"status": status, "attempts": attempts}


class OneContainer(Batch):
    """A job that is no multi-node one."""

    def _job(self, job_id: str) -> dict[str, Any]:
        described = super()._job(job_id)
        del described["nodeProperties"]
        return described


@pytest.mark.parametrize(("kind", "multi_node"), [(Batch, True), (OneContainer, False)])
def test_a_multi_node_job_is_told_from_one_of_a_single_container(
    kind: type[Batch], multi_node: bool
) -> None:
    region: Any = kind("RUNNABLE")

    _, job = find_job(region, "job-1")

    assert (job.multi_node, job.node_count == 1) == (multi_node, not multi_node)


def test_no_attempt_is_counted_before_a_node_of_it_waits_or_runs() -> None:
    region: Any = BetweenAttempts("RUNNING")

    _, job = find_job(region, "job-1")

    assert job.attempt == 1


def test_the_nodes_of_a_large_job_are_asked_for_by_the_hundred_and_are_in_order() -> None:
    region: Any = Batch("RUNNING")

    _, job = find_job(region, "job-1")

    assert [node.index for node in job.nodes] == list(range(NODES))
    assert [len(each) for each in region.asked] == [1, 100, 100, 50]


def test_a_job_that_does_not_change_is_asked_for_less_and_less_often() -> None:
    region: Any = Batch(*["RUNNABLE"] * 9, "RUNNING", "RUNNING", "SUCCEEDED")
    pauses: list[float] = []
    scheduler, job = find_job(region, "job-1")

    statuses = [each.status for each in watch(scheduler, job, pauses.append)]

    assert statuses == [*["RUNNABLE"] * 8, "RUNNING", "RUNNING", "SUCCEEDED"]
    assert pauses[0] == 1
    assert pauses[:8] == sorted(pauses[:8])
    assert max(pauses) == 10
    # Something has happened, so more may.
    assert pauses[8] == 1


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([4], "4"),
        ([0, 1], "0-1"),
        ([5, 0, 2, 3], "0, 2-3, 5"),
        (range(64), "0-63"),
    ],
)
def test_indices_of_nodes_are_written_as_ranges(indices: list[int], text: str) -> None:
    assert ranges(indices) == text


def test_a_job_that_batch_forgets_ends_the_watching() -> None:
    region: Any = Batch("RUNNING")
    scheduler, job = find_job(region, "job-1")
    region.call = lambda *_, **__: {"jobs": []}

    with pytest.raises(TrainshedError, match="AWS Batch no longer knows job job-1"):
        list(watch(scheduler, job, lambda _: None))


COMMAND = "01234567-89ab-cdef-0123-456789abcdef"
SUBMITTED = datetime(2026, 11, 1, tzinfo=UTC)


class RunCommand:
    """A region with one job of two nodes, whose instances come in another order.

    Args:
        main: details of the status of the main node.
        there: the instances that have not ended.
        document: that has started the job.
    """

    name = "us-west-2"
    nodes = ("i-main", "i-child")

    def __init__(
        self,
        main: str = "InProgress",
        there: tuple[str, ...] = nodes,
        document: str = "document",
    ) -> None:
        self.main, self.there, self.document = main, there, document

    def pages(self, service: str, operation: str, key: str, **_: Any) -> Any:
        document = {"hosts": ["10.0.0.1", "10.0.0.2"], "instances": self.nodes}
        job = base64.b64encode(json.dumps(document).encode()).decode()
        progress = {"Status": "InProgress", "StatusDetails": "InProgress"}
        main = progress
        if self.main != "InProgress":
            main = {"Status": "Failed", "StatusDetails": self.main}
        command = {
            "CommandId": COMMAND,
            "Comment": "pretrain",
            "DocumentName": self.document,
            "InstanceIds": self.nodes[::-1],
            "Parameters": {"Job": [job]},
            "RequestedDateTime": SUBMITTED,
            **progress,
        }
        return {
            "Stacks": [EC2_STACK],
            "Commands": [command],
            "CommandInvocations": [
                {"InstanceId": "i-child", **progress},
                {"InstanceId": "i-main", **main},
            ],
            "Reservations": [{"Instances": [{"InstanceId": each} for each in self.there]}],
        }[key]


def command_job(region: Any) -> Job:
    return find_job(region, COMMAND)[1]


def test_a_job_whose_main_node_is_gone_has_failed_in_whatever_order_instances_come() -> None:
    job = command_job(RunCommand(there=("i-child",)))

    assert (job.state, job.cause) == (JobState.FAILED, EndCause.HOST_ENDED)
    assert job.has_lost_a_node
    assert job.reason == "the instance i-main has ended"
    assert [node.state for node in job.nodes] == [JobState.FAILED, JobState.RUNNING]


def test_a_command_of_another_document_is_no_job_of_the_cluster() -> None:
    with pytest.raises(TrainshedError, match="no job has the id or the name"):
        command_job(RunCommand(document="AWS-RunShellScript"))


@pytest.mark.parametrize(
    ("details", "cause"),
    [
        ("Execution Timed Out", EndCause.TIMED_OUT),
        ("Undeliverable", EndCause.NOT_DELIVERED),
        ("Failed", None),
    ],
)
def test_what_ended_a_node_is_read_from_the_details_of_its_status(
    details: str, cause: EndCause | None
) -> None:
    job = command_job(RunCommand(details))

    assert job.main.ending
    assert job.main.ending.cause is cause


def test_a_node_that_takes_too_long_ends_its_job_for_that() -> None:
    job = command_job(RunCommand("ExecutionTimedOut"))

    assert (job.cause, job.reason) == (EndCause.TIMED_OUT, "ExecutionTimedOut")


class Clusters:
    """A region with a job called pretrain in the queue of each cluster.

    Args:
        created_at: when the job of each queue was submitted; None where the caller may not ask.
    """

    name = "us-west-2"

    def __init__(self, **created_at: int | None) -> None:
        self.created_at = created_at

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Any:
        if key == "Stacks":
            return [
                stack("Other", Orchestrator="argo"),
                stack("Foreign", Orchestrator="batch"),
                stack("Odd", Orchestrator="ec2", NodeGroup="nodes"),
                *(batch_stack(queue.title(), queue) for queue in self.created_at),
            ]
        created_at = self.created_at[params["jobQueue"]]
        if params["jobQueue"] == "gone":
            raise AwsRefusal("ClientException", "Job queue gone does not exist")
        if created_at is None:
            raise AwsRefusal("AccessDenied", f"may not list {params['jobQueue']}")
        return [self._job(params["jobQueue"], created_at)]

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        assert operation == "describe_jobs"
        jobs = (self._job(queue, at) for queue, at in self.created_at.items() if at is not None)
        return {"jobs": [each for each in jobs if each["jobId"] in params["jobs"]]}

    def _job(self, queue: str, created_at: int) -> dict[str, Any]:
        return {
            "jobId": f"in-{queue}",
            "jobName": "pretrain",
            "jobQueue": queue,
            "status": "RUNNABLE",
            "createdAt": created_at,
        }


@pytest.mark.parametrize(
    ("created_at", "asked", "found"),
    [
        pytest.param({"one": 1, "two": 2, "three": 1}, "pretrain", "in-two", id="newest"),
        pytest.param({"one": 1, "two": 2}, "in-one", "in-one", id="id"),
        pytest.param({"one": 2, "two": 1}, "in-two", "in-two", id="id-in-another"),
        pytest.param({"one": None, "two": 2}, "pretrain", "in-two", id="one-is-refused"),
        pytest.param({"gone": None, "two": 2}, "pretrain", "in-two", id="one-lost-its-queue"),
    ],
)
def test_a_job_is_looked_up_in_every_cluster(
    created_at: dict[str, int | None], asked: str, found: str
) -> None:
    region: Any = Clusters(**created_at)

    scheduler, job = find_job(region, asked)

    assert job.job_id == found
    assert {each.job_id for each in scheduler.jobs()} == {found}


class BesideKubernetes(Clusters):
    """The same, with a cluster whose jobs trainshed cannot look at."""

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Any:
        kubernetes = stack(
            "KubeCluster",
            Orchestrator="eks",
            EksCluster="kube",
            Image="train:v1",
            Namespace="kube",
            NodeGroup="g",
        )
        others = super().pages(service, operation, key, **params)
        return [kubernetes, *others] if key == "Stacks" else others

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        if operation == "describe_cluster":
            return {"cluster": {"status": "CREATING"}}
        return super().call(service, operation, **params)


def test_a_cluster_whose_jobs_cannot_be_seen_hides_no_job_of_others() -> None:
    region: Any = BesideKubernetes(one=1)

    _, job = find_job(region, "pretrain")

    assert job.job_id == "in-one"


def test_a_cluster_whose_jobs_cannot_be_seen_is_named_where_no_job_is_found() -> None:
    region: Any = BesideKubernetes(gone=None)

    with pytest.raises(UnseenJobs, match="jobs of KubeCluster cannot be looked at: cluster kube"):
        find_job(region, "pretrain")


def test_a_refusal_is_reported_where_no_job_is_found() -> None:
    region: Any = Clusters(one=None, two=None)

    with pytest.raises(AwsRefusal, match="may not list one"):
        find_job(region, "pretrain")


def test_a_job_that_no_cluster_has_is_not_found() -> None:
    region: Any = Clusters(gone=None)

    with pytest.raises(TrainshedError, match="no job has the id or the name 'pretrain'"):
        find_job(region, "pretrain")


class HalfDeployed:
    """A region with a stack that has no outputs.

    Args:
        status: of the stack.
    """

    name = "us-west-2"

    def __init__(self, status: str) -> None:
        self.status = status

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        assert operation == "describe_stacks"
        described = {
            "StackName": "Train",
            "StackId": "arn:train",
            "StackStatus": self.status,
            "CreationTime": SUBMITTED,
        }
        return {"Stacks": [described]}

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Any:
        return []


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        ("CREATE_IN_PROGRESS", "wait until that is over"),
        ("ROLLBACK_COMPLETE", "deploy it again: npx cdk deploy Train"),
    ],
)
def test_a_cluster_that_is_not_ready_for_jobs_is_refused(status: str, advice: str) -> None:
    region: Any = HalfDeployed(status)

    with pytest.raises(Failure, match=f"Train in us-west-2 is {status} and has no .*; {advice}"):
        find_scheduler(region, "Train")
