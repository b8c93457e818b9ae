"""Another orchestrator needs a folder, a file of its stack, and six lines."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import job_bench
import pytest
from reviewed_project import commit_all, git

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PROGRAMS = ROOT / "packer/files/opt/trainshed"
# What it needs outside of its folder: by file, what is put before a text.
LINES = {
    "src/trainshed/orchestrators/__init__.py": {
        '    EC2 = "ec2"\n': '    SHELL = "shell"\n',
    },
    "stacks/trainshed_stacks/cluster_stack.py": {
        "from trainshed.plan import ClusterPlan": (
            "from trainshed.orchestrators.shell.plan import ShellPlan\n"
        ),
        "from trainshed_stacks.shared import": (
            "from trainshed_stacks.shell_jobs import ShellGroup, add_shell\n"
        ),
        "BatchMultiNode | Ec2Cluster |": "ShellGroup | ",
        "            case BatchPlan() as batch:\n": (
            "            case ShellPlan():\n"
            "                self.orchestrator = add_shell(self, NodeLaunch(self, plan, network))\n"
        ),
    },
}
MOST_LINES = 6
# Prints the parts that an orchestrator lacks, and may not.
LACKED = """
import re
from importlib.util import find_spec
from trainshed import orchestrators
table = re.findall(r"^\\| (\\w+) \\| (.+) \\|$", orchestrators.__doc__, re.M)
for each in orchestrators.Orchestrator:
    for part, has in table:
        if part != "part" and "may be missing" not in has:
            if not find_spec(f"{orchestrators.__name__}.{each}.{part}"):
                print(each, part)
"""
CLUSTER = """
name: ThirdCluster
region: us-west-2
orchestrator: shell
instance: {type: trn1.32xlarge, nodes: {max: 2}}
job: {environment: {GREETING: "good morning"}}
""".lstrip()
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of this repository with a third orchestrator, and a cluster of it."""
    folder = tmp_path_factory.mktemp("checkout")
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("src", "constructs", "stacks", "packer"):
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    for name in ("app.py", "cdk.json", "package.json"):
        shutil.copy(ROOT / name, folder)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    (folder / ".gitignore").write_text("__pycache__/\nnode_modules\n")
    shutil.copytree(HERE / "shell", folder / "src/trainshed/orchestrators/shell", ignore=unwanted)
    shutil.move(
        folder / "src/trainshed/orchestrators/shell/stack.py",
        folder / "stacks/trainshed_stacks/shell_jobs.py",
    )
    for name, lines in LINES.items():
        text = (folder / name).read_text()
        for before, added in lines.items():
            assert text.count(before) == 1, before
            text = text.replace(before, f"{added}{before}")
        (folder / name).write_text(text)
    (folder / "clusters").mkdir()
    (folder / "clusters/third.yaml").write_text(CLUSTER)
    return folder


