"""Tables on terminals of several widths, and in a pipe: nothing is cut."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminal import on_a_terminal

from trainshed.cli.output import column_widths
from trainshed.explain import explain
from trainshed.plan import load_fleet

ROOT = Path(__file__).parents[2]
# Narrower than most tables, so that cells are folded, and wide.
WIDTHS = (60, 120)
COMMANDS = {
    "explain": ["explain", "train"],
    "explain all": ["explain"],
    "catalogue list": ["catalogue", "list"],
    "catalogue show": ["catalogue", "show", "p6-b300.48xlarge"],
    "offline types": ["offline", "types"],
}


@cache
def terminal(columns: int, *arguments: str) -> str:
    """What `trainshed` shows on a terminal of so many columns."""
    return on_a_terminal(columns, *arguments, folder=ROOT, environment=os.environ)[1]


def columns_of(shown: str) -> str:
    """Put the cells of each column one below another, without space: folds disappear."""
    rows = [line.strip("│┃\r").replace("┃", "│").split("│") for line in shown.splitlines()]
    widest = max(map(len, rows))
    columns = ["".join(row[n] for row in rows if n < len(row)) for n in range(widest)]
    return "\n".join("".join(column.split()) for column in columns)


@pytest.mark.parametrize(
    ("command", "columns"), [*((command, 120) for command in COMMANDS), ("explain", 60)]
)
def test_a_terminal_of_any_width_shows_whole_cells(command: str, columns: int) -> None:
    shown = terminal(columns, *COMMANDS[command])

    tables = [line for line in shown.splitlines() if line[:1] in "┏┡│└"]
    # Narrower than a usual terminal, each cell may be a line.
    assert tables or columns < 80
    assert "…" not in shown
    assert all(len(line.rstrip("\r")) <= columns for line in tables)


@pytest.mark.parametrize("columns", WIDTHS)
def test_every_decision_and_reason_is_there_in_whole(columns: int) -> None:
    (plan,) = load_fleet([ROOT / "clusters/train.yaml"]).clusters

    shown = columns_of(terminal(columns, "explain", "train"))

    for decision in explain(plan).decisions:
        for text in (decision.field, decision.value, decision.reason):
            assert "".join(text.split()) in shown


@pytest.mark.parametrize("cluster", ["train", "dl1", "p4d"])
def test_every_decision_is_a_line_in_a_pipe(
    trainshed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, cluster: str
) -> None:
    monkeypatch.chdir(ROOT)
    (plan,) = load_fleet([ROOT / f"clusters/{cluster}.yaml"]).clusters

    out = trainshed("explain", cluster).out

    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    for decision in plan.decisions:
        assert [decision.field, decision.value, decision.reason] in lines


CELLS = st.lists(st.text("abcdefghijklmnop ", max_size=60), min_size=3, max_size=3)


@given(rows=st.lists(CELLS, min_size=1, max_size=5), available=st.integers(3, 200))
def test_columns_fit_and_break_no_word(rows: list[list[str]], available: int) -> None:
    widths = column_widths(rows, available)

    longest = [max(len(word) for row in rows for word in [*row[n].split(), ""]) for n in range(3)]
    if widths is None:
        assert sum(min(24, each) for each in longest) > available
    else:
        assert sum(widths) <= available
        assert all(width >= min(24, word) for width, word in zip(widths, longest, strict=True))


@pytest.mark.parametrize("columns", [80, 100])
def test_a_terminal_breaks_no_word_of_a_cost_table(columns: int) -> None:
    shown = terminal(columns, "cost", "train", "--nodes", "8", "--hours", "24")

    for text in ("persistent-2,", "us-west-2", "on-demand", "capacity-block", "2026-10-04"):
        assert text in shown
    # In the source of a price: too narrow for a table at 80 columns.
    assert ("  source: AWS price list AmazonFSx" in shown) == (columns == 80)


def test_where_words_do_not_fit_each_cell_is_a_line() -> None:
    shown = terminal(40, "explain", "train").replace("\r", "")

    assert "decision: region\n  choice: us-west-2\n  why: as asked\n" in shown
