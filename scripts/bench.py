"""Measures what a user waits for, writes docs/performance.md, and fails when an aim is missed.

Absolute times belong to the machine; the ratios are what the project promises. The cases run in
turn, so that a noisy minute hits all of them, and a ratio is that of two runs of the same turn.
"""

import itertools
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil
from aims import Aim, missed, table
from l1_source import l1_source
from rich.console import Console
from suite_cpu import suite

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings
from trainshed.plan import load_fleet
from trainshed.preflight import SharedAnswers, Subject, ask_account

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "performance.md"
RUNS, FLEET_RUNS = 9, 5
FLEETS = (1, 4, 16, 64)
ADDED_SECONDS = 0.1
console = Console(stderr=True)

EMPTY_APP = """
import aws_cdk as cdk
app = cdk.App()
cdk.CfnWaitConditionHandle(cdk.Stack(app, "Empty"), "Nothing")
app.synth()
"""

NAG_APP = EMPTY_APP.replace(
    "app = cdk.App()",
    """from cdk_nag import AwsSolutionsChecks
app = cdk.App()
cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))""",
)

# What app.py has of cdk-nag.
NAG_PARTS = ("from cdk_nag import AwsSolutionsChecks\n", "AwsSolutionsChecks(app), ")

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

COMPARED = """name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 16}}
storage: {lustre: {}}
"""
EKS_SECTION = "kubernetes: {access: [{role: Operator, policy: cluster-admin}]}\n"
EKS_COMMANDS = {
    "explain": ("-m", "trainshed.cli", "explain", "{file}"),
    "synthesis": ("app.py",),
    "lint": ("-m", "trainshed.cli", "lint", "{out}/TrainCluster.template.json"),
}
REVIEW = (sys.executable, "-m", "trainshed.cli", "review", "--base", "main")
# By the number of nodes; the addresses of a VPC suffice for 744 of dl1.24xlarge.
KUBERNETES_RUNS = {16: 1, 256: 3, 512: 1, 744: 1}
# That the aims are for.
KUBERNETES_NODES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One run of a command.

    Attributes:
        seconds: wall clock.
        cpu_seconds: of the process and all it started.
        peak_mib: largest sum of resident memory of the process and all it started, when watched.
        output: what it printed.
    """

    seconds: float
    cpu_seconds: float
    peak_mib: float
    output: str


# Runs a command, watching its memory or not.
Case = Callable[[bool], Measure]


def measure(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    watch: bool = False,
    folder: Path = ROOT,
) -> Measure:
    """Run a command.

    Args:
        command: program and arguments.
        environment: its variables.
        folder: where it runs.
        watch: look at the memory of the process tree, which takes time from the command itself.
    """
    start, cpu = time.perf_counter(), _cpu_seconds()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output
        )
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
    return Measure(
        seconds=seconds, cpu_seconds=_cpu_seconds() - cpu, peak_mib=peak / 2**20, output=text
    )


def _cpu_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The runs of one case.

    Attributes:
        seconds: wall clock of each.
        cpu_seconds: CPU time of each.
        peak_mib: memory, of a run of its own.
    """

    seconds: list[float]
    cpu_seconds: list[float]
    peak_mib: float


def in_turn(runs: int, cases: Mapping[str, Case]) -> dict[str, Found]:
    """Run the cases in turn."""
    found: dict[str, list[Measure]] = {name: [] for name in cases}
    for run in range(runs):
        for name, case in cases.items():
            console.print(f"run {run + 1} of {runs}: {name}")
            found[name].append(case(False))
    console.print("memory")
    return {
        name: Found(
            seconds=[each.seconds for each in measures],
            cpu_seconds=[each.cpu_seconds for each in measures],
            peak_mib=cases[name](True).peak_mib,
        )
        for name, measures in found.items()
    }


def ratios(of: Sequence[float], to: Sequence[float]) -> list[float]:
    """Divide what was measured in the same turn."""
    return [one / other for one, other in zip(of, to, strict=True)]


