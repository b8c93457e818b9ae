"""`trainshed up`: the steps of a cluster, as an account has them."""

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from botocore.exceptions import WaiterError
from command_line import Answer, runner
from deployed_stack import deployed_stack

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from trainshed.app.synthesis import SynthesisedStack, read_app, synthesise
from trainshed.aws import AwsRefusal, Region
from trainshed.cli import main
from trainshed.cli import steps as cli_steps
from trainshed.cli import up as up_command
from trainshed.cli.cluster import ALL_CLUSTERS, load_cluster
from trainshed.jobs.model import JobState
from trainshed.kubernetes.object_step import ApplyOutcome, ApplyStep
from trainshed.offline.image import add_image_of
from trainshed.offline.stand_in import add_stand_in
from trainshed.plan import load_fleet
from trainshed.up import (
    Look,
    Site,
    Step,
    StepState,
    first_job,
    images,
    kubernetes,
    stacks,
    steps_of,
)

ROOT = Path(__file__).parents[2]
CLUSTER = """
name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 4}}
image: {repository: train, tag: "1"}
"""
EKS = """
name: TrainCluster
region: us-west-2
orchestrator: eks
instance: {type: trn1.32xlarge, nodes: {max: 4}}
kubernetes: {version: "1.35", access: [{role: Operator, policy: cluster-admin}]}
"""
TRN_QUOTA = "L-2C3B7624"
Run = Callable[..., Answer]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cluster file of a project, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cdk.json").write_text(json.dumps({"app": f"python3 '{ROOT / 'app.py'}'"}))
    path = tmp_path / "clusters/train.yaml"
    path.parent.mkdir()
    path.write_text(CLUSTER)
    return path


@pytest.fixture
def run(
    clean_aws: EmbeddedAws,
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """`trainshed` in the project, against the embedded AWS."""
    called = runner("trainshed", main, capsys, monkeypatch)
    clean_aws.lead_here(monkeypatch)
    return called


@pytest.fixture
def up(run: Run) -> Run:
    """`trainshed up` of its cluster."""
    return lambda *arguments: run("up", "train", *arguments)


@pytest.fixture
def looks(
    clean_aws: EmbeddedAws, file: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Look]]:
    """Look at some steps of an account of AWS itself, where no stand-in will do."""

    def run(*names: str, **site: Any) -> dict[str, Look]:
        monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
        found = Site(
            load=lambda: load_cluster("train", ALL_CLUSTERS, None),
            words=("train",),
            files=None,
            region=Region("us-west-2", clean_aws.client),
            nodes=2,
            **site,
        )
        return {each.name: each.look() for each in steps_of(found) if each.name in names}

    return run


def states(answer: Answer) -> dict[str, str]:
    return {each["step"]: each["state"] for each in answer.json}


def bootstrap(aws: EmbeddedAws, version: str = "21") -> None:
    name = "/cdk-bootstrap/hnb659fds/version"
    aws.client("ssm").put_parameter(Name=name, Value=version, Type="String")


def test_a_new_account_has_all_to_do_after_its_quota(up: Run) -> None:
    answer = up("--plan", "--json")

    assert answer.code == 1
    assert states(answer) == {
        "credentials": "done",
        "preflight": "blocked",
        **dict.fromkeys(("bootstrap", "ami", "repository", "image", "stacks"), "to do"),
        "health": "later",
    }
    by_step: Mapping[str, Any] = {each["step"]: each for each in answer.json}
    # Nothing is baked here.
    assert (by_step["ami"]["minutes"], by_step["ami"]["price"]) == (0, None)
    # What later steps make, a new account need not have.
    assert [line.split()[0] for line in by_step["preflight"]["says"].splitlines()] == ["TS-ACC-020"]
    assert by_step["bootstrap"]["commands"] == ["npx cdk bootstrap aws://123456789012/us-west-2"]
    assert by_step["stacks"]["commands"] == [
        "npx cdk deploy TrainCluster --require-approval=never --concurrency=4"
    ]
    assert by_step["stacks"]["price"].startswith("0.")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"CDKMetadata": {"Type": "AWS::CDK::Metadata"}}, ""),
        ({"Topic": {"Type": "AWS::SNS::Topic"}}, "differs from the cluster file"),
    ],
)
def test_what_the_cdk_adds_for_statistics_is_no_difference(more: Any, says: str) -> None:
    resources = {"Queue": {"Type": "AWS::SQS::Queue"}}
    state = stacks.StackState(
        made=cast(SynthesisedStack, SimpleNamespace(template={"Resources": resources})),
        found=deployed_stack(),
        template={
            "Resources": {**resources, **more},
            "Conditions": {"CDKMetadataAvailable": {"Fn::Equals": ["a", "b"]}},
        },
    )

    assert state.left_to_do.startswith(says)
    assert bool(state.left_to_do) == bool(says)


