"""The real, unmodified CDK CLI against the embedded AWS."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_logs as logs

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.errors import EmbeddedAwsError

ROOT = Path(__file__).parents[2]
GOOD, BROKEN = "Good", "Broken"


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two stacks of one log group each; CloudFormation refuses one."""
    app = cdk.App(outdir=str(tmp_path_factory.mktemp("assembly")))
    environment = cdk.Environment(account="123456789012", region="us-west-2")
    good = cdk.Stack(app, GOOD, env=environment)
    group = logs.LogGroup(good, "Group", log_group_name="train")
    cdk.CfnOutput(good, "Name", value=group.log_group_name)
    broken = cdk.Stack(app, BROKEN, env=environment)
    logs.CfnLogGroup(broken, "Group", retention_in_days=15)
    return Path(app.synth().directory)


def test_an_assembly_is_bootstrapped_and_deployed(
    embedded_aws: EmbeddedAws, assembly: Path
) -> None:
    # A text, as app.synth().directory is.
    deployments = embedded_aws.cdk_deploy(str(assembly), GOOD)

    assert deployments[GOOD].outputs == {"Name": "train"}
    groups = embedded_aws.client("logs").describe_log_groups(logGroupNamePrefix="train")
    assert [group["logGroupName"] for group in groups["logGroups"]] == ["train"]


def test_a_broken_stack_fails_with_the_reason(embedded_aws: EmbeddedAws, assembly: Path) -> None:
    with pytest.raises(DeploymentFailed, match=r"15") as failed:
        embedded_aws.cdk_deploy(assembly, BROKEN)

    assert "ROLLBACK_COMPLETE" in str(failed.value)


@pytest.mark.parametrize(
    ("lock", "command"),
    [
        pytest.param(None, "npm install aws-cdk", id="somebody's project"),
        pytest.param("{}", "npm install aws-cdk", id="a project without the CDK CLI"),
        pytest.param((ROOT / "package-lock.json").read_text(), "npm ci", id="a checkout"),
    ],
)
def test_without_the_cdk_cli_the_advice_fits_the_project(
    embedded_aws: EmbeddedAws,
    assembly: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lock: str | None,
    command: str,
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    monkeypatch.setenv("PATH", "/nowhere")
    if lock is not None:
        (tmp_path / "package-lock.json").write_text(lock, encoding="utf-8")

    with pytest.raises(EmbeddedAwsError, match=rf"is not installed here; install it: {command}$"):
        embedded_aws.cdk_deploy(assembly)


def test_a_failure_is_not_explained_by_earlier_ones(clean_aws: EmbeddedAws, tmp_path: Path) -> None:
    app = cdk.App(outdir=str(tmp_path))
    stack = cdk.Stack(app, "Again", env=cdk.Environment(region="us-west-2"))
    logs.CfnLogGroup(stack, "First", log_group_name="first")
    cdk.CfnOutput(stack, "Out", value="out", export_name="taken")
    first = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "first"}}
    early = {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 15}}
    topic = {"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}
    output = {"Value": "other", "Export": {"Name": "taken"}}
    clean_aws.deploy({**topic, "Outputs": {"Out": output}}, stack_name="Other")
    clean_aws.deploy({"Resources": {"First": first}}, stack_name="Again")
    with pytest.raises(DeploymentFailed, match="15"):
        clean_aws.deploy({"Resources": {"First": first, "Early": early}}, stack_name="Again")

    # No resource fails here, so the CLI reads the stack's events.
    with pytest.raises(DeploymentFailed, match="taken") as failed:
        clean_aws.cdk_deploy(Path(app.synth().directory))

    assert "Early" not in str(failed.value)


@pytest.fixture
def proxy() -> Iterator["Proxy"]:
    """Refuses, and remembers, whatever wants to leave this machine."""
    with Proxy() as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield proxy
        proxy.shutdown()


class Proxy(ThreadingHTTPServer):
    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Refusal)


class Refusal(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        assert isinstance(self.server, Proxy)
        self.server.asked.append(self.requestline)


def test_offline_run_needs_nothing_but_loopback(
    assembly: Path, tmp_path: Path, proxy: Proxy
) -> None:
    deploy = (
        f"cdk bootstrap --app {assembly} && "
        f"cdk deploy --app {assembly} --require-approval never {GOOD}"
    )
    path = [str(ROOT / "node_modules" / ".bin"), str(Path(sys.executable).parent)]
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")

    done = subprocess.run(
        ["embedded-aws", "run", "--", "sh", "-c", deploy],
        cwd=tmp_path,
        env=os.environ
        | {"PATH": os.pathsep.join([*path, os.environ["PATH"]])}
        | dict.fromkeys(names, f"http://127.0.0.1:{proxy.server_port}"),
        capture_output=True,
        text=True,
    )

    said = done.stdout + done.stderr  # with CI set, the CDK CLI says on stdout what it says
    assert done.returncode == 0, said
    assert "Good.Name = train" in said
    assert proxy.asked == []
