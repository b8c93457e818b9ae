"""Every command and every group of the command line."""

import importlib
from collections.abc import Iterator
from typing import Any

import typer

from trainshed.cli import GROUPS


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what is typed after `trainshed`, and the command or group that it calls."""
    for name in GROUPS:
        module = importlib.import_module(f"trainshed.cli.{name}")
        yield from _below(typer.main.get_command(module.app), (name,))


def _below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, each in getattr(command, "commands", {}).items():
        yield from _below(each, (*words, name))
