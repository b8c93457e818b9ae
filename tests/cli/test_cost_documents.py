"""The documents show what `cost`, `estimate` and `explain` print."""

import shlex
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
    monkeypatch.chdir(ROOT)
    _, *arguments = shlex.split(example.command)
    if "--plot" in arguments:
        picture = arguments.index("--plot") + 1
        arguments[picture] = str(tmp_path / arguments[picture])

    answer = trainshed(*arguments)

    assert answer.code == 0
    printed = iter(lines(answer.out))
    for shown in lines(example.output):
        assert shown == "..." or shown in printed, shown


def test_there_are_such_examples() -> None:
    assert {example.page for example in SHOWN} >= {"docs/cost.md"}
