"""`make bench` fails for an aim that is missed by more than the noise; its page has the aims."""

import importlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, which writes its report elsewhere and runs nothing."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    bench = importlib.import_module("bench")
    monkeypatch.setattr(bench, "REPORT", tmp_path / "performance.md")
    monkeypatch.setattr(bench, "l1_source", lambda assembly: "")
    monkeypatch.setattr(bench, "suite", lambda: [])
    monkeypatch.setattr(bench, "kubernetes_run", lambda nodes: defaultdict(float))
    return bench


@pytest.fixture
def measured(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Every command takes as long as every other; what a plan takes is printed by the command."""

    def give(seconds: float) -> None:
        same = bench.Measure(seconds=1, cpu_seconds=1, peak_mib=1, output=str(seconds))
        monkeypatch.setattr(bench, "measure", lambda *command, **options: same)

    return give


def aims(page: Path) -> list[list[str]]:
    """What a page says is measured, and the aim for it."""
    section = page.read_text().partition("## Aims\n")[2].partition("\n## ")[0]
    return [row.split(" | ")[:2] for row in section.splitlines() if row.startswith("| ")]


@pytest.mark.parametrize(
    ("seconds", "code"), [pytest.param(0.05, 0, id="met"), pytest.param(0.06, 1, id="missed")]
)
def test_the_script_fails_for_a_missed_aim_and_writes_all_aims(
    bench: ModuleType, measured: Callable[[float], None], seconds: float, code: int
) -> None:
    measured(seconds)

    assert bench.main() == code

    assert ("| missed |" in bench.REPORT.read_text()) == bool(code)
    assert aims(ROOT / "docs" / "performance.md") == aims(bench.REPORT)


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        pytest.param([1.7, 1.8, 1.9], "met", id="at-the-limit"),
        pytest.param([1.7, 1.85, 2.0], "within the noise", id="above-it-by-less-than-the-noise"),
        pytest.param([1.88, 1.9, 1.92], "missed", id="above-it-by-more"),
        pytest.param([1.81], "missed", id="one-run-has-no-noise"),
    ],
)
def test_an_aim_is_judged_by_the_noise_of_its_runs(
    bench: ModuleType, runs: list[float], verdict: str
) -> None:
    aim = bench.Aim(what="x the floor", limit=1.8, runs=runs)

    assert aim.verdict == verdict
    assert bench.table([aim])[-1].endswith(f"| {verdict} |")
    assert [*bench.missed([aim])] == (
        [f"missed: x the floor is {aim.measured:.3g} (noise {aim.noise:.2g}), the aim is 1.8"]
        if verdict == "missed"
        else []
    )
