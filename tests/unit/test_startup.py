"""What `start_fast` does for a CDK app."""

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


def test_an_app_finds_node_where_the_environment_is_not_activated(tmp_path: Path) -> None:
    environment = {key: os.environ[key] for key in os.environ.keys() - {"JSII_NODE"}}

    ended = subprocess.run(
        [sys.executable, "-c", APP],
        env=environment | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 0, ended.stderr
