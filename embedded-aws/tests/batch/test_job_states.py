"""States, order and ends of jobs that run."""

from pathlib import Path

from job_bench import JobBench

WAIT = "echo running; exec sleep 100"


def test_a_container_job_runs_and_its_output_is_logged(either: JobBench) -> None:
    job = either.run("echo out; echo err >&2")

    assert (job["status"], job["container"]["exitCode"]) == ("SUCCEEDED", 0)
    assert job["statusReason"] == "Essential container in task exited"
    assert either.lines(job) == ["out", "err"]
    assert job["container"]["logStreamName"].startswith(f"{either.name}/default/")
    assert job["createdAt"] <= job["startedAt"] <= job["stoppedAt"]


def test_a_multi_node_job_runs_on_every_node_and_its_main_node_decides(
    either: JobBench, tmp_path: Path
) -> None:
    file = tmp_path / "end"
    until = f"until [ -e {file} ]; do sleep 0.05; done"
    job_id = either.submit(
        either.define(f"[ $AWS_BATCH_JOB_NODE_INDEX = 0 ] || exit 3; {until}", nodes=3)
    )
    for index in (1, 2):
        either.wait(f"{job_id}#{index}")

    file.touch()

    job = either.wait(job_id)
    nodes = [either.describe(f"{job_id}#{index}") for index in range(3)]
    assert (job["status"], job["nodeProperties"]["numNodes"]) == ("SUCCEEDED", 3)
    assert [node["status"] for node in nodes] == ["SUCCEEDED", "FAILED", "FAILED"]
    assert [node["container"]["exitCode"] for node in nodes] == [0, 3, 3]
    assert [node["nodeDetails"] for node in nodes] == [
        {"nodeIndex": index, "isMainNode": index == 0} for index in range(3)
    ]
    assert all(nodes[0]["startedAt"] <= node["startedAt"] for node in nodes)
    [attempt] = job["attempts"]
    assert attempt["container"]["exitCode"] == 0
    assert attempt["container"]["logStreamName"] == nodes[0]["container"]["logStreamName"]


def test_the_children_wait_for_the_main_node_and_end_with_it(bench: JobBench) -> None:
    missing = f"no-such-group-{bench.name}"
    group = {"logDriver": "awslogs", "options": {"awslogs-group": missing}}
    job = bench.run("true", nodes=2, logConfiguration=group)

    child = bench.describe(f"{job['jobId']}#1")

    assert job["status"] == child["status"] == "FAILED"
    assert "startedAt" not in child
    assert child["statusReason"] == "The main node of the job ended"


def test_a_job_ends_with_its_main_node(bench: JobBench, tmp_path: Path) -> None:
    file = tmp_path / "end"
    until = f"until [ -e {file} ]; do sleep 0.05; done; exit 0"
    deaf = "trap '' TERM; echo running; sleep 100"
    job = bench.submit(
        bench.define(f"[ $AWS_BATCH_JOB_NODE_INDEX = 0 ] && {{ {until}; }}; {deaf}", nodes=2)
    )
    bench.wait_for_line(f"{job}#1", "running")

    file.touch()

    assert bench.wait(job)["status"] == "SUCCEEDED"
    child = bench.describe(f"{job}#1")
    assert child["status"] == "FAILED"
    assert child["container"]["exitCode"] == 137


def test_a_child_that_dies_changes_nothing_for_the_others(bench: JobBench) -> None:
    script = f"[ $AWS_BATCH_JOB_NODE_INDEX = 1 ] && exit 9; {WAIT}"
    job = bench.submit(bench.define(script, nodes=3))

    bench.wait(f"{job}#1", "FAILED")
    bench.wait_for_line(f"{job}#2", "running")

    assert bench.describe(job)["status"] == "RUNNING"
    bench.batch.terminate_job(jobId=job, reason="seen")
    assert bench.wait(job)["statusReason"] == "seen"


def test_a_failing_job_keeps_its_exit_code(bench: JobBench) -> None:
    job = bench.run("exit 7")

    assert (job["status"], job["container"]["exitCode"]) == ("FAILED", 7)


def test_a_running_job_is_listed_with_its_nodes(bench: JobBench) -> None:
    job = bench.submit(bench.define(WAIT, nodes=2))
    bench.wait_for_line(f"{job}#1", "running")

    listed = bench.batch.list_jobs(jobQueue=bench.queue)["jobSummaryList"]
    nodes = bench.batch.list_jobs(multiNodeJobId=job)["jobSummaryList"]

    assert [(each["jobId"], each["nodeProperties"]["numNodes"]) for each in listed] == [(job, 2)]
    assert {each["jobId"]: each["nodeProperties"] for each in nodes} == {
        f"{job}#0": {"nodeIndex": 0, "isMainNode": True},
        f"{job}#1": {"nodeIndex": 1, "isMainNode": False},
    }
    bench.batch.terminate_job(jobId=job, reason="seen")
    bench.wait(job)


