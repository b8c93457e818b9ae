"""`make bench` fails for an aim that is missed by more than the noise, and for no other."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "aims.py"


@pytest.fixture(scope="module")
def aims() -> ModuleType:
    spec = importlib.util.spec_from_file_location("aims", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    aims: ModuleType, runs: list[float], verdict: str
) -> None:
    aim = aims.Aim(what="x the floor", limit=1.8, runs=runs)

    assert aim.verdict == verdict
    assert aims.table([aim])[-1].endswith(f"| {verdict} |")
    assert [*aims.missed([aim])] == (
        [f"missed: x the floor is {aim.measured:.3g} (noise {aim.noise:.2g}), the aim is 1.8"]
        if verdict == "missed"
        else []
    )
