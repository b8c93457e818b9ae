"""What `make demo` runs inside the embedded AWS: the way of a new account to its first job.

Each step is a line; what its commands print is in build/demo. At the end stands what there is now.
"""

import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from demo_job import NODES, RANKS
from rich.console import Console
from rich.status import Status
from rich.table import Table

from trainshed.aws import Region, regions

ROOT = Path(__file__).resolve().parents[1]
CLUSTER, CELL = "TrainCluster", ("neuron", "ecs")
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

    def run(self, command: Sequence[str], *, folder: Path = ROOT) -> str:
        """Run a command; return what it printed.

        Raises:
            StepFailed: its exit code is not 0.
        """
        self.log.write(f"$ {shlex.join(command)}\n")
        done: dict[str, str] = {}
        printed: list[str] = []
        with subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
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
    logs = ROOT / "build" / "demo"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    demo = Demo(logs=logs, console=Console())
    with tempfile.TemporaryDirectory() as folder:
        deploy(demo, Path(folder))
    results = list(run_jobs(demo))
    [region] = regions(None)
    say_what_there_is(demo, region, results)


def deploy(demo: Demo, folder: Path) -> None:
    """Do what a new account needs for the cluster, in the order of the README."""
    account, region = os.environ["CDK_DEFAULT_ACCOUNT"], os.environ["CDK_DEFAULT_REGION"]
    # An assembly of its own, so that two demos do not meet in cdk.out.
    assembly = str(folder / "cdk.out")
    cdk = ("cdk", "--app", assembly, "deploy", "--require-approval", "never")
    with demo.step("cdk bootstrap") as step:
        # Away from cdk.json: naming the environment is enough, and no app is synthesised.
        step.run(["cdk", "bootstrap", f"aws://{account}/{region}"], folder=folder)
    with demo.step("cdk synth") as step:
        step.run(["cdk", "synth", "--quiet", "--output", assembly])
    with demo.step("publish an AMI: a stand-in for what trainshed ami build bakes") as step:
        ami = step.run(["trainshed", "offline", "ami", *CELL]).strip()
        step.run(["trainshed", "ami", "publish", ami, "--channel", "stable"])
    with demo.step("cdk deploy TrainContainers, and a stand-in for its container image") as step:
        step.run([*cdk, "--exclusively", "TrainContainers"])
        step.run(["trainshed", "offline", "image", CLUSTER])
    with demo.step(f"cdk deploy {CLUSTER}") as step:
        step.run([*cdk, "--concurrency", "4", CLUSTER])


def run_jobs(demo: Demo) -> Iterator[str]:
    """Run an all-reduce by each launcher that is installed; yield what came out."""
    launchers = ["mpirun", *(["torchrun"] if importlib.util.find_spec("torch") else [])]
    for launcher in launchers:
        title = f"a job on {NODES} nodes: all-reduce of {RANKS} ranks by {launcher}"
        with demo.step(title) as step:
            printed = step.run([sys.executable, str(ROOT / "scripts/demo_job.py"), launcher])
        yield f"{launcher}: {printed.splitlines()[-1]}"
    if len(launchers) == 1:
        yield 'torchrun: not shown, as PyTorch is not installed ("make torch" installs it)'


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
    demo.console.print(
        f"""
It took {sum(demo.steps.values()):.0f} s. What the tools printed is in build/demo; that AWS is gone.

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
