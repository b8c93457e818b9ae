"""`trainshed ami pins`: what is pinned, and what is behind."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_every_pin_is_listed_with_its_version(trainshed: Command) -> None:
    document = json.loads((ROOT / "packer/pins.json").read_text())

    pins = {row["pin"]: row["version"] for row in trainshed("ami", "pins", "--json").json}

    names = {name.partition("@")[0] for name in pins}
    assert set(document["components"]) <= names
    assert pins["efa-installer"] == document["components"]["efa-installer"]["version"]


def test_only_what_is_behind_is_shown_and_exits_with_1(trainshed: Command, tmp_path: Path) -> None:
    pinned = {row["pin"]: row["version"] for row in trainshed("ami", "pins", "--json").json}
    newest = tmp_path / "newest.json"
    newest.write_text(json.dumps(pinned | {"efa-installer": "999.0.0"}))

    answer = trainshed("ami", "pins", "--against", str(newest), "--json")

    assert answer.code == 1
    assert answer.json == [
        {"pin": "efa-installer", "pinned": pinned["efa-installer"], "newest": "999.0.0"}
    ]


def test_nothing_behind_exits_with_0(trainshed: Command, tmp_path: Path) -> None:
    newest = tmp_path / "newest.json"
    newest.write_text('{"efa-installer": "0.1"}')

    answer = trainshed("ami", "pins", "--against", str(newest), "--json")

    assert (answer.code, answer.json) == (0, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"efa-instaler": "1"}', "did you mean efa-installer"),
        ("[]", "is not a JSON object of texts"),
        ("{", "is not JSON"),
    ],
)
def test_a_list_that_cannot_be_read_is_reported(
    trainshed: Command, tmp_path: Path, text: str, message: str
) -> None:
    newest = tmp_path / "newest.json"
    newest.write_text(text)

    answer = trainshed("ami", "pins", "--against", str(newest))

    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err and answer.err.count("\n") == 1


def test_pins_that_are_not_there_are_reported(trainshed: Command, tmp_path: Path) -> None:
    answer = trainshed("ami", "pins", "--pins", str(tmp_path / "pins.json"))

    assert answer.code == 2
    assert "cannot be read" in answer.err
