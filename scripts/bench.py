"""Measures what a user waits for, in one run, and writes docs/performance.md.

Absolute times belong to the machine; the ratios, taken in the same run, are what the project
promises. Each figure is the median of several runs, taken in turn so that a noisy minute hits
all of them.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from l1_source import l1_source
from rich.console import Console
from suite_cpu import suite

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "performance.md"
RUNS, FLEET_RUNS = 7, 3
FLEETS = (1, 4, 16, 64)
console = Console(stderr=True)

EMPTY_APP = """
import aws_cdk as cdk
app = cdk.App()
cdk.CfnWaitConditionHandle(cdk.Stack(app, "Empty"), "Nothing")
app.synth()
"""

# What app.py has of cdk-nag.
NAG_LINES = (
    "from cdk_nag import AwsSolutionsChecks\n",
    "    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))\n",
)

CORE = """
import sys, time
from pathlib import Path
from trainshed.plan import load_fleet
paths = sorted(Path(sys.argv[1]).glob("*.yaml"))
load_fleet(paths[:1])
start = time.perf_counter()
load_fleet(paths)
print((time.perf_counter() - start) / len(paths))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One run of a command.

    Attributes:
        seconds: wall clock.
        peak_mib: largest sum of resident memory of the process and all it started, when watched.
        output: what it printed.
    """

    seconds: float
    peak_mib: float
    output: str


# Runs a command, watching its memory or not.
Case = Callable[[bool], Measure]


def measure(
    command: Sequence[str], environment: Mapping[str, str], *, watch: bool = False
) -> Measure:
    """Run a command.

    Args:
        command: program and arguments.
        environment: its variables.
        watch: look at the memory of the process tree, which takes time from the command itself.
    """
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        root, peak = psutil.Process(process.pid), 0
        while watch and process.poll() is None:
            try:
                tree = [root, *root.children(recursive=True)]
                peak = max(peak, sum(each.memory_info().rss for each in tree))
            except psutil.NoSuchProcess:
                pass  # ended between two looks
            time.sleep(0.02)
        process.wait()
        seconds = time.perf_counter() - start
        output.seek(0)
        text = output.read()
    if process.returncode:
        sys.exit(f"error: {' '.join(command)} ended with {process.returncode}:\n{text}")
    return Measure(seconds=seconds, peak_mib=peak / 2**20, output=text)


def in_turn(runs: int, cases: Mapping[str, Case]) -> dict[str, tuple[float, float]]:
    """Return median seconds, and peak MiB of a run of its own, by case; the cases in turn."""
    found: dict[str, list[float]] = {name: [] for name in cases}
    for run in range(runs):
        for name, case in cases.items():
            console.print(f"run {run + 1} of {runs}: {name}")
            found[name].append(case(False).seconds)
    console.print("memory")
    return {
        name: (statistics.median(seconds), cases[name](True).peak_mib)
        for name, seconds in found.items()
    }


def write_fleet(folder: Path, count: int) -> Path:
    """Write `count` clusters like TrainCluster, each with stacks of its own."""
    folder.mkdir()
    text = (ROOT / "clusters" / "train.yaml").read_text(encoding="utf-8")
    for index in range(count):
        own = text.replace("TrainCluster", f"Train{index}Cluster")
        own = own.replace("repository: train", f"repository: train-{index}")
        (folder / f"{index:02}.yaml").write_text(own, encoding="utf-8")
    return folder


def main() -> None:
    """Measure and write the report."""
    context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)

        def environment(name: str, **more: object) -> dict[str, str]:
            out = work / f"out-{name}"
            return os.environ | {
                "CDK_CONTEXT_JSON": json.dumps(context | more),
                "CDK_OUTDIR": str(out),
                "AWS_REGION": "us-west-2",
            }

        def script(name: str, text: str) -> str:
            path = work / f"{name}.py"
            path.write_text(textwrap.dedent(text), encoding="utf-8")
            return str(path)

        fleets = {count: write_fleet(work / f"fleet{count}", count) for count in FLEETS}
        python = sys.executable
        # Warm, and the templates of the L1 app.
        measure([python, "app.py"], environment("train", clusters="clusters/train.yaml"))
        l1_app = script("l1", l1_source(work / "out-train"))

        def case(name: str, *command: str, **context: str) -> Case:
            return lambda watch: measure(
                [python, *command], environment(name, **context), watch=watch
            )

        without_nag = (ROOT / "app.py").read_text(encoding="utf-8")
        for line in NAG_LINES:
            if line not in without_nag:
                sys.exit(f"error: app.py has no line {line!r}; adapt NAG_LINES in scripts/bench.py")
            without_nag = without_nag.replace(line, "")
        cluster = "clusters/train.yaml"
        report = synthesis(
            {
                "empty CDK app (the floor)": case("empty", script("empty", EMPTY_APP)),
                "the same templates as L1 resources": case("l1", l1_app),
                "TrainCluster without cdk-nag": case(
                    "bare", script("bare", without_nag), clusters=cluster
                ),
                "TrainCluster (`python app.py`)": case("train", "app.py", clusters=cluster),
            }
        )
        found = in_turn(
            FLEET_RUNS,
            {str(n): case(f"fleet{n}", "app.py", clusters=f"{fleets[n]}/*.yaml") for n in FLEETS},
        )
        report += growth({int(count): measured for count, measured in found.items()})
        core = measure([python, script("core", CORE), str(fleets[64])], dict(os.environ))
        report += ["", "## The core alone", ""]
        milliseconds = float(core.output) * 1000
        report += [f"Spec to plan: {milliseconds:.1f} ms a cluster (aim: under 50 ms)."]
        report += demo()
        report += suite()
    head = (
        "# Performance\n\nWritten by `make bench`. Absolute times belong to the machine that ran "
        f"it, with {os.cpu_count()} cores;\ncompare the ratios."
    )
    REPORT.write_text("\n".join([head, *report]) + "\n", encoding="utf-8")
    console.print(f"wrote {REPORT.relative_to(ROOT)}")


def synthesis(cases: Mapping[str, Case]) -> list[str]:
    """Report one cluster against the floor and against L1."""
    found = in_turn(RUNS, cases)
    floor, bare_l1 = (found[name][0] for name in list(cases)[:2])
    lines = ["", "## Synthesis of one cluster", ""]
    lines += ["| what | seconds | x the floor | x the L1 app | peak MiB |", "|---|---|---|---|---|"]
    for name, (seconds, peak) in found.items():
        lines.append(
            f"| {name} | {seconds:.2f} | {seconds / floor:.2f} | {seconds / bare_l1:.2f} "
            f"| {peak:.0f} |"
        )
    aims = (
        "Aims: with cdk-nag at most 2 x the floor; without, 1.6 x the floor and 1.15 x the L1 app."
    )
    share = (
        f"CDK itself takes {bare_l1 / floor:.2f} x the floor to load, resolve and validate these "
        "templates,\nwritten as plain L1 resources; what is above that is ours."
    )
    return [*lines, "", aims, "", share]


def growth(found: Mapping[int, tuple[float, float]]) -> list[str]:
    """Report how the time grows with the number of clusters."""
    lines = ["", "## Several clusters in one app", ""]
    lines += ["| clusters | seconds | seconds per added cluster | peak MiB |", "|---|---|---|---|"]
    first = found[1][0]
    for count, (seconds, peak) in found.items():
        added = f"{(seconds - first) / (count - 1):.2f}" if count > 1 else ""
        lines.append(f"| {count} | {seconds:.2f} | {added} | {peak:.0f} |")
    return [*lines, "", "Aim: linear, at most 0.2 s per added cluster."]


def demo() -> list[str]:
    """Report the steps of a warm `make demo`."""
    console.print("make demo, warm")
    measured = measure(["make", "demo"], os.environ)
    steps = [
        line.removeprefix("took ").split(" s: ", 1)
        for line in measured.output.splitlines()
        if line.startswith("took ")
    ]
    lines = ["", "## `make demo`, warm", "", "| step | seconds |", "|---|---|"]
    lines += [f"| {name} | {seconds} |" for seconds, name in steps]
    lines.append(f"| in all, with starting and ending the embedded AWS | {measured.seconds:.1f} |")
    return [*lines, "", "Aim: under 25 s on 2 cores."]


if __name__ == "__main__":
    main()
