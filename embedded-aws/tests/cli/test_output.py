"""What the commands print of names, facts and errors that others chose."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from embedded_aws.cli.output import print_error, print_json, print_table

HOSTILE = "a\n::error::forged\x1b[2J ##[group]\u202e\x7f"


def test_a_table_commands_neither_terminals_nor_ci_systems(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table([{"name": HOSTILE}], columns={"name": "name"})

    out = capsys.readouterr().out
    assert not set(out) & {"\x1b", "\x7f", "\u202e"}
    assert not [line for line in out.splitlines() if line.startswith("::") or "##[" in line]
    assert r"a\n::error::forged\x1b[2J" in out


def test_json_has_the_same_values(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"name": HOSTILE})

    out = capsys.readouterr().out
    assert json.loads(out) == {"name": HOSTILE}
    assert not set(out) & {"\x1b", "\x7f", "\u202e"} and "##[" not in out


def test_an_error_may_have_lines_that_command_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_error("first\n::error::forged\x1b[2J")

    assert capsys.readouterr().err == "error: first\n\\::error::forged\\x1b[2J\n"


def test_what_is_typed_comes_back_escaped(command: Callable[..., Any]) -> None:
    answer = command("up", "--region", "us-\x1b[2Jwest")

    assert answer.code == 2
    assert "\x1b" not in answer.err
