"""What `make demo` runs inside the embedded AWS: `trainshed up`, and jobs on the cluster.

With `--eks`, as `make demo-eks` runs it, a cluster of Amazon EKS instead. Each step is a line; what
its commands print is in build/demo, or build/demo-eks. At the end stands what there is now.
"""

import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from demo_job import NODES, RANKS
from rich.console import Console
from rich.status import Status
from rich.table import Table

from embedded_aws.hosts.image_files import containers_unavailable
from trainshed.aws import Region, regions

ROOT = Path(__file__).resolve().parents[1]
# The quota is that of Running On-Demand Trn instances.
CLUSTER, TRN_QUOTA = "TrainCluster", "L-2C3B7624"
# That of Running On-Demand DL instances.
EKS_FILE, DL_QUOTA = "examples/dl1-eks.yaml", "L-6E869C2A"
# Who brings the cluster up, and who trains, each with what it may do in the account.
EKS_ROLES = {
    "Operator": ("*",),
    "MachineLearning": (
        *("cloudformation:DescribeStacks", "cloudformation:ListStackResources"),
        "eks:DescribeCluster",
    ),
}
# `TrainNetwork |  3/26 | 10:14:06 AM | CREATE_COMPLETE | ...`
EVENT = re.compile(r"(\w+) \|\s+(\d+)/(\d+) \|")
LAST_LINES = 30


class StepFailed(Exception):
    """A command of a step failed."""


@dataclass
class Demo:
    """The steps so far.

    Attributes:
        logs: folder of what the commands print.
        console: where the steps are shown.
        steps: seconds by title.
    """

    logs: Path
    console: Console
    steps: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, title: str) -> Iterator["Step"]:
        """Show a step while it runs, and how long it took.

        Raises:
            SystemExit: one of its commands failed; the end of its log is shown.
        """
        name = re.split("[:,]", title)[0].lower().replace(" ", "-")
        log = self.logs / f"{len(self.steps) + 1}-{name}.log"
        began = monotonic()
        try:
            with self.console.status(title) as status, log.open("w", encoding="utf-8") as file:
                yield Step(title=title, status=status, log=file)
        except StepFailed as error:
            end = log.read_text(encoding="utf-8").splitlines()[-LAST_LINES:]
            self.console.print("\n".join(end), markup=False, highlight=False)
            sys.exit(f"error: {title}: {error}; all that it printed is in {log.relative_to(ROOT)}")
        self.steps[title] = monotonic() - began
        self.console.print(f"{self.steps[title]:6.1f} s  {title}", markup=False, highlight=False)