def write_fleet(folder: Path, count: int) -> Path:
    """Write `count` clusters like TrainCluster, each with stacks of its own."""
    folder.mkdir()
    text = (ROOT / "clusters" / "train.yaml").read_text(encoding="utf-8")
    for index in range(count):
        own = text.replace("TrainCluster", f"Train{index}Cluster")
        own = own.replace("repository: train", f"repository: train-{index}")
        (folder / f"{index:02}.yaml").write_text(own, encoding="utf-8")
    return folder


def write_project(folder: Path, *clusters: Path) -> Path:
    """Write a repository of git with this app and some clusters, and commit it."""
    (folder / "clusters").mkdir(parents=True)
    for name in ("app.py", "cdk.json"):
        shutil.copy(ROOT / name, folder)
    for file in clusters:
        shutil.copy(file, folder / "clusters")
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    (folder / ".gitignore").write_text("node_modules\n", encoding="utf-8")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for command in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", "the base"),
    ):
        subprocess.run(["git", *identity, *command], cwd=folder, check=True)
    return folder


def main() -> int:
    """Measure and write the report; return 1 when an aim is missed, 0 otherwise."""
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
        for part in NAG_PARTS:
            if part not in without_nag:
                sys.exit(f"error: app.py has no {part!r}; adapt NAG_PARTS in scripts/bench.py")
            without_nag = without_nag.replace(part, "")
        # It finds the checkout where it is.
        without_nag = without_nag.replace("Path(__file__)", f"Path({str(ROOT / 'app.py')!r})")
        cluster = "clusters/train.yaml"
        aims, report = synthesis(
            {
                "empty CDK app (the floor)": case("empty", script("empty", EMPTY_APP)),
                "empty CDK app with cdk-nag": case("nag", script("nag", NAG_APP)),
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
        more, lines = growth({int(count): measured for count, measured in found.items()})
        aims.append(more)
        report += lines
        core = [
            measure([python, script("core", CORE), str(fleets[max(FLEETS)])], dict(os.environ))
            for _ in range(FLEET_RUNS)
        ]
        aims.append(
            Aim(
                what="spec to plan, ms a cluster",
                limit=50,
                runs=[float(run.output) * 1000 for run in core],
            )
        )
        more_aims, lines = reviews(
            {
                "TrainCluster": write_project(work / "one", ROOT / "clusters" / "train.yaml"),
                "16 clusters": write_project(work / "sixteen", *sorted(fleets[16].iterdir())),
            },
            environment("review"),
        )
        aims += more_aims
        report += lines
        more_aims, lines = orchestrators(work, environment)
        aims += more_aims
        report += lines
        more_aims, lines = kubernetes()
        aims += more_aims
        report += lines
        for measured in (preflight, demo):
            more, lines = measured()
            aims.append(more)
            report += lines
    head = [
        "# Performance",
        "",
        f"Measured on {datetime.now(UTC):%Y-%m-%d} by `make bench`, which fails when an aim is",
        "missed by more than the noise. Changes since then are not in the figures. Absolute times",
        f"belong to the machine that ran it, with {os.cpu_count()} cores; compare the ratios.",
        "",
        "## Aims",
        "",
        *table(aims),
        "",
        "Measured is the median of the runs; noise is half of the range that the middle half of",
        "them covers. A ratio is that of two runs of the same turn, by wall clock.",
    ]
    # The suite has a test of this page, and ends the benchmark if it fails.
    _write([*head, *report])
    _write([*head, *report, *suite()])
    for line in (failures := [*missed(aims)]):
        console.print(f"[red]error:[/red] {line}", highlight=False)
    return 1 if failures else 0


def _write(lines: Sequence[str]) -> None:
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    console.print(f"wrote {REPORT}")


def synthesis(cases: Mapping[str, Case]) -> tuple[list[Aim], list[str]]:
    """Report one cluster against the floor and against L1."""
    found = in_turn(RUNS, cases)
    floor, with_nag, bare_l1, bare, cluster = found.values()
    lines = ["", "## Synthesis of one cluster", ""]
    lines += ["| what | seconds | x the floor | x the L1 app | CPU seconds | x | peak MiB |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for name, each in found.items():
        figures = (
            statistics.median(each.seconds),
            statistics.median(ratios(each.seconds, floor.seconds)),
            statistics.median(ratios(each.seconds, bare_l1.seconds)),
            statistics.median(each.cpu_seconds),
            statistics.median(ratios(each.cpu_seconds, floor.cpu_seconds)),
        )
        columns = [f"{figure:.2f}" for figure in figures]
        lines.append(f"| {name} | {' | '.join(columns)} | {each.peak_mib:.0f} |")
    l1_share = statistics.median(ratios(bare_l1.seconds, floor.seconds))
    nag_share = statistics.median(ratios(with_nag.seconds, floor.seconds))
    share = (
        f"CDK itself takes {l1_share:.2f} x the floor to load, resolve and validate these "
        "templates, written as\nplain L1 resources, and loading cdk-nag takes "
        f"{nag_share - 1:.2f} x: what is above {l1_share + nag_share - 1:.2f} x is ours."
    )
    aims = [
        Aim(
            what="TrainCluster with cdk-nag, x the floor",
            limit=1.8,
            runs=ratios(cluster.seconds, floor.seconds),
        ),
        Aim(
            what="TrainCluster without cdk-nag, x the L1 app",
            limit=1.1,
            runs=ratios(bare.seconds, bare_l1.seconds),
        ),
    ]
    return aims, [*lines, "", share]


def growth(found: Mapping[int, Found]) -> tuple[Aim, list[str]]:
    """Report how the time grows with the number of clusters."""
    lines = ["", "## Several clusters in one app", ""]
    lines += ["| clusters | seconds | seconds per added cluster | CPU seconds | peak MiB |"]
    lines += ["|---|---|---|---|---|"]
    added = {
        count: [
            (more - one) / (count - 1)
            for more, one in zip(each.seconds, found[1].seconds, strict=True)
        ]
        for count, each in found.items()
        if count > 1
    }
    for count, each in found.items():
        growth = f"{statistics.median(added[count]):.2f}" if count > 1 else ""
        seconds, cpu = statistics.median(each.seconds), statistics.median(each.cpu_seconds)
        lines.append(f"| {count} | {seconds:.2f} | {growth} | {cpu:.2f} | {each.peak_mib:.0f} |")
    most = max(added)
    aim = Aim(
        what=f"seconds per added cluster, up to {most} clusters", limit=0.15, runs=added[most]
    )
    return aim, lines


def orchestrators(
    work: Path, environment: Callable[..., dict[str, str]]
) -> tuple[list[Aim], list[str]]:
    """Report what a cluster on EKS takes, against the same one on AWS Batch."""
    files = {name: work / f"on-{name}.yaml" for name in ("batch", "eks")}
    for name, file in files.items():
        own = EKS_SECTION if name == "eks" else ""
        file.write_text(f"orchestrator: {name}\n{COMPARED}{own}", encoding="utf-8")

    def case(name: str, command: Sequence[str]) -> Case:
        words = [each.format(file=files[name], out=work / f"out-{name}") for each in command]
        own = environment(name, clusters=str(files[name]))
        return lambda watch: measure([sys.executable, *words], own, watch=watch)

    aims = list[Aim]()
    lines = ["", "## Amazon EKS against AWS Batch", ""]
    lines += ["| what | Batch, CPU seconds | EKS, CPU seconds | x |", "|---|---|---|---|"]
    compared = {
        what: {name: case(name, command) for name in files}
        for what, command in EKS_COMMANDS.items()
    }
    compared["review"] = {
        name: review_case(work / f"review-{name}", file, environment("review"))
        for name, file in files.items()
    }
    for what, cases in compared.items():
        found = in_turn(FLEET_RUNS, cases)
        shares = ratios(found["eks"].cpu_seconds, found["batch"].cpu_seconds)
        medians = [statistics.median(found[name].cpu_seconds) for name in files]
        figures = " | ".join(f"{each:.2f}" for each in (*medians, statistics.median(shares)))
        lines.append(f"| {what} | {figures} |")
        aims.append(
            Aim(what=f"{what} of a cluster on EKS, x that on Batch", limit=1.15, runs=shares)
        )
    return aims, lines


def review_case(folder: Path, cluster: Path, environment: Mapping[str, str]) -> Case:
    """Return the review of a cluster of which one line is changed, with its base remembered."""
    project = write_project(folder, cluster)
    own = {**environment, "XDG_CACHE_HOME": f"{folder}-cache"}
    file = project / "clusters" / cluster.name
    text = file.read_text(encoding="utf-8")
    measure(REVIEW, own, folder=project)
    counts = itertools.count(2)

    def review(watch: bool) -> Measure:
        # Another line each time, so that nobody has judged its templates.
        changed = text.replace("max: 16}", f"max: {next(counts)}}}")
        file.write_text(changed, encoding="utf-8")
        return measure(REVIEW, own, watch=watch, folder=project)

    return review


def kubernetes_run(nodes: int) -> dict[str, float]:
    """Return what scripts/kubernetes_times.py finds with so many nodes."""
    console.print(f"Kubernetes with {nodes} nodes")
    command = ("-m", "trainshed.cli", "offline", "run", "--")
    script = ("scripts/kubernetes_times.py", str(nodes))
    measured = measure([sys.executable, *command, sys.executable, *script], os.environ)
    found: dict[str, float] = json.loads(measured.output.splitlines()[-1])
    return found


def kubernetes() -> tuple[list[Aim], list[str]]:
    """Report how long a control plane takes to start, to get its objects, and to place a job."""
    found = {
        nodes: [kubernetes_run(nodes) for _ in range(runs)]
        for nodes, runs in KUBERNETES_RUNS.items()
    }
    aimed = found[KUBERNETES_NODES]

    def figure(key: str, runs: Sequence[Mapping[str, float]] = aimed) -> str:
        return f"{statistics.median(run[key] for run in runs):.1f}"

    lines = ["", "## A real Kubernetes", ""]
    lines += ["| control plane | seconds until it is ready | MB |", "|---|---|---|"]
    lines.append(f"| as of a new EKS cluster | {figure('start')} | {figure('start_mb')} |")
    lines.append(
        f"| with the managers of JobSet and Kueue | {figure('managed')} | {figure('managed_mb')} |"
    )
    lines += ["", "| applied, without waiting for pods | seconds | again, unchanged |"]
    lines += ["|---|---|---|"]
    lines.append(f"| charts of JobSet and Kueue | {figure('charts')} | {figure('charts_again')} |")
    lines.append(
        f"| objects of a cluster, {KUBERNETES_NODES} nodes | {figure('objects')} "
        f"| {figure('objects_again')} |"
    )
    lines += ["", "| nodes, and pods of one job | seconds until all are placed | MB then |"]
    lines += ["|---|---|---|"]
    lines += [
        f"| {nodes} | {figure('placed', runs)} | {figure('nodes_mb', runs)} |"
        for nodes, runs in found.items()
    ]
    # kube-controller-manager's reference: --kube-api-qps is 20 by default.
    lines += [
        "",
        "Nodes are objects with the Leases of kubelets: nothing runs on them. Each controller",
    ]
    lines += [
        "of Kubernetes makes up to 20 requests a second by default, so 20 pods. A VPC of ours has"
    ]
    lines += ["addresses for 744 such nodes."]
    aims = [
        Aim(what=what, limit=limit, runs=[sum(run[key] for key in keys) for run in aimed])
        for what, limit, keys in (
            ("start of a control plane, seconds", 8, ("start",)),
            ("its memory, MB", 700, ("start_mb",)),
            ("start of one with JobSet and Kueue, seconds", 8, ("managed",)),
            ("its memory with JobSet and Kueue, MB", 700, ("managed_mb",)),
            (
                f"charts and objects of {KUBERNETES_NODES} nodes applied, seconds",
                20,
                ("charts", "objects"),
            ),
            (f"{KUBERNETES_NODES} pods of a job placed, seconds", 30, ("placed",)),
        )
    ]
    return aims, lines


def reviews(
    projects: Mapping[str, Path], environment: Mapping[str, str]
) -> tuple[list[Aim], list[str]]:
    """Report how long a review of a change of one line takes, when its base is remembered."""
    aims: list[Aim] = []
    lines = ["", "## `trainshed review`, one line changed, base remembered", ""]
    lines += ["| project | synthesis, seconds | review, seconds | x the synthesis |"]
    lines += ["|---|---|---|---|"]
    for name, folder in projects.items():
        own = {**environment, "XDG_CACHE_HOME": f"{folder}-cache"}
        file = min((folder / "clusters").iterdir())
        text = file.read_text(encoding="utf-8")
        measure(REVIEW, own, folder=folder)
        synthesised, reviewed = [], []
        for run in range(FLEET_RUNS):
            console.print(f"run {run + 1} of {FLEET_RUNS}: review of {name}")
            # Another line each time, so that nobody has judged its templates.
            file.write_text(text.replace("max: 16}", f"max: {2 + run}}}"), encoding="utf-8")
            synthesised.append(measure([sys.executable, "app.py"], own, folder=folder).seconds)
            reviewed.append(measure(REVIEW, own, folder=folder).seconds)
        shares = ratios(reviewed, synthesised)
        figures = [statistics.median(each) for each in (synthesised, reviewed, shares)]
        lines.append(f"| {name} | {' | '.join(f'{figure:.2f}' for figure in figures)} |")
        what = f"`trainshed review` of {name}, one line changed, x a synthesis"
        aims.append(Aim(what=what, limit=2.5, runs=shares))
    return aims, lines


def preflight() -> tuple[Aim, list[str]]:
    """Report how long an account is asked that takes 100 ms longer for each call."""
    console.print("preflight, 100 ms added to each call")
    with tempfile.TemporaryDirectory() as folder:
        server = start(ServerSettings(), log=Path(folder) / "server.log")
        try:
            aws = EmbeddedAws(server)
            [plan] = load_fleet([ROOT / "clusters/train.yaml"]).clusters

            def ask() -> float:
                began = time.perf_counter()
                answers = SharedAnswers(plan.region, aws.client)
                ask_account(Subject(plan=plan, aws=answers, now=datetime.now(UTC)))
                return time.perf_counter() - began

            # boto3 makes its clients, which a command does once.
            ask()
            late = Fault(service="*", operation="*", code="", seconds=ADDED_SECONDS, count=None)
            aws.fail(late)
            runs = [ask() for _ in range(RUNS)]
        finally:
            server.stop()
    lines = ["", "## `trainshed preflight`, 100 ms added to each call", ""]
    lines += ["| asked | seconds |", "|---|---|"]
    lines.append(f"| TrainCluster in a new account | {statistics.median(runs):.2f} |")
    what = "`trainshed preflight`, 100 ms added to each call, seconds without loading boto3"
    return Aim(what=what, limit=5 * ADDED_SECONDS + 0.5, runs=runs), lines


def demo() -> tuple[Aim, list[str]]:
    """Report the steps of a warm `make demo`."""
    console.print("make demo, warm")
    measured = measure(["make", "demo"], os.environ)
    steps = re.findall(r"^ *([\d.]+) s  (.+)$", measured.output, re.MULTILINE)
    lines = ["", "## `make demo`, warm", "", "| step | seconds |", "|---|---|"]
    # Without ids, which are others each time.
    lines += [f"| {re.sub(' holds ami-.*|, in job .*', '', name)} | {s} |" for s, name in steps]
    lines.append(f"| in all, with starting and ending the embedded AWS | {measured.seconds:.1f} |")
    return Aim(what="`make demo`, warm, seconds", limit=25, runs=[measured.seconds]), lines


if __name__ == "__main__":
    sys.exit(main())
