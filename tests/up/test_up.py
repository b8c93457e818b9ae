"""`trainshed up`: the steps of a cluster, as an account has them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Answer, runner

from embedded_aws.embedded import EmbeddedAws
from trainshed.app.synthesis import read_app, synthesise
from trainshed.aws import Region
from trainshed.cli import main
from trainshed.cli.cluster import ALL_CLUSTERS, load_cluster
from trainshed.offline.image import add_image_of
from trainshed.offline.stand_in import add_stand_in
from trainshed.plan import load_fleet
from trainshed.up import Look, Site, StepState, steps_of

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
Up = Callable[..., Answer]


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
def up(
    clean_aws: EmbeddedAws,
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Up:
    """`trainshed up` in the project, against the embedded AWS."""
    run = runner("trainshed", main, capsys, monkeypatch)
    clean_aws.lead_here(monkeypatch)
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


def test_a_new_account_has_all_to_do_after_its_quota(up: Up) -> None:
    answer = up("--plan", "--json")

    assert answer.code == 1
    assert states(answer) == {
        "credentials": "done",
        "preflight": "blocked",
        **dict.fromkeys(("bootstrap", "ami", "repository", "image", "stacks"), "to do"),
        "health": "later",
    }
    by_step: Mapping[str, Any] = {each["step"]: each for each in answer.json}
    # What later steps make, a new account need not have.
    assert [line.split()[0] for line in by_step["preflight"]["says"].splitlines()] == ["TS-ACC-020"]
    assert by_step["bootstrap"]["commands"] == ["npx cdk bootstrap aws://123456789012/us-west-2"]
    assert by_step["stacks"]["commands"] == [
        "npx cdk deploy TrainCluster --require-approval=never --concurrency=4"
    ]
    assert by_step["stacks"]["price"].startswith("0.")


def test_what_blocks_the_first_step_is_said_and_nothing_is_run(up: Up, tmp_path: Path) -> None:
    answer = up("--yes")

    assert answer.code == 1
    assert "request-service-quota-increase" in answer.err
    assert "CDK bootstrap" not in answer.out
    assert not (tmp_path / "build").exists()


def test_what_is_there_is_done(
    up: Up, clean_aws: EmbeddedAws, publish_ami: Callable[..., str], file: Path, tmp_path: Path
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
        (("--yes", "--ami", "stable"), "--ami stable: this is not an AMI id"),
        (("--plan", "--nodes", "5"), "--nodes 5: TrainCluster has at most 4 nodes"),
    ],
)
def test_bad_options_are_refused(up: Up, arguments: tuple[str, ...], said: str) -> None:
    answer = up(*arguments)

    assert answer.code == 2
    assert said in answer.err


def test_credentials_of_nobody_block_all_else(up: Up, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")

    answer = up("--plan", "--json")

    assert answer.code == 1
    first, *others = states(answer).values()
    assert (first, {*others}) == ("blocked", {"later"})


def test_an_account_of_somebody_else_blocks(
    looks: Callable[..., dict[str, Look]], file: Path
) -> None:
    file.write_text(CLUSTER + 'account: "999999999999"\n')

    [look] = looks("credentials").values()

    assert look.state is StepState.BLOCKED
    assert "the cluster is for account 999999999999" in look.says


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

    assert looks("ami")["ami"].commands == (f"trainshed ami publish {baked} --channel stable",)
    given = looks("ami", given_ami="ami-0123456789abcdef0")["ami"]
    assert given.commands == ("trainshed ami publish ami-0123456789abcdef0 --channel stable",)
    publish_ami(clean_aws)
    assert looks("ami")["ami"].state is StepState.DONE


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
