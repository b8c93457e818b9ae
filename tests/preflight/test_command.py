"""`trainshed preflight`, as it is called."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from app_here import synthesise_in_this_process
from command_line import Answer, runner
from preflight_account import Account

from embedded_aws.faults import Fault
from trainshed.checks.templates import checking
from trainshed.cli import main

ROOT = Path(__file__).parents[2]
CLUSTER = """name: TrainCluster
region: us-west-2
zone: usw2-az4
instance:
  type: trn1.32xlarge
  nodes: {max: 4}
image: {uri: "registry.example/train:1"}
"""


@pytest.fixture
def preflight(
    account: Account, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """The command, in a folder with a cluster that is fine, in an account that has everything."""
    folder = account.folder / "project"
    (folder / "clusters").mkdir(parents=True)
    (folder / "clusters/train.yaml").write_text(CLUSTER)
    run = runner("trainshed", main, capsys, monkeypatch)
    account.aws.lead_here(monkeypatch)
    monkeypatch.chdir(folder)
    return lambda *arguments: run("preflight", *arguments)


def test_a_cluster_that_is_fine(preflight: Callable[..., Answer]) -> None:
    done = preflight("TrainCluster")

    assert done.code == 0
    assert "clusters/train.yaml:4:1: info TS-ACC-091: instance: the launch" in done.out
    assert "checks ask the account" in done.err


def test_rules_over_the_plan_and_over_the_account_are_one_report(
    account: Account, preflight: Callable[..., Answer]
) -> None:
    Path("clusters/train.yaml").write_text(CLUSTER.replace("zone: usw2-az4", "zone: us-west-2d"))
    account.aws.client("ssm").delete_parameter(Name="/trainshed/ami/neuron/ecs/stable")

    done = preflight("TrainCluster", "--json")

    found = json.loads(done.out)["findings"]
    assert done.code == 1
    severities = ["error", "warning", "info"]
    assert [each["severity"] for each in found] == sorted(
        (each["severity"] for each in found), key=severities.index
    )
    assert {"TS-ACC-040", "TS-ZON-001", "TS-ACC-091"} <= {each["rule"] for each in found}
    assert found[0]["place"]["file"] == "clusters/train.yaml"


def test_what_the_account_has_answered_is_not_asked_again(
    account: Account, preflight: Callable[..., Answer]
) -> None:
    def rules() -> set[str]:
        found = json.loads(preflight("TrainCluster", "--json").out)["findings"]
        return {each["rule"] for each in found}

    answered = rules()
    account.aws.fail(Fault(service="ec2", operation="DescribeAddresses", code="Blocked"))
    partly = rules()

    assert not {"TS-QUO-001", "TS-QUO-002"} & answered
    # Its VPCs are known, its Elastic IPs are not.
    assert "TS-QUO-002" in partly and "TS-QUO-001" not in partly


def test_an_accepted_rule_over_the_account_must_be_one(preflight: Callable[..., Answer]) -> None:
    ids = ("TS-ACC-040", "TS-ACC-999", "TS-IMG-001", "TS-IMG-999")
    accepted = ", ".join(f"{each}: because" for each in ids)
    Path("clusters/train.yaml").write_text(CLUSTER + f"findings: {{accept: {{{accepted}}}}}\n")

    found = json.loads(preflight("TrainCluster", "--json").out)["findings"]

    unknown = [each["message"].split()[0] for each in found if each["rule"] == "TS-FND-001"]
    assert unknown == ["TS-ACC-999", "TS-IMG-999"]


def test_what_is_accepted_stands_first_and_fails_nothing(
    account: Account, preflight: Callable[..., Answer]
) -> None:
    account.aws.client("ssm").delete_parameter(Name="/trainshed/ami/neuron/ecs/stable")
    Path("clusters/train.yaml").write_text(
        CLUSTER + "findings: {accept: {TS-ACC-040: baked while the network is deployed}}\n"
    )

    done = preflight("TrainCluster")

    assert done.code == 0
    first, *_, last = done.out.splitlines()
    assert first.endswith("accepted TS-ACC-040: baked while the network is deployed")
    assert last.startswith("0 errors, 0 warnings, ")
    assert ", 1 accepted; not run: cdk-preflight, cdk-nag" in last


@pytest.mark.synth
def test_in_a_project_the_templates_are_judged_and_the_launch_is_tried_by_them(
    preflight: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "synthesise", synthesise_in_this_process)
    Path("cdk.json").write_text(json.dumps({"app": f"python3 '{ROOT / 'app.py'}'"}))

    done = preflight("TrainCluster", "--json")

    report = json.loads(done.out)
    assert done.code == 0
    assert {run["tool"] for run in report["tools"] if run["state"] == "ran"} >= {
        "cdk-preflight",
        "cdk-nag",
        "cfn-lint",
    }
    [launch] = [each for each in report["findings"] if each["rule"] == "TS-ACC-091"]
    assert "its network does not exist yet" in launch["message"]


def test_an_app_that_fails_holds_up_no_question(preflight: Callable[..., Answer]) -> None:
    Path("cdk.json").write_text(json.dumps({"app": "python3 missing.py"}))

    done = preflight("TrainCluster")

    assert done.code == 1
    assert "TS-ACC-091" in done.out
    assert "error: cdk synth failed: " in done.out


def test_the_policy_is_printed_without_an_account(
    preflight: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")

    done = preflight("TrainCluster", "--print-policy")

    assert done.code == 0
    assert json.loads(done.out)["Version"] == "2012-10-17"


def test_credentials_that_expired_are_one_line(
    account: Account, preflight: Callable[..., Answer]
) -> None:
    account.aws.fail(
        Fault(service="*", operation="*", code="ExpiredToken", message="it expired", count=None)
    )
    # Nothing is synthesised without an account to ask.
    Path("cdk.json").write_text(json.dumps({"app": "python3 missing.py"}))

    done = preflight("TrainCluster")

    assert done.code == 2
    assert done.out == ""
    assert done.err == (
        "error: AWS does not take the credentials: ExpiredToken, it expired; sign in again, or "
        "set AWS_PROFILE to a profile that works\n"
    )
