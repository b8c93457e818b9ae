"""The real, unmodified CDK CLI against the embedded AWS."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_logs as logs

from trainshed.offline.deployment import DeploymentFailed
from trainshed.offline.embedded import EmbeddedAws

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
    deployments = embedded_aws.cdk_deploy(assembly, GOOD)

    assert deployments[GOOD].outputs == {"Name": "train"}
    groups = embedded_aws.client("logs").describe_log_groups(logGroupNamePrefix="train")
    assert [group["logGroupName"] for group in groups["logGroups"]] == ["train"]


def test_a_broken_stack_fails_with_the_reason(embedded_aws: EmbeddedAws, assembly: Path) -> None:
    with pytest.raises(DeploymentFailed, match=r"15") as failed:
        embedded_aws.cdk_deploy(assembly, BROKEN)

    assert "ROLLBACK_COMPLETE" in str(failed.value)


def test_offline_run_needs_nothing_but_loopback(assembly: Path, tmp_path: Path) -> None:
    deploy = (
        f"cdk bootstrap --app {assembly} && "
        f"cdk deploy --app {assembly} --require-approval never {GOOD}"
    )
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.setblocking(False)
        url = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        path = [str(ROOT / "node_modules" / ".bin"), str(Path(sys.executable).parent)]

        done = subprocess.run(
            ["trainshed", "offline", "run", "--", "sh", "-c", deploy],
            cwd=tmp_path,
            # Whatever wanted to leave this machine would knock at the proxy.
            env=os.environ
            | {"PATH": os.pathsep.join([*path, os.environ["PATH"]])}
            | {"HTTP_PROXY": url, "HTTPS_PROXY": url, "http_proxy": url, "https_proxy": url},
            capture_output=True,
            text=True,
        )

        assert done.returncode == 0, done.stdout + done.stderr
        assert "Good.Name = train" in done.stderr
        with pytest.raises(BlockingIOError):
            proxy.accept()
