"""The documents show what `cost`, `estimate` and `explain` print."""

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documented import ROOT, Example, examples

Trainshed = Callable[..., Any]
_OURS = ("trainshed cost ", "trainshed estimate", "trainshed explain")
SHOWN = [
    example
    for example in examples()
    if example.command.startswith(_OURS) and example.output and " sync" not in example.command
]


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("example", SHOWN, ids=lambda e: f"{e.page}: {e.command}")
def test_each_line_that_is_shown_is_printed_in_this_order(
    trainshed: Trainshed,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    example: Example,
) -> None:
    shutil.copytree(ROOT / "clusters", tmp_path / "clusters")
    monkeypatch.chdir(tmp_path)
    _, *arguments = shlex.split(example.command)

    answer = trainshed(*arguments)

    assert answer.code == 0
    # Where a picture went is said in the end, beside the output.
    printed = iter(lines(answer.out) + lines(answer.err))
    for shown in lines(example.output):
        assert shown == "..." or shown in printed, shown


def test_there_are_such_examples() -> None:
    assert {example.page for example in SHOWN} >= {"docs/cost.md"}
