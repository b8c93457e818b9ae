"""`trainshed apply --blue-green`: new nodes beside those on which jobs run."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import job_bench
import pytest
from command_line import Answer, runner
from deployed_project import changed, deploy, project
from deployed_stack import deployed_stack

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.apply import blue_green
from trainshed.aws import Region
from trainshed.cli import main
from trainshed.cli import steps as cli_steps
from trainshed.cli.cluster import ALL_CLUSTERS
from trainshed.cli.steps import find_site
from trainshed.errors import Failure
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.batch import former
from trainshed.plan import CapacityKind, load_fleet
from trainshed.review.changes import TemplateComparison
from trainshed.review.model import Effect, ResourceChange, StackChange
from trainshed.up import StepState

PROGRAMS = Path(__file__).parents[2] / "packer/files/opt/trainshed"
Run = Callable[..., Answer]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cluster file of a project, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return project(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`trainshed`."""
    return runner("trainshed", main, capsys, monkeypatch)


@pytest.fixture
def aws(
    run: Run,
    file: Path,
    tmp_path: Path,
    publish_ami: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[EmbeddedAws]:
    """An embedded AWS that runs the jobs of the cluster, which is deployed."""
    monkeypatch.setenv("PATH", os.pathsep.join([str(PROGRAMS), os.environ["PATH"]]))
    with job_bench.job_aws(tmp_path, JobSettings(loopback=True, speed=60)) as found:
        deploy(found, file, publish_ami)
        found.lead_here(monkeypatch)
        yield found


def environments(aws: EmbeddedAws) -> list[Any]:
    return list(aws.client("batch").describe_compute_environments()["computeEnvironments"])


def queue(aws: EmbeddedAws) -> Any:
    [found] = aws.client("batch").describe_job_queues()["jobQueues"]
    return found


def test_a_job_goes_on_in_the_old_environment_while_the_new_one_takes_the_queue(
    aws: EmbeddedAws, run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, end = job_bench.JobBench(aws), tmp_path / "end"
    [old] = environments(aws)
    script = f"until [ -e {end} ]; do sleep 0.05; done"
    submitted = run(
        "job", "submit", "TrainCluster", "--plain", "--nodes", "2", "--", "sh", "-c", script
    )
    assert submitted.code == 0, submitted.err
    job_id = submitted.out.strip()
    bench.wait(f"{job_id}#0", "RUNNING")
    changed(file, "root_gib: 300", "root_gib: 400")
    there: list[tuple[int, str]] = []

    def look_again(_: float) -> None:
        """Note what there is while the job runs; then let it end."""
        order = [each["computeEnvironment"] for each in queue(aws)["computeEnvironmentOrder"]]
        assert old["computeEnvironmentArn"] not in order
        there.append((len(environments(aws)), bench.describe(job_id)["status"]))
        end.touch()
        bench.wait(job_id)

    monkeypatch.setattr(cli_steps, "sleep", look_again)
    monkeypatch.setattr(former, "_PAUSE_SECONDS", 0.05)

    refused = run("apply", "train", "--yes")
    plan = run("apply", "train", "--plan", "--blue-green", "--json")
    made = run("apply", "train", "--yes", "--blue-green")
    again = run("apply", "train", "--yes", "--blue-green")

    assert refused.code == 1
    assert "wait until they are over, or add --blue-green" in refused.err
    assert (plan.code, plan.json["switches"]) == (0, True)
    assert [each["fate"] for each in plan.json["jobs"]] == ["goes on"]
    assert made.code == 0, made.err
    assert there == [(2, "RUNNING")]
    assert bench.describe(job_id)["status"] == "SUCCEEDED"
    assert len(bench.describe(job_id).get("attempts", ())) <= 1
    [new] = environments(aws)
    assert new["computeEnvironmentArn"] != old["computeEnvironmentArn"]
    # As any deployment has it: a change of the number of nodes makes no other environment.
    template = aws.client("cloudformation").get_template(StackName="TrainCluster")["TemplateBody"]
    [kept] = [
        each
        for each in template["Resources"].values()
        if each["Type"] == "AWS::Batch::ComputeEnvironment"
    ]
    assert kept["Properties"]["ReplaceComputeEnvironment"] is False
    assert "UpdateReplacePolicy" not in kept
    assert again.out.startswith("nothing to do")


def comparison(*changes: tuple[str, Effect]) -> TemplateComparison:
    resources = tuple(
        ResourceChange(
            stack="TrainCluster",
            logical_id="It",
            name="Batch/It",
            resource_type=resource_type,
            effect=effect,
        )
        for resource_type, effect in changes
    )
    stack = StackChange(name="TrainCluster", effect=Effect.CHANGED, resources=resources)
    return TemplateComparison(stacks=(stack,), permissions=(), security_rules=(), differences={})


@pytest.mark.parametrize(
    ("changes", "what", "said"),
    [
        pytest.param([("AWS::Batch::JobDefinition", Effect.REPLACED)], {}, None, id="revision"),
        pytest.param([("AWS::EC2::LaunchTemplate", Effect.CHANGED)], {}, None, id="new version"),
        pytest.param(
            [("AWS::EC2::PlacementGroup", Effect.REPLACED)],
            {},
            "Batch/It (AWS::EC2::PlacementGroup) is replaced, and the old environment may need it",
            id="placement group",
        ),
        pytest.param([("AWS::Batch::JobQueue", Effect.REPLACED)], {}, "is replaced", id="queue"),
        pytest.param(
            [("AWS::Batch::ComputeEnvironment", Effect.REMOVED)], {}, "is removed", id="to Spot"
        ),
        pytest.param(
            [],
            {"orchestrator": Orchestrator.EC2},
            "--blue-green is for orchestrator batch: that of TrainCluster is ec2",
            id="ec2",
        ),
        pytest.param(
            [],
            {"kind": CapacityKind.RESERVATION},
            "--blue-green needs capacity for both at once, and that of TrainCluster is reservation",
            id="reservation",
        ),
    ],
)
def test_what_cannot_be_beside_the_old_is_refused(
    file: Path, changes: list[tuple[str, Effect]], what: dict[str, Any], said: str | None
) -> None:
    [plan] = load_fleet([file]).clusters
    kind = what.pop("kind", plan.capacity.kind)
    plan = replace(plan, capacity=replace(plan.capacity, kind=kind), **what)

    found = list(blue_green.refusals(plan, comparison(*changes)))

    if said is None:
        assert found == []
    else:
        assert said in found[0]


def test_a_quota_for_the_new_nodes_alone_stops_it(
    aws: EmbeddedAws, run: Run, file: Path, tmp_path: Path
) -> None:
    aws.grant_quota("L-2C3B7624", 4 * 128)
    end = tmp_path / "end"
    script = f"until [ -e {end} ]; do sleep 0.05; done"
    submitted = run(
        "job", "submit", "TrainCluster", "--plain", "--nodes", "2", "--", "sh", "-c", script
    )
    bench = job_bench.JobBench(aws)
    bench.wait(f"{submitted.out.strip()}#0", "RUNNING")
    changed(file, "root_gib: 300", "root_gib: 400")

    answer = run("apply", "train", "--plan", "--blue-green")
    end.touch()
    bench.wait(submitted.out.strip())

    assert answer.code == 1
    assert "TS-ACC-020" in answer.err
    assert [
        each.name
        for each in former.former_environments(
            Region("us-west-2", aws.client),
            {
                "ComputeEnvironment": environments(aws)[0]["computeEnvironmentArn"],
                "JobQueue": queue(aws)["jobQueueArn"],
            },
        )
    ] == []


def test_a_run_that_was_stopped_goes_on_from_what_is_deployed(
    run: Run,
    file: Path,
    clean_aws: EmbeddedAws,
    publish_ami: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Its template fits into a request.
    file.write_text(f"{file.read_text(encoding='utf-8')}monitoring: false\n", encoding="utf-8")
    deploy(clean_aws, file, publish_ami)
    clean_aws.lead_here(monkeypatch)
    cloudformation = clean_aws.client("cloudformation")
    template = cloudformation.get_template(StackName="TrainCluster")["TemplateBody"]

    def so_far() -> dict[str, StepState]:
        [plan] = load_fleet([file]).clusters
        site = find_site(plan, str(file), ALL_CLUSTERS, None)
        return {step.name: step.look().state for step in blue_green.steps(site, Path("build"))}

    cloudformation.update_stack(
        StackName="TrainCluster",
        TemplateBody=json.dumps(blue_green.with_switch(template), separators=(",", ":")),
        Capabilities=["CAPABILITY_NAMED_IAM"],
    )
    cloudformation.get_waiter("stack_update_complete").wait(StackName="TrainCluster")
    # By what is deployed, it was stopped after its second step, and before it for another file.
    stopped = run("apply", "train", "--plan", "--json")
    switched = so_far()
    changed(file, "root_gib: 300", "root_gib: 400")
    kept = so_far()

    left = {each["name"]: bool(each["left_to_do"]) for each in stopped.json["stacks"]}
    assert [name for name, to_do in left.items() if to_do] == ["TrainCluster"]
    assert (stopped.json["changes"], stopped.json["risks"]) == ([], [])
    assert switched == {"keep": StepState.DONE, "switch": StepState.DONE}
    assert kept == {"keep": StepState.DONE, "switch": StepState.TO_DO}


def template(size: int) -> dict[str, Any]:
    """The template of a cluster whose compute environment has some size."""
    properties = {"ReplaceComputeEnvironment": False, "Size": size}
    environment = {"Type": "AWS::Batch::ComputeEnvironment", "Properties": properties}
    return {"Resources": {"Environment": environment}}


def site_of(made: dict[str, Any]) -> Any:
    """A cluster whose app makes a template."""

    def synthesise_into(folder: Path) -> dict[str, Any]:
        folder.mkdir(parents=True)
        file = folder / "TrainCluster.template.json"
        file.write_text(json.dumps(made), encoding="utf-8")
        return {"TrainCluster": SimpleNamespace(file=file)}

    return SimpleNamespace(
        region=Region("us-west-2"),
        plan=SimpleNamespace(name="TrainCluster"),
        stacks={"TrainCluster": SimpleNamespace(template=made)},
        synthesise_into=synthesise_into,
        cdk=lambda *words: " ".join(words),
    )


def test_an_interrupted_switch_is_taken_back_before_a_change_that_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed = blue_green.with_switch(template(4))
    there = [deployed]
    found = deployed_stack(name="TrainCluster")
    monkeypatch.setattr(blue_green, "find_stack", lambda *_: found)
    monkeypatch.setattr(blue_green, "template_of", lambda *_: there[-1])

    [step] = blue_green.take_back(site_of(template(3)), tmp_path, deployed)
    look = step.look()
    [assembly] = tmp_path.glob("*/TrainCluster.template.json")
    there.append(json.loads(assembly.read_text(encoding="utf-8")))

    assert look.state is StepState.TO_DO
    assert look.commands[0].startswith("deploy TrainCluster --exclusively")
    assert there[-1] == template(4)
    assert step.look().state is StepState.DONE


@pytest.mark.parametrize(
    "deployed",
    [
        pytest.param(template(4), id="no switch"),
        pytest.param(blue_green.with_switch(template(3)), id="the deployment changes nothing else"),
    ],
)
def test_nothing_is_taken_back_where_the_deployment_does_it(
    tmp_path: Path, deployed: dict[str, Any]
) -> None:
    assert blue_green.take_back(site_of(template(3)), tmp_path, deployed) == ()


def test_a_stack_that_goes_meanwhile_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blue_green, "find_stack", lambda *_: None)
    keep, _ = blue_green.steps(site_of(template(3)), tmp_path)

    with pytest.raises(Failure, match="TrainCluster has gone from us-west-2 meanwhile"):
        keep.look()