@pytest.fixture(scope="module")
def run(project: Path) -> Run:
    """Run a Python program of the checkout in it; by default it must succeed."""
    sources = os.pathsep.join(str(project / name) for name in ("src", "constructs", "stacks"))

    def start(*arguments: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=project,
            env={**os.environ, "PYTHONPATH": sources},
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return start


@pytest.fixture(scope="module")
def trainshed(run: Run) -> Run:
    return lambda *arguments, **options: run("-m", "trainshed.cli", *arguments, **options)


@pytest.fixture(scope="module")
def aws(
    project: Path,
    run: Run,
    publish_ami: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[EmbeddedAws]:
    """An embedded AWS, to which the commands of this module go, with the cluster deployed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join([str(PROGRAMS), os.environ["PATH"]]))
        patch.setenv("CDK_OUTDIR", str(project / "cdk.out"))
        run("app.py")
        patch.delenv("CDK_OUTDIR")
        settings = JobSettings(loopback=True, speed=60)
        with job_bench.job_aws(tmp_path_factory.mktemp("jobs"), settings) as found:
            publish_ami(found, "neuron/ec2")
            for name in ("ThirdNetwork", "ThirdCluster"):
                template = json.loads((project / f"cdk.out/{name}.template.json").read_text())
                found.deploy(template, stack_name=name)
            found.lead_here(patch)
            yield found


def test_it_needs_at_most_six_lines_outside_of_its_folder() -> None:
    added = [
        line for lines in LINES.values() for text in lines.values() for line in text.splitlines()
    ]

    assert len(added) <= MOST_LINES


def test_every_orchestrator_has_every_part(run: Run) -> None:
    assert run("-c", LACKED).stdout == ""


def test_it_is_planned_explained_and_priced(trainshed: Run) -> None:
    explained = trainshed("explain", "clusters/third.yaml").stdout
    priced = trainshed("cost", "clusters/third.yaml").stdout

    assert "on trn1.32xlarge, by AWS-RunShellScript" in explained
    assert "instances, on-demand" in priced


def test_a_cluster_file_that_it_cannot_run_is_refused(project: Path, trainshed: Run) -> None:
    (project / "wrong.yaml").write_text(CLUSTER + "image: {tag: v1}\n")

    done = trainshed("check", "wrong.yaml", code=2)

    assert "wrong.yaml" in done.stderr
    assert "jobs are shell scripts" in done.stderr
    assert "Traceback" not in done.stderr


def test_its_own_section_is_read_and_is_for_no_other(project: Path, trainshed: Run) -> None:
    few = project / "few.yaml"
    few.write_text(CLUSTER + "shell: {most_nodes: 1}\n")
    other = project / "other.yaml"
    other.write_text(CLUSTER.replace("shell", "ec2") + "shell: {most_nodes: 1}\n")

    refused = trainshed("check", str(few), code=2).stderr
    elsewhere = trainshed("check", str(other), code=2).stderr

    assert "a command takes 1 instances" in refused
    assert "is for orchestrator shell" in elsewhere


def test_its_rules_are_applied(trainshed: Run) -> None:
    found = trainshed("check", "clusters/third.yaml").stdout

    assert "TS-SHL-001" in found
    assert "TS-BAT" not in found
    assert "Two jobs may run on one node" in trainshed("rule", "TS-SHL-001").stdout


def test_its_account_is_asked(aws: EmbeddedAws, trainshed: Run) -> None:
    policy = trainshed("preflight", "clusters/third.yaml", "--print-policy").stdout
    found = trainshed("preflight", "clusters/third.yaml", code=1).stdout

    assert "autoscaling:DescribeAutoScalingGroups" in policy
    assert "batch:" not in policy
    assert "TS-ACC-090" not in found


def test_a_change_of_it_is_reviewed(project: Path, trainshed: Run) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        git("init", "--quiet")
        commit_all()
        file = project / "clusters/third.yaml"
        file.write_text(CLUSTER.replace("ThirdCluster", "OtherCluster").replace("2}", "4}"))

        report = trainshed("review", "--base", "HEAD").stdout

        file.write_text(CLUSTER)
    assert "the shell group" in report
    assert "the scripts on its nodes end" in report


def test_its_jobs_run(aws: EmbeddedAws, trainshed: Run) -> None:
    job_id = trainshed(
        *("job", "submit", "ThirdCluster", "--name", "hello", "--nodes", "2", "--plain"),
        *("--", "sh", "-c", 'echo "$GREETING from $(hostname)"'),
    ).stdout.strip()

    printed = trainshed("job", "logs", job_id, "--follow").stdout
    of_the_other = trainshed("job", "logs", job_id, "--node", "1").stdout
    listed = trainshed("job", "list", "ThirdCluster").stdout
    watched = trainshed("job", "watch", "hello").stdout
    status = trainshed("status", "ThirdCluster").stdout

    assert printed.startswith("good morning from")
    assert of_the_other.startswith("good morning from")
    assert job_id in listed
    assert "SUCCEEDED" in watched
    assert "nodes      2 running, at most 2\njobs       1 SUCCEEDED\n" in status


def test_a_node_of_it_is_drained(aws: EmbeddedAws, trainshed: Run) -> None:
    drained = trainshed("node", "drain", "ThirdCluster", "0").stdout
    undrained = trainshed("node", "undrain", "ThirdCluster", "0").stdout

    assert "takes no more jobs" in drained
    assert "takes jobs again" in undrained
