"""`trainshed bench`: what it prints, with which exit code, and the picture."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from benchmark_logs import NCCOM, hccl, nccl, nccom

Trainshed = Callable[..., Any]
GB = 1073741824
P4D = ("--type", "p4d.24xlarge", "--nodes", "2")


ROOT = Path(__file__).parents[2]


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write logs into the current directory, which is empty."""
    monkeypatch.chdir(tmp_path)

    def write(**texts: str) -> None:
        for name, text in texts.items():
            Path(f"{name}.log").write_text(text, encoding="utf-8")

    return write


def test_it_prints_one_table_for_all_tools(trainshed: Trainshed, logs: Callable[..., None]) -> None:
    logs(a=nccl({GB: 57.2}), b=NCCOM, c=hccl(21.136))

    answer = trainshed("bench", "parse", "a.log", "b.log", "c.log")

    assert (answer.code, answer.err) == (0, "")
    rows = [line.split("│")[1:-1] for line in answer.out.splitlines() if ".log" in line]
    assert [(row[0].strip(), row[2].strip(), row[-1].strip()) for row in rows] == [
        ("a.log", "1073741824", "57.2"),
        ("a.log", "1073741824", "57.2"),
        ("b.log", "33554432", "86.02"),
        ("c.log", "33554432", "21.14"),
    ]


def test_it_reads_standard_input() -> None:
    command = [sys.executable, "-m", "trainshed.cli", "bench", "parse", "-", "--json"]

    answer = subprocess.run(command, input=hccl(21.136), capture_output=True, text=True, check=True)

    assert json.loads(answer.stdout)[0]["measurements"][0]["bus_gb_per_s"] == 21.136


def test_a_failure_in_the_log_is_quoted_and_exits_with_1(
    trainshed: Trainshed, logs: Callable[..., None]
) -> None:
    logs(a=nccl({GB: 57.2}) + "node-a: Test NCCL failure common.cu:1005\n")

    answer = trainshed("bench", "parse", "a.log")

    assert answer.code == 1
    assert "57.2" in answer.out
    assert "Test NCCL failure common.cu:1005" in answer.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("parse", "none.log"), "none.log cannot be read: no such file or directory"),
        (("parse", "empty.log"), "no result of nccl-tests, nccom-test, hccl_demo is in it"),
        (("judge", "a.log", "--type", "p4d.24xl", "--nodes", "2"), "did you mean p4d.24xlarge"),
        (("judge", "a.log", *P4D[:-1], "0"), "'--nodes': '0' is not allowed; the smallest allowed"),
        (("judge", "a.log", *P4D[:-1], "two"), "'--nodes': 'two' is not a whole number"),
        (("judge", "a.log", *P4D, "--plot", "a.pdf"), "a plot is a .png or .svg file"),
        (("judge", "a.log", *P4D, "--plot", "no/a.png"), "no/a.png cannot be written"),
    ],
)
def test_bad_input_is_reported_in_one_line(
    trainshed: Trainshed, logs: Callable[..., None], arguments: tuple[str, ...], said: str
) -> None:
    logs(a=nccl({GB: 57.2}), empty="")

    answer = trainshed("bench", *arguments)

    assert answer.code == 2
    assert said in answer.err
    assert answer.err.startswith("error: ")


def test_it_judges_with_figures_and_findings(
    trainshed: Trainshed, logs: Callable[..., None]
) -> None:
    logs(good=hccl(21.136), slow=hccl(12.11))
    gaudi = ("--type", "dl1.24xlarge", "--nodes", "4")

    good = trainshed("bench", "judge", "good.log", *gaudi)
    slow = trainshed("bench", "judge", "slow.log", *gaudi)

    assert good.code == 0
    assert "21.14 GB/s, at least 131 of 400 Gbps of each node's network" in good.out
    assert "nothing is wrong" in good.out
    assert slow.code == 1
    assert "peer-direct seems to be off" in slow.out


def test_an_operation_that_the_log_lacks_is_given(
    trainshed: Trainshed, logs: Callable[..., None]
) -> None:
    logs(table=nccom({33554432: 6.86}))
    judge = ("bench", "judge", "table.log", "--type", "trn1.32xlarge", "--nodes", "2")

    without = trainshed(*judge)
    named = trainshed(*judge, "--operation", "all_reduce")
    unknown = trainshed(*judge, "--operation", "all_redcue")

    assert without.code == 1
    assert "the bandwidth was not judged" in without.out and "--operation" in without.out
    assert "nothing is wrong" not in without.out
    assert named.code == 1
    assert "TS-COL-011" in named.out and "of 800 Gbps" in named.out
    assert unknown.code == 2
    assert "did you mean all_reduce?" in unknown.err


def test_another_operation_than_the_log_s_is_refused(
    trainshed: Trainshed, logs: Callable[..., None]
) -> None:
    logs(good=hccl(21.136))

    answer = trainshed(
        *("bench", "judge", "good.log", "--type", "dl1.24xlarge", "--nodes", "4"),
        *("--operation", "broadcast"),
    )

    assert answer.code == 2
    assert "--operation broadcast: the log good.log is of all_reduce" in answer.err


def test_it_names_the_slow_one_of_three(trainshed: Trainshed, logs: Callable[..., None]) -> None:
    logs(a=hccl(86, ranks=8), b=hccl(60, ranks=8), c=hccl(86, ranks=8))

    answer = trainshed(
        *("bench", "judge", "a.log", "b.log", "c.log"),
        *("--type", "dl1.24xlarge", "--nodes", "1", "--json"),
    )

    slow = [f["message"] for f in answer.json["findings"] if f["rule"] == "TS-COL-012"]
    assert len(slow) == 1
    assert slow[0].startswith("b.log reaches 60 GB/s")


def test_the_picture_shows_the_run_the_line_rate_and_what_is_published(
    trainshed: Trainshed, logs: Callable[..., None]
) -> None:
    logs(a=hccl(21.0))
    judge = ("bench", "judge", "a.log", "--type", "dl1.24xlarge", "--nodes", "4")

    for name in ("first.svg", "second.svg", "plot.png"):
        assert trainshed(*judge, "--plot", name).code == 0

    texts = "".join(ElementTree.parse("first.svg").getroot().itertext())
    for label in ("a.log", "21.14 GB/s", "12.11 GB/s", "400 Gbps", "4 x dl1.24xlarge"):
        assert label in texts
    assert Path("second.svg").read_bytes() == Path("first.svg").read_bytes()
    assert Path("plot.png").read_bytes().startswith(b"\x89PNG")


def test_the_documents_show_what_is_printed(
    trainshed: Trainshed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs/jobs.md").read_text(encoding="utf-8")
    judge = ("bench", "judge", "examples/all-reduce.log", "--type", "dl1.24xlarge", "--nodes", "4")

    answer = trainshed(*judge, "--plot", str(tmp_path / "all-reduce.svg"))

    assert answer.code == 1
    shown = f"$ trainshed {' '.join(judge)} --plot all-reduce.svg\n{answer.out}```"
    assert shown in page
    drawn = (ROOT / "docs/images/all-reduce.svg").read_bytes()
    assert (tmp_path / "all-reduce.svg").read_bytes() == drawn
