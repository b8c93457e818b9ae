"""A project in git whose app needs no CDK, for reviews of it."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]

CLUSTER = """
name: OneCluster
region: us-west-2
zone: us-west-2a
instance: {type: trn1.32xlarge, nodes: {max: 4}}
""".lstrip()
# An app that needs no CDK: one stack for each cluster, with a queue of its number of nodes.
APP = """
import json, os, re
from pathlib import Path
with Path(os.environ["APP_RUNS"]).open("a") as runs:
    runs.write(os.environ["CDK_OUTDIR"] + chr(10))
artifacts = {}
out = Path(os.environ["CDK_OUTDIR"])
out.mkdir(parents=True)
for file in sorted(Path("clusters").glob("*.yaml")):
    text = file.read_text()
    name = re.search("^name: (.*)$", text, re.M)[1]
    nodes = re.search("max: (.*?)}", text)[1]
    queue = {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": int(nodes)}}
    (out / f"{name}.template.json").write_text(json.dumps({"Resources": {"Queue": queue}}))
    artifacts[name] = {
        "type": "aws:cloudformation:stack",
        "environment": "aws://unknown-account/us-west-2",
        "properties": {"templateFile": f"{name}.template.json"},
    }
(out / "validation-report.json").write_text('{"pluginReports": []}')
(out / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
"""


def git(*arguments: str) -> str:
    """Run git in the working directory."""
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit_all() -> None:
    """Commit what is in the working directory."""
    git("add", "--all")
    git("commit", "--quiet", "--message", "a change")


def write_project(folder: Path, app: str, cluster: str = CLUSTER) -> None:
    """Write a project."""
    (folder / "clusters").mkdir(parents=True, exist_ok=True)
    (folder / "cdk.json").write_text('{"app": "python3 app.py"}')
    (folder / "app.py").write_text(app)
    (folder / "clusters" / "one.yaml").write_text(cluster)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    (folder / ".gitignore").write_text("node_modules\n")
