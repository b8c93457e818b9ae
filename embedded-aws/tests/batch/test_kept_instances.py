"""The instances of an attempt that failed: the next one gets them, but those that are gone."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from job_bench import JobBench, job_aws
from plugin_package import write_plugin

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings

PLUGIN = """
from embedded_aws.plugins import Plugin

class Marked(Plugin):
    def power_off_marks(self):
        return {"marked": "/run/unfit/mark"}

PLUGIN = Marked()
"""
AGAIN = {"attempts": 2}


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """With a plug-in that knows an AMI, and its nodes on loopback."""
    folder = tmp_path_factory.mktemp("kept")
    write_plugin(folder, "marked", PLUGIN)
    with pytest.MonkeyPatch.context() as patch:
        paths = [str(folder), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        with job_aws(folder, JobSettings(loopback=True)) as aws:
            yield aws


@pytest.fixture
def marked(aws: EmbeddedAws) -> JobBench:
    """A queue whose nodes power off at a mark."""
    found = aws.client("ec2").describe_images(Filters=[{"Name": "name", "Values": ["marked"]}])
    [*images] = found["Images"] or [aws.client("ec2").register_image(Name="marked")]
    return JobBench(aws, ami=images[0]["ImageId"])


def hosts(bench: JobBench, job: Any) -> list[list[str]]:
    """The instances of a job's nodes, for each attempt."""
    nodes = [bench.describe(f"{job['jobId']}#{index}") for index in range(2)]
    return [
        [
            node["attempts"][number]["container"]["containerInstanceArn"].rpartition("/")[2]
            for node in nodes
        ]
        for number in range(len(nodes[0]["attempts"]))
    ]


def ended(bench: JobBench) -> set[str]:
    """Which of the queue's instances are terminated."""
    return {each["InstanceId"] for each in bench.instances("terminated")}


def test_the_next_attempt_gets_the_same_instances(either: JobBench) -> None:
    script = 'cat "$EMBEDDED_AWS_NODE/kept"; touch "$EMBEDDED_AWS_NODE/kept"; exit 1'
    job = either.wait(either.submit(either.define(script, nodes=2), retryStrategy=AGAIN))

    first, second = hosts(either, job)
    assert first == second
    # What is on the disk of an instance is still there.
    assert either.lines(either.describe(f"{job['jobId']}#0")) == []
    assert ended(either) == set(first)


def test_a_node_that_a_job_marks_is_replaced_for_the_next_attempt(marked: JobBench) -> None:
    mark = 'touch "$EMBEDDED_AWS_NODE/run/unfit/mark"; exit 1'
    script = f"case $AWS_BATCH_JOB_ATTEMPT:$AWS_BATCH_JOB_NODE_INDEX in 1:0) {mark} ;; esac"
    job = marked.wait(marked.submit(marked.define(script, nodes=2), retryStrategy=AGAIN))

    assert job["status"] == "SUCCEEDED"
    (bad, child), (other, child_again) = hosts(marked, job)
    assert child == child_again
    assert other != bad
    assert ended(marked) == {bad, child, other}


def test_a_mark_on_an_instance_of_another_ami_is_a_file(bench: JobBench) -> None:
    script = (
        "mkdir -p $EMBEDDED_AWS_NODE/run/unfit; touch $EMBEDDED_AWS_NODE/run/unfit/mark; exit 1"
    )
    job = bench.wait(bench.submit(bench.define(script, nodes=2), retryStrategy=AGAIN))

    first, second = hosts(bench, job)
    assert first == second