@dataclass(frozen=True)
class Step:
    """A step that runs.

    Attributes:
        title: of the step.
        status: its line.
        log: gets what its commands print.
    """

    title: str
    status: Status
    log: Any

    def run(
        self,
        command: Sequence[str],
        *,
        folder: Path = ROOT,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command; return what it printed.

        Args:
            command: its words.
            folder: working directory.
            environment: variables beside this process's.

        Raises:
            StepFailed: its exit code is not 0.
        """
        self.log.write(f"$ {shlex.join(command)}\n")
        done: dict[str, str] = {}
        printed: list[str] = []
        with subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **(environment or {})},
        ) as process:
            assert process.stdout
            for line in process.stdout:
                self.log.write(line)
                self.log.flush()
                printed.append(line)
                if event := EVENT.match(line):
                    done[event[1]] = f"{event[1]} {event[2]} of {event[3]}"
                    self.status.update(f"{self.title}: {', '.join(done.values())}")
        if process.returncode:
            raise StepFailed(f"{shlex.join(command)} ended with {process.returncode}")
        return "".join(printed)


def main() -> None:
    """Run the steps, and say what there is at the end."""
    of_eks = "--eks" in sys.argv[1:]
    logs = ROOT / "build" / ("demo-eks" if of_eks else "demo")
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    demo = Demo(logs=logs, console=Console())
    [region] = regions(None)
    if of_eks:
        with tempfile.TemporaryDirectory() as folder:
            results = show_eks(demo, region, Path(folder))
    else:
        bring_up(demo, CLUSTER, TRN_QUOTA)
        results = list(run_jobs(demo))
    say_what_there_is(demo, region, results)


def bring_up(demo: Demo, cluster: str, quota: str, user: Mapping[str, str] | None = None) -> None:
    """Bring a cluster up by the command that does it on AWS, which says itself what it does.

    Args:
        demo: it.
        cluster: name of the cluster, or its file.
        quota: code of the quota for its nodes.
        user: variables by which it is done as somebody else.
    """
    with demo.step("a quota for the nodes: on AWS a person grants it, here a control") as step:
        granted = {"service": "ec2", "code": quota, "value": 2048}
        step.run(["trainshed", "offline", "control", "quotas", json.dumps([granted])])
    command, began = ["trainshed", "up", cluster, "--yes"], monotonic()
    demo.console.print(f"$ {shlex.join(command)}", markup=False, highlight=False)
    if code := subprocess.run(command, cwd=ROOT, env={**os.environ, **(user or {})}).returncode:
        sys.exit(code)
    demo.steps["up"] = monotonic() - began


def show_eks(demo: Demo, region: Region, folder: Path) -> Sequence[str]:
    """Bring a cluster of Amazon EKS up, as a role that its file names, and run a job as another.

    Args:
        demo: it.
        region: of the embedded AWS.
        folder: for the cluster file and its lock, which stay out of the checkout.

    Returns:
        What came of it.
    """
    if reason := containers_unavailable():
        sys.exit(f"error: programs of Kubernetes run in containers here, and {reason}")
    file = str(shutil.copy(ROOT / EKS_FILE, folder))
    with demo.step(f"roles of its users, which you make by hand: {', '.join(EKS_ROLES)}"):
        for name, actions in EKS_ROLES.items():
            make_role(region, name, actions)
    operator, user = (credentials(region, name) for name in EKS_ROLES)
    bring_up(demo, file, DL_QUOTA, operator)
    with demo.step("trainshed kube nodes, as MachineLearning") as step:
        # It fails when one is not as planned.
        found = step.run(["trainshed", "kube", "nodes", file, "--json"], environment=user)
    planned, nodes = (json.loads(found)[name] for name in ("planned", "nodes"))
    shown = [*planned["devices"], "hugepages-2Mi", "memory"]
    # Without domains, so that it fits a terminal of 80 columns.
    table = Table("node", *(name.rpartition("/")[2] for name in shown))
    for node in nodes:
        name = node["name"].partition(".")[0]
        table.add_row(name, *(node["allocatable"][each] for each in shown))
    demo.console.print(table)
    return [f"all {len(nodes)} nodes have what was planned", run_job(demo, "mpirun", user)]


def make_role(region: Region, name: str, actions: Sequence[str]) -> None:
    """Make a role that people of the account may assume."""
    account = os.environ["CDK_DEFAULT_ACCOUNT"]
    people = {"AWS": f"arn:aws:iam::{account}:root"}
    trust = {"Effect": "Allow", "Principal": people, "Action": "sts:AssumeRole"}
    allowed = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
    assumed, policy = (
        json.dumps({"Version": "2012-10-17", "Statement": [each]}) for each in (trust, allowed)
    )
    region.call("iam", "create_role", RoleName=name, AssumeRolePolicyDocument=assumed)
    region.call(
        "iam", "put_role_policy", RoleName=name, PolicyName="cluster", PolicyDocument=policy
    )


def credentials(region: Region, role: str) -> dict[str, str]:
    """Return the variables by which a command has a role."""
    arn = f"arn:aws:iam::{os.environ['CDK_DEFAULT_ACCOUNT']}:role/{role}"
    given = region.call("sts", "assume_role", RoleArn=arn, RoleSessionName="demo")["Credentials"]
    return {
        "AWS_ACCESS_KEY_ID": given["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": given["SecretAccessKey"],
        "AWS_SESSION_TOKEN": given["SessionToken"],
    }


def run_jobs(demo: Demo) -> Iterator[str]:
    """Run an all-reduce by each launcher that is installed; yield what came out."""
    launchers = ["mpirun", *(["torchrun"] if importlib.util.find_spec("torch") else [])]
    yield from (run_job(demo, launcher) for launcher in launchers)
    if len(launchers) == 1:
        yield 'torchrun: not shown, as PyTorch is not installed ("make torch" installs it)'


def run_job(demo: Demo, launcher: str, user: Mapping[str, str] | None = None) -> str:
    """Run an all-reduce, and return what came out.

    Args:
        demo: it.
        launcher: by which it is started.
        user: variables by which it is submitted as somebody else.
    """
    title = f"a job on {NODES} nodes: all-reduce of {RANKS} ranks by {launcher}"
    with demo.step(title) as step:
        command = [sys.executable, str(ROOT / "scripts/demo_job.py"), launcher]
        printed = step.run(command, environment=user)
    return f"{launcher}: {printed.splitlines()[-1]}"


def say_what_there_is(demo: Demo, region: Region, results: Sequence[str]) -> None:
    """Print the stacks, what the jobs said, and what to do next."""
    table = Table("stack", "state", "resources", "seconds")
    for stack in region.call("cloudformation", "describe_stacks")["Stacks"]:
        name = {"StackName": stack["StackName"]}
        resources = list(
            region.pages("cloudformation", "list_stack_resources", "StackResourceSummaries", **name)
        )
        times = [
            event["Timestamp"]
            for event in region.pages(
                "cloudformation", "describe_stack_events", "StackEvents", **name
            )
        ]
        seconds = f"{(max(times) - min(times)).total_seconds():.1f}"
        table.add_row(stack["StackName"], stack["StackStatus"], str(len(resources)), seconds)
    demo.console.print(table)
    for line in results:
        demo.console.print(line, markup=False, highlight=False)
    took = sum(demo.steps.values())
    demo.console.print(
        f"""
It took {took:.0f} s. What the tools printed is in build; that AWS is gone.

next:
  source .venv/bin/activate
  trainshed explain train        what was decided for {CLUSTER}, and why
  trainshed offline up           an AWS that stays up, for you to deploy to (docs/offline.md)
  trainshed init my-training     a project of your own (docs/your-project.md)""",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
