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

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "performance.md"
RUNS = 5
FLEETS = (1, 4, 16, 64)
console = Console(stderr=True)

EMPTY_APP = """
import aws_cdk as cdk
app = cdk.App()
cdk.CfnWaitConditionHandle(cdk.Stack(app, "Empty"), "Nothing")
app.synth()
"""

WITHOUT_NAG_APP = """
import sys
from pathlib import Path
import aws_cdk as cdk
from trainshed.plan import load_fleet
from trainshed_stacks import add_fleet
app = cdk.App()
add_fleet(app, load_fleet(sorted(Path(sys.argv[1]).glob("*.yaml")), region="us-west-2"))
app.synth()
"""

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
        peak_mib: largest sum of resident memory of the process and all it started.
        output: what it printed.
    """

    seconds: float
    peak_mib: float
    output: str


def measure(command: Sequence[str], environment: Mapping[str, str]) -> Measure:
    """Run a command and watch its process tree."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        root, peak = psutil.Process(process.pid), 0
        while process.poll() is None:
            try:
                tree = [root, *root.children(recursive=True)]
                peak = max(peak, sum(each.memory_info().rss for each in tree))
            except psutil.NoSuchProcess:
                pass  # ended between two looks
            time.sleep(0.02)
        seconds = time.perf_counter() - start
        output.seek(0)
        text = output.read()
    if process.returncode:
        sys.exit(f"error: {' '.join(command)} ended with {process.returncode}:\n{text}")
    return Measure(seconds=seconds, peak_mib=peak / 2**20, output=text)


def in_turn(
    runs: int, cases: Mapping[str, Callable[[], Measure]]
) -> dict[str, tuple[float, float]]:
    """Return median seconds and peak MiB by case, the cases taken in turn."""
    found: dict[str, list[Measure]] = {name: [] for name in cases}
    for run in range(runs):
        for name, case in cases.items():
            console.print(f"run {run + 1} of {runs}: {name}")
            found[name].append(case())
    return {
        name: (
            statistics.median(each.seconds for each in measures),
            max(each.peak_mib for each in measures),
        )
        for name, measures in found.items()
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
        train = environment("train", clusters="clusters/train.yaml")
        measure([python, "app.py"], train)  # warm, and the templates of the L1 app
        l1_app = script("l1", l1_source(work / "out-train"))
        report = synthesis(
            {
                "empty CDK app (the floor)": lambda: measure(
                    [python, script("empty", EMPTY_APP)], environment("empty")
                ),
                "the same templates as L1 resources": lambda: measure(
                    [python, l1_app], environment("l1")
                ),
                "TrainCluster without cdk-nag": lambda: measure(
                    [python, script("bare", WITHOUT_NAG_APP), str(fleets[1])], environment("bare")
                ),
                "TrainCluster (`python app.py`)": lambda: measure([python, "app.py"], train),
            }
        )
        report += growth(
            {
                count: in_turn(
                    1 if count > 4 else 3,
                    {
                        f"{count} clusters": lambda folder=folder, count=count: measure(
                            [python, "app.py"],
                            environment(f"fleet{count}", clusters=f"{folder}/*.yaml"),
                        )
                    },
                ).popitem()[1]
                for count, folder in fleets.items()
            }
        )
        core = measure([python, script("core", CORE), str(fleets[64])], dict(os.environ))
        report += ["", "## The core alone", ""]
        milliseconds = float(core.output) * 1000
        report += [f"Spec to plan: {milliseconds:.1f} ms a cluster (aim: under 50 ms)."]
        report += demo()
    head = (
        "# Performance\n\nWritten by `make bench`. Absolute times belong to the machine that ran "
        f"it, with {os.cpu_count()} cores;\ncompare the ratios."
    )
    REPORT.write_text("\n".join([head, *report]) + "\n", encoding="utf-8")
    console.print(f"wrote {REPORT.relative_to(ROOT)}")


def synthesis(cases: Mapping[str, Callable[[], Measure]]) -> list[str]:
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
    return [*lines, "", aims]


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