@pytest.mark.parametrize("status", ["UPDATE_ROLLBACK_COMPLETE", "IMPORT_ROLLBACK_COMPLETE"])
@pytest.mark.parametrize("is_put_back", [False, True])
def test_after_a_rollback_a_stack_is_as_the_file_has_it_when_the_file_is_put_back(
    status: str, is_put_back: bool
) -> None:
    before = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}}
    made = before if is_put_back else {"Resources": {}}
    state = stacks.StackState(
        made=cast(SynthesisedStack, SimpleNamespace(template=made)),
        found=deployed_stack(status=status),
        template=before,
    )

    assert state.left_to_do.startswith("" if is_put_back else "differs from the cluster file")
    assert bool(state.left_to_do) is not is_put_back


def test_what_blocks_the_first_step_is_said_and_nothing_is_run(up: Run, tmp_path: Path) -> None:
    answer = up("--yes")

    assert answer.code == 1
    assert "request-service-quota-increase" in answer.err
    assert "CDK bootstrap" not in answer.out
    assert not (tmp_path / "build").exists()


def test_what_is_there_is_done(
    up: Run, clean_aws: EmbeddedAws, publish_ami: Callable[..., str], file: Path, tmp_path: Path
) -> None:
    clean_aws.grant_quota(TRN_QUOTA, 512)
    publish_ami(clean_aws)
    # As the CDK CLI does it: the account is known.
    synthesise(replace(read_app(tmp_path), account="123456789012"), tmp_path / "cdk.out")
    clean_aws.cdk_deploy(tmp_path / "cdk.out", "TrainCluster")
    [plan] = load_fleet([file]).clusters
    add_image_of(Region("us-west-2", clean_aws.client), plan)

    before = up("--plan", "--json")
    file.write_text(CLUSTER.replace("max: 4", "max: 3"))
    after = up("--plan", "--json")

    assert before.code == 0
    assert [name for name, state in states(before).items() if state != "done"] == ["health"]
    open_ones = {each["step"]: each["says"] for each in after.json if each["state"] != "done"}
    assert open_ones["stacks"].startswith("TrainCluster differs from the cluster file")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "this is not a terminal, so nothing can be asked: add --yes, or --plan to look only"),
        (("--yes", "--json"), "--json is for --plan"),
        (("--yes", "--ami", ""), "--ami : this is not an AMI id"),
        (("--yes", "--ami", "stable"), "--ami stable: this is not an AMI id"),
        (("--plan", "--nodes", "5"), "--nodes 5: TrainCluster has at most 4 nodes"),
    ],
)
def test_bad_options_are_refused(up: Run, arguments: tuple[str, ...], said: str) -> None:
    answer = up(*arguments)

    assert answer.code == 2
    assert said in answer.err


def test_where_there_is_no_project_nothing_is_asked_or_run(up: Run, tmp_path: Path) -> None:
    (tmp_path / "cdk.json").unlink()

    answer = up("--yes")

    assert (answer.code, answer.out) == (2, "")
    assert "cdk.json with an app is missing: run this in the folder of a project" in answer.err