def test_terminate_sends_sigterm_to_every_node(bench: JobBench) -> None:
    script = "trap 'echo checkpoint; exit 5' TERM; echo running; sleep 100 & wait"
    job = bench.submit(bench.define(script, nodes=2))
    for index in range(2):
        bench.wait_for_line(f"{job}#{index}", "running")

    bench.batch.terminate_job(jobId=job, reason="enough")

    ended = bench.wait(job)
    assert (ended["status"], ended["statusReason"]) == ("FAILED", "enough")
    assert ended["isTerminated"]
    for index in range(2):
        node = bench.describe(f"{job}#{index}")
        assert node["container"]["exitCode"] == 5
        assert "checkpoint" in bench.lines(node)


def test_what_ignores_sigterm_is_killed(bench: JobBench) -> None:
    job = bench.submit(bench.define("trap '' TERM; echo running; sleep 100"))
    bench.wait_for_line(job, "running")

    bench.batch.terminate_job(jobId=job, reason="enough")

    assert bench.wait(job)["container"]["exitCode"] == 137


def test_cancel_leaves_a_running_job_alone(bench: JobBench) -> None:
    job = bench.submit(bench.define(WAIT))
    bench.wait_for_line(job, "running")

    bench.batch.cancel_job(jobId=job, reason="too late")

    assert bench.describe(job)["status"] == "RUNNING"
    bench.batch.terminate_job(jobId=job, reason="seen")
    bench.wait(job)


def test_a_job_over_its_time_is_ended_and_not_tried_again(bench: JobBench) -> None:
    job = bench.wait(
        bench.submit(
            bench.define(WAIT),
            timeout={"attemptDurationSeconds": 60},
            retryStrategy={"attempts": 3},
        )
    )

    assert job["statusReason"] == "Job attempt duration exceeded timeout"
    assert (job["status"], len(job["attempts"])) == ("FAILED", 1)


def test_a_job_waits_for_those_it_depends_on(bench: JobBench) -> None:
    first = bench.submit(bench.define(WAIT))
    second = bench.submit(bench.define("true"), dependsOn=[{"jobId": first}])
    bench.wait(second, "PENDING")
    bench.wait_for_line(first, "running")

    bench.batch.terminate_job(jobId=first, reason="enough")

    failed = bench.wait(second)
    assert (failed["status"], failed["statusReason"]) == ("FAILED", "Dependent Job failed")
    good = bench.submit(bench.define("true"))
    after = bench.wait(bench.submit(bench.define("true"), dependsOn=[{"jobId": good}]))
    assert after["status"] == "SUCCEEDED"
    assert after["startedAt"] >= bench.describe(good)["stoppedAt"]


def test_an_array_runs_each_of_its_children(bench: JobBench) -> None:
    definition = bench.define("echo $AWS_BATCH_JOB_ID; exit $AWS_BATCH_JOB_ARRAY_INDEX")

    array = bench.wait(bench.submit(definition, arrayProperties={"size": 3}))

    children = [bench.describe(f"{array['jobId']}:{index}") for index in range(3)]
    assert array["status"] == "FAILED"
    counted = {k: n for k, n in array["arrayProperties"]["statusSummary"].items() if n}
    assert counted == {"SUCCEEDED": 1, "FAILED": 2}
    assert [child["container"]["exitCode"] for child in children] == [0, 1, 2]
    assert bench.lines(children[1]) == [f"{array['jobId']}:1"]
    listed = bench.batch.list_jobs(arrayJobId=array["jobId"], jobStatus="FAILED")
    assert len(listed["jobSummaryList"]) == 2


def test_a_sequential_array_runs_one_child_after_the_other(bench: JobBench) -> None:
    array = bench.wait(
        bench.submit(
            bench.define("true"),
            arrayProperties={"size": 2},
            dependsOn=[{"type": "SEQUENTIAL"}],
        )
    )

    first, second = (bench.describe(f"{array['jobId']}:{index}") for index in range(2))
    assert array["status"] == "SUCCEEDED"
    assert second["startedAt"] >= first["stoppedAt"]


def test_many_nodes_end_in_time(namespaces: JobBench) -> None:
    job = namespaces.run("true", nodes=64)

    assert job["status"] == "SUCCEEDED"
    assert job["stoppedAt"] - job["createdAt"] < 60_000
