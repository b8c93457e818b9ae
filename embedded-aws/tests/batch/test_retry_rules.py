"""Which failures AWS Batch tries again."""

from typing import Any

import pytest
from job_bench import JobBench

from embedded_aws.batch.retry_rules import Failure, is_tried_again

HOST = "Host EC2 (instance i-0123) terminated."
EXITED = "Essential container in task exited"


@pytest.mark.parametrize(
    ("rules", "failure", "again"),
    [
        pytest.param([], (1, None, EXITED), True, id="no-rules"),
        pytest.param([{"onExitCode": "197", "action": "EXIT"}], (1, None, EXITED), True, id="none"),
        pytest.param(
            [{"onExitCode": "197", "action": "RETRY"}, {"onReason": "*", "action": "EXIT"}],
            (197, None, EXITED),
            True,
            id="code",
        ),
        pytest.param(
            [{"onExitCode": "197", "action": "RETRY"}, {"onReason": "*", "action": "EXIT"}],
            (1, None, EXITED),
            False,
            id="rest",
        ),
        pytest.param([{"onExitCode": "19", "action": "EXIT"}], (197, None, ""), True, id="whole"),
        pytest.param([{"onExitCode": "19*", "action": "EXIT"}], (197, None, ""), False, id="glob"),
        pytest.param(
            [
                {"onStatusReason": "Host EC2*", "action": "retry"},
                {"onReason": "*", "action": "exit"},
            ],
            (None, None, HOST),
            True,
            id="host",
        ),
        pytest.param(
            [{"onReason": "CannotPullContainerError:*", "action": "EXIT"}],
            (None, "CannotPullContainerError: x", "Task failed to start"),
            False,
            id="pull",
        ),
        pytest.param(
            [{"onExitCode": "1", "onStatusReason": "Host*", "action": "EXIT"}],
            (1, None, EXITED),
            True,
            id="all-conditions",
        ),
        pytest.param(
            [{"onExitCode": "1", "action": "EXIT"}, {"onExitCode": "1", "action": "RETRY"}],
            (1, None, EXITED),
            False,
            id="first",
        ),
    ],
)
def test_rules(rules: Any, failure: tuple[int | None, str | None, str], again: bool) -> None:
    code, reason, status = failure

    found = is_tried_again(rules, Failure(exit_code=code, reason=reason, status_reason=status))

    assert found is again


def test_a_job_is_tried_again_as_often_as_it_may(bench: JobBench) -> None:
    definition = bench.define("echo $AWS_BATCH_JOB_ATTEMPT; exit 4", nodes=2)

    job = bench.wait(bench.submit(definition, retryStrategy={"attempts": 3}))

    main = bench.describe(f"{job['jobId']}#0")
    assert job["status"] == "FAILED"
    for attempts in (job["attempts"], main["attempts"]):
        assert [each["container"]["exitCode"] for each in attempts] == [4, 4, 4]
    assert len({each["container"]["logStreamName"] for each in job["attempts"]}) == 3
    assert bench.lines(main) == ["3"]


def test_rules_of_the_job_end_it(bench: JobBench) -> None:
    rules = [{"onExitCode": "4", "action": "EXIT"}]

    job = bench.wait(
        bench.submit(bench.define("exit 4"), retryStrategy={"attempts": 3, "evaluateOnExit": rules})
    )

    assert (job["status"], len(job["attempts"])) == ("FAILED", 1)


def test_a_later_attempt_may_succeed(bench: JobBench) -> None:
    definition = bench.define("[ $AWS_BATCH_JOB_ATTEMPT = 2 ] || exit 197")

    job = bench.wait(bench.submit(definition, retryStrategy={"attempts": 3}))

    assert (job["status"], len(job["attempts"])) == ("SUCCEEDED", 2)
