"""`trainshed estimate`: what it prints, with which exit code, and the pictures."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

Trainshed = Callable[..., Any]
ROOT = Path(__file__).parents[2]
BERT = ("estimate", "--model", "bert-1.5b", "--cluster", "dl1", "--nodes")


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def cells(output: str, start: str) -> list[str]:
    (row,) = [line for line in output.splitlines() if line.startswith(f"│ {start} ")]
    return [cell.strip() for cell in row.split("│")[1:-1]]


def test_it_shows_throughput_time_money_and_the_error_of_its_model(trainshed: Trainshed) -> None:
    answer = trainshed(*BERT, "16")

    assert (answer.code, answer.err) == (0, "")
    shown = {name: cells(answer.out, name)[1] for name in ("throughput", "time to train")}
    assert shown == {
        "throughput": "3659 sequences a second, published",
        "time to train": "15 to 16 hours",
    }
    assert cells(answer.out, "scaling efficiency")[1] == "82.66 %"
    assert cells(answer.out, "cost to train")[1] == "3,173.78 USD to 3,385.37 USD"
    assert cells(answer.out, "a million sequences")[1] == "0.07591 hours, 16.06 USD"
    assert answer.out.count("n x t x (1 - a x log2(n))") == 2
    assert "3547.5    │ 3659.2    │ -3.1" in answer.out
    assert "10362.7   │ 9977.5    │ +3.9" in answer.out


def test_a_filled_in_count_is_a_range(trainshed: Trainshed) -> None:
    answer = trainshed(*BERT, "12")

    assert cells(answer.out, "throughput")[1] == "2670 to 2884 sequences a second, by the model"
    assert cells(answer.out, "time to train")[1] == "16.33 to 21.93 hours"


def test_the_ways_to_buy_nodes_are_compared(trainshed: Trainshed) -> None:
    answer = trainshed(*BERT, "16", "--purchase", "all")
    found = json.loads(trainshed(*BERT, "16", "--purchase", "all", "--json").out)
    one = ("--model", "bert-340m", "--cluster", "p4d", "--nodes", "1")
    spot = trainshed("estimate", *one, "--purchase", "spot")

    costs = cells(answer.out, "cost to train")[1], cells(answer.out, "a million sequences")[1]
    assert cells(answer.out, "on-demand")[1:] == [costs[0], costs[1].partition(", ")[2]]
    assert cells(answer.out, "reserved-3y-all-upfront")[1:] == ["unknown", "unknown"]
    assert "paid for in hours without a training, too" in answer.out
    assert [entry["purchase"] for entry in found["purchases"]][:2] == ["on-demand", "spot"]
    assert cells(spot.out, "spot")[1:] == ["unknown", "at least 0.760 USD to at least 0.921 USD"]
    assert "paid for in hours" not in spot.out


def test_without_a_model_it_lists_what_is_published(trainshed: Trainshed) -> None:
    answer = trainshed("estimate")

    assert answer.code == 0
    rows = [line.split("│")[1:-1] for line in answer.out.splitlines() if "p4d.24xlarge" in line]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["resnet-50", "p4d.24xlarge", "17921", "21.9576", "2026-07-20", "0.340", "listed"],
        ["bert-340m", "p4d.24xlarge", "2979", "21.9576", "2026-07-20", "2.047", "listed"],
    ]
    assert "│ 16    │ 3659.15     │ 82.7 %     │ 15 or 16       │" in answer.out
    assert "-12.0" in answer.out
    assert "used: n x t x (1 - a x log2(n))" in answer.out


def test_json_has_the_same(trainshed: Trainshed) -> None:
    estimated = json.loads(trainshed(*BERT, "16", "--json").out)
    listed = json.loads(trainshed("estimate", "--json").out)

    assert estimated["per_second"] == {"low": 3659.15, "high": 3659.15}
    assert estimated["hours"] == {"low": 15, "high": 16}
    assert len(listed["comparison"]) == 8
    assert len(listed["model_checks"]) == 6
    assert all(isinstance(entry["error"], float) for entry in listed["model_checks"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "bert-1.5b"], "give --cluster, --nodes, too"),
        (["--model", "gpt", "--cluster", "dl1", "--nodes", "1"], "model 'gpt' is not known"),
        (["--model", "bert-1.5b", "--cluster", "train", "--nodes", "8"], "nobody has published"),
        (["--model", "bert-340m", "--cluster", "dl1", "--nodes", "16"], "beyond what is published"),
        (["--region", "us-west-9"], "us-west-9"),
        (["--purchase", "spot"], "--purchase is of one training: give --model, --cluster, --nodes"),
        ([*BERT[1:], "16", "--purchase", "spto"], "did you mean spot?"),
        (["--plot", "picture.jpg"], "a plot is a .png or .svg file"),
    ],
)
def test_what_nobody_has_published_exits_with_2(
    trainshed: Trainshed, arguments: list[str], words: str
) -> None:
    answer = trainshed("estimate", *arguments)

    assert answer.code == 2
    assert words in answer.err


def test_the_pictures_show_what_the_tables_say(trainshed: Trainshed, tmp_path: Path) -> None:
    compared, scaled = tmp_path / "compared.svg", tmp_path / "scaled.svg"
    bitmap = tmp_path / "compared.png"

    answer = trainshed("estimate", "--plot", str(compared))
    trainshed("estimate", "--plot", str(bitmap))
    trainshed(*BERT, "16", "--plot", str(scaled))

    assert f"picture: {compared}" in answer.err
    assert bitmap.read_bytes().startswith(b"\x89PNG")
    words = {
        path: " ".join(ElementTree.parse(path).getroot().itertext()) for path in (compared, scaled)
    }
    assert "2.05 USD, 2,979/s" in words[compared]
    assert "p3.16xlarge (withdrawn)" in words[compared]
    assert "its largest error, 3.9 %" in words[scaled]


def test_the_picture_of_the_documents_is_what_the_command_draws(
    trainshed: Trainshed, tmp_path: Path
) -> None:
    drawn = tmp_path / "types-compared.svg"

    trainshed("estimate", "--plot", str(drawn))

    assert drawn.read_bytes() == (ROOT / "docs" / "images" / drawn.name).read_bytes()


def test_a_plot_without_matplotlib_says_what_to_install(
    trainshed: Trainshed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "trainshed.estimate.plot", raising=False)

    answer = trainshed("estimate", "--plot", str(tmp_path / "a.png"))

    assert (answer.code, "pip install 'trainshed[plot]'" in answer.err) == (2, True)