def test_without_npx_nothing_is_begun(
    up: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python3"))

    answer = up("--yes")

    assert (answer.code, answer.out) == (1, "")
    assert "npx is not on PATH" in answer.err


@pytest.mark.parametrize(
    ("name", "context"),
    [
        # With the others, whose network and repositories it shares.
        ("clusters/train.yaml", ""),
        ("elsewhere/train.yaml", " -c clusters={}"),
        ("clusters/train.yml", " -c clusters={}"),
    ],
)
def test_the_app_is_given_a_file_that_it_does_not_find_by_itself(
    run: Run, file: Path, tmp_path: Path, name: str, context: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    file.rename(path)

    answer = run("up", str(path), "--plan", "--json")

    by_step = {each["step"]: each["commands"] for each in answer.json}
    assert by_step["stacks"] == [
        "npx cdk deploy TrainCluster --require-approval=never --concurrency=4"
        + context.format(path)
    ]


def test_what_a_command_prints_is_one_line_on_a_terminal(
    up: Run, clean_aws: EmbeddedAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean_aws.grant_quota(TRN_QUOTA, 512)
    npx = tmp_path / "bin/npx"
    npx.parent.mkdir()
    npx.write_text(f"#!/bin/sh\necho {'word ' * 40}\nexit 1\n")
    npx.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(npx.parent / "python3"))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    answer = up("--yes")

    while_it_runs, _ = answer.err.split("error: ")
    assert "CDK bootstrap: word word word word wo…\n" in while_it_runs


def test_commands_go_to_the_region_of_the_cluster(
    up: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    file.write_text(CLUSTER.replace("region: us-west-2", ""))

    answer = up("--plan", "--json", "--region", "us-west-2")

    by_step = {each["step"]: each["commands"] for each in answer.json}
    assert by_step["ami"] == [
        "trainshed ami publish $(AWS_REGION=us-west-2 trainshed offline ami neuron ecs) "
        "--channel stable --region us-west-2"
    ]
    for step in ("repository", "stacks"):
        assert by_step[step][0].startswith("AWS_REGION=us-west-2 npx cdk deploy ")


def test_a_step_that_aws_does_not_answer_is_blocked_and_the_others_are_shown(
    up: Run, clean_aws: EmbeddedAws
) -> None:
    clean_aws.grant_quota(TRN_QUOTA, 512)
    clean_aws.fail(
        Fault(service="ssm", operation="GetParameter", code="AccessDeniedException", count=None)
    )

    plan, run = up("--plan", "--json"), up("--yes")

    by_step = {each["step"]: each for each in plan.json}
    assert (by_step["ami"]["state"], by_step["stacks"]["state"]) == ("blocked", "to do")
    assert "may not call ssm:GetParameter in us-west-2" in by_step["ami"]["says"]
    assert run.code == 1
    first, second = run.err.splitlines()
    assert first == "error: CDK bootstrap: blocked"
    assert second.startswith("the credentials may not call ssm:GetParameter")


def test_what_is_left_of_a_failed_first_deployment_is_deployed_again(
    up: Run, clean_aws: EmbeddedAws
) -> None:
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "no such name"}}
    cloudformation = clean_aws.client("cloudformation")
    cloudformation.create_stack(
        StackName="TrainCluster", TemplateBody=json.dumps({"Resources": {"Topic": topic}})
    )
    with pytest.raises(WaiterError):
        cloudformation.get_waiter("stack_create_complete").wait(StackName="TrainCluster")

    by_step = {each["step"]: each for each in up("--plan", "--json").json}

    assert by_step["stacks"]["state"] == "to do"
    assert "TrainCluster is ROLLBACK_COMPLETE" in by_step["stacks"]["says"]
    assert by_step["health"]["state"] == "later"


def test_credentials_of_nobody_block_all_else(up: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")

    answer = up("--plan", "--json")

    assert answer.code == 1
    first, *others = states(answer).values()
    assert (first, {*others}) == ("blocked", {"later"})


def test_without_credentials_nothing_is_begun(up: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)

    answer = up("--yes")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: no AWS credentials: set AWS_PROFILE")


def test_an_account_of_somebody_else_blocks(up: Run, file: Path) -> None:
    file.write_text(CLUSTER + 'account: "999999999999"\n')

    answer = up("--plan", "--json")

    first, *others = answer.json
    assert (answer.code, first["state"]) == (1, "blocked")
    assert "the cluster is for account 999999999999" in first["says"]
    assert {each["state"] for each in others} == {"later"}


@pytest.mark.parametrize(
    ("version", "state"), [("5", StepState.TO_DO), ("6", StepState.DONE), ("21", StepState.DONE)]
)
def test_an_old_bootstrap_is_made_anew(
    looks: Callable[..., dict[str, Look]], clean_aws: EmbeddedAws, version: str, state: StepState
) -> None:
    bootstrap(clean_aws, version)

    assert looks("bootstrap")["bootstrap"].state is state


def test_an_ami_is_baked_and_published(looks: Callable[..., dict[str, Look]]) -> None:
    look = looks("ami")["ami"]

    assert look.commands == (
        "trainshed ami build neuron ecs --region us-west-2",
        "trainshed ami publish build/neuron-ecs/manifest.json --channel stable",
    )


def test_an_ami_that_is_baked_is_only_published(
    looks: Callable[..., dict[str, Look]],
    clean_aws: EmbeddedAws,
    publish_ami: Callable[..., str],
) -> None:
    add_stand_in(clean_aws.client, "nvidia", "ecs")
    baked = add_stand_in(clean_aws.client, "neuron", "ecs")

    # Its region is not that of the environment.
    publish = "trainshed ami publish {} --channel stable --region us-west-2"
    assert looks("ami")["ami"].commands == (publish.format(baked),)
    older = add_stand_in(clean_aws.client, "neuron", "ecs")
    assert looks("ami", given_ami=older)["ami"].commands == (publish.format(older),)
    published = publish_ami(clean_aws)
    assert looks("ami")["ami"].state is StepState.DONE
    assert looks("ami", given_ami=published)["ami"].state is StepState.DONE
    # Not left out in silence.
    again = looks("ami", given_ami=older)["ami"]
    assert (again.state, again.commands) == (StepState.TO_DO, (publish.format(older),))


@pytest.mark.parametrize(
    ("ami", "of_cell", "said"),
    [
        ("stable", "nvidia/ecs", "is of the cell nvidia/ecs, and the nodes need neuron/ecs; see"),
        ("stable", None, "is not an AMI of this account in us-west-2; see trainshed ami list"),
        ("ami-0123456789abcdef0", "neuron/ecs", "and instance.ami names ami-0123456789abcdef0;"),
        (
            "stable:7",
            "neuron/ecs",
            "instance.ami names /trainshed/ami/neuron/ecs/stable:7; leave --ami out",
        ),
    ],
)
def test_an_ami_that_the_nodes_would_not_get_is_not_published(
    looks: Callable[..., dict[str, Look]],
    clean_aws: EmbeddedAws,
    file: Path,
    ami: str,
    of_cell: str | None,
    said: str,
) -> None:
    file.write_text(CLUSTER.replace("instance: {", f'instance: {{ami: "{ami}", '))
    given = (
        add_stand_in(clean_aws.client, *of_cell.split("/")) if of_cell else "ami-0fedcba9876543210"
    )

    look = looks("ami", given_ami=given)["ami"]

    assert (look.state, look.commands) == (StepState.BLOCKED, ())
    assert look.says.startswith(f"--ami {given} ")
    assert said in look.says


def test_an_ami_that_awaits_its_promotion_is_not_published_by_the_way(
    looks: Callable[..., dict[str, Look]],
    clean_aws: EmbeddedAws,
    publish_ami: Callable[..., str],
) -> None:
    publish_ami(clean_aws, channel="candidate")

    assert looks("ami")["ami"].commands[0].startswith("trainshed ami build ")


def test_an_ami_with_other_drivers_is_baked_for_a_v100(
    looks: Callable[..., dict[str, Look]], clean_aws: EmbeddedAws, file: Path
) -> None:
    file.write_text(
        CLUSTER.replace("us-west-2", "us-east-1").replace(
            "type: trn1.32xlarge", "type: p3.16xlarge, ami: v100"
        )
    )
    add_stand_in(clean_aws.client, "nvidia", "ecs")

    bake, _ = looks("ami")["ami"].commands

    assert bake.endswith(" --var nvidia_driver=proprietary")


@pytest.mark.parametrize(
    "ami", ["ami-0123456789abcdef0", "/of/somebody/else", "stable:7", "/trainshed/ami/x/y/z"]
)
def test_an_ami_that_we_do_not_make_blocks(
    looks: Callable[..., dict[str, Look]], file: Path, ami: str
) -> None:
    file.write_text(CLUSTER.replace("instance: {", f'instance: {{ami: "{ami}", '))

    look = looks("ami")["ami"]

    assert (look.state, look.commands) == (StepState.BLOCKED, ())
    assert ami.partition(":")[0] in look.says


def test_an_image_is_built_and_pushed_by_the_engine_of_this_machine(
    looks: Callable[..., dict[str, Look]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "bin/podman"
    engine.parent.mkdir()
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(engine.parent))

    with_engine = looks("image")["image"]
    engine.unlink()
    without = looks("image")["image"]

    assert with_engine.commands == (
        "trainshed container build train",
        "trainshed container push train",
    )
    assert without.state is StepState.BLOCKED
    assert "install docker, podman or buildah" in without.says


@pytest.mark.parametrize(
    ("image", "step", "said"),
    [
        ("{repository: train, existing: true, tag: '1'}", "repository", "create-repository"),
        (f'{{repository: train, digest: "sha256:{"0" * 64}"}}', "image", "push it"),
    ],
)
def test_what_users_bring_themselves_blocks(
    looks: Callable[..., dict[str, Look]], file: Path, image: str, step: str, said: str
) -> None:
    file.write_text(CLUSTER.replace('{repository: train, tag: "1"}', image))

    look = looks(step)[step]

    assert (look.state, said in look.says) == (StepState.BLOCKED, True)


def test_a_cluster_of_kubernetes_has_steps_of_its_own(
    looks: Callable[..., dict[str, Look]], file: Path
) -> None:
    file.write_text(EKS)

    found = looks("lock", "kubernetes", "health")

    assert [each.state for each in found.values()] == [
        StepState.TO_DO,
        StepState.LATER,
        StepState.LATER,
    ]
    assert found["lock"].commands == ("trainshed kube lock train",)
    assert found["kubernetes"].commands == ("trainshed kube apply train",)
    assert found["health"].commands == (
        "trainshed job submit train --nodes 2 --watch --recipe health",
    )


@pytest.mark.parametrize(
    ("status", "state", "said"),
    [
        ("CREATE_IN_PROGRESS", StepState.AT_WORK, "TrainNetwork is not there"),
        ("UPDATE_ROLLBACK_IN_PROGRESS", StepState.AT_WORK, "TrainNetwork is not there"),
        ("UPDATE_ROLLBACK_FAILED", StepState.BLOCKED, "its events say why"),
        ("IMPORT_ROLLBACK_FAILED", StepState.BLOCKED, "its events say why"),
        ("ROLLBACK_FAILED", StepState.BLOCKED, "its events say why"),
        ("DELETE_FAILED", StepState.BLOCKED, "its events say why"),
        ("REVIEW_IN_PROGRESS", StepState.TO_DO, "TrainNetwork is not there"),
    ],
)
def test_stacks_are_deployed_when_cloudformation_is_not_at_work(
    looks: Callable[..., dict[str, Look]],
    monkeypatch: pytest.MonkeyPatch,
    status: str,
    state: StepState,
    said: str,
) -> None:
    found = {"TrainCluster": deployed_stack(status=status)}
    monkeypatch.setattr(stacks, "find_stack", lambda _, name: found.get(name))
    monkeypatch.setattr(stacks, "template_of", lambda *_: {})

    look = looks("stacks")["stacks"]

    assert (look.state, bool(look.commands)) == (state, state is StepState.TO_DO)
    assert f"TrainCluster is {status}" in look.says
    assert said in look.says


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        ((ApplyOutcome.UNCHANGED, ApplyOutcome.LEFT), StepState.DONE),
        ((ApplyOutcome.UNCHANGED, ApplyOutcome.CHANGED), StepState.TO_DO),
    ],
)
def test_objects_are_applied_where_something_would_change(
    looks: Callable[..., dict[str, Look]],
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    outcomes: tuple[ApplyOutcome, ...],
    state: StepState,
) -> None:
    file.write_text(EKS)
    steps = [ApplyStep(name=f"chart {each}", outcome=each) for each in outcomes]
    chart, applier = (
        SimpleNamespace(plan=lambda: steps[:1]),
        SimpleNamespace(plan=lambda: steps[1:]),
    )
    monkeypatch.setattr(kubernetes, "find_cluster", lambda *_: None)
    monkeypatch.setattr(kubernetes, "connect", lambda _: nullcontext())
    monkeypatch.setattr(kubernetes, "stages_of", lambda *_: ((chart,), applier))

    look = looks("kubernetes")["kubernetes"]

    assert look.state is state
    assert ("chart changed" in look.says) == (state is StepState.TO_DO)


def test_a_control_plane_that_nobody_may_see_is_not_taken_for_one_to_be_deployed(
    looks: Callable[..., dict[str, Look]], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AwsRefusal("AccessDeniedException", "may not call eks:DescribeCluster")

    file.write_text(EKS)
    monkeypatch.setattr(kubernetes, "find_cluster", refuse)

    with pytest.raises(AwsRefusal):
        looks("kubernetes")


@pytest.mark.parametrize(
    ("before", "state"), [(timedelta(), StepState.DONE), (timedelta(1), StepState.TO_DO)]
)
def test_nodes_are_checked_again_after_a_deployment(
    looks: Callable[..., dict[str, Look]],
    monkeypatch: pytest.MonkeyPatch,
    before: timedelta,
    state: StepState,
) -> None:
    now = datetime.now(UTC)
    stack = deployed_stack(changed_at=now)
    job = SimpleNamespace(
        job_id="0a1b", state=JobState.SUCCEEDED, created_at=now - before, node_count=2
    )
    monkeypatch.setattr(first_job, "find_stack", lambda *_: stack)
    monkeypatch.setattr(first_job, "find_scheduler", lambda *_: SimpleNamespace(job=lambda _: job))

    assert looks("health")["health"].state is state


def test_a_failed_first_job_is_run_again_after_its_reason_is_named(
    looks: Callable[..., dict[str, Look]], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    stack = deployed_stack(changed_at=now)
    job = SimpleNamespace(job_id="0a1b", state=JobState.FAILED, created_at=now)
    monkeypatch.setattr(first_job, "find_stack", lambda *_: stack)
    monkeypatch.setattr(first_job, "find_scheduler", lambda *_: SimpleNamespace(job=lambda _: job))

    look = looks("health")["health"]

    # The region of the environment may be another one.
    assert look.says == "job 0a1b has failed: trainshed job why 0a1b --region us-west-2"
    assert look.commands == ("trainshed job submit train --nodes 2 --watch --recipe health",)


def test_a_repository_whose_stack_is_being_made_is_not_deployed_again(
    looks: Callable[..., dict[str, Look]], monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = deployed_stack(name="TrainContainers", status="CREATE_IN_PROGRESS")
    monkeypatch.setattr(images, "find_stack", lambda *_: busy)

    look = looks("repository")["repository"]

    assert (look.state, look.commands) == (StepState.AT_WORK, ())


def test_a_run_waits_for_aws_and_goes_on_from_what_is_there_then(
    up: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work = Look(state=StepState.AT_WORK, says="TrainCluster is CREATE_IN_PROGRESS")
    done = Look(state=StepState.DONE, says="all 4 are as the cluster file has them")
    found, waited = [at_work, at_work, done], list[float]()
    step = Step(name="stacks", title="Stacks", look=lambda: found.pop(0))
    monkeypatch.setattr(up_command, "steps_of", lambda _: (step,))
    monkeypatch.setattr(cli_steps, "sleep", waited.append)

    answer = up("--yes")

    assert (answer.code, len(waited)) == (0, 2)
    assert answer.out.splitlines() == [
        " at work  Stacks: TrainCluster is CREATE_IN_PROGRESS",
        "    done  Stacks: all 4 are as the cluster file has them",
    ]
