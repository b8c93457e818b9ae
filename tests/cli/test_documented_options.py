"""Commands in the documents, in running text too, have the options that are written there."""

import importlib
import re
from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
import typer
from botocore import xform_name
from documented import examples, inline

from embedded_aws.cli.commands import app as embedded_app
from trainshed.cli import GROUPS

# Up to what a shell reads as the end of a command, or to `--`, after which another one stands.
_WORDS = r"((?: (?!-- )[^\s`&|;()\"']+)+)"
_OURS = re.compile(rf"(?<![\w/-])(trainshed|embedded-aws){_WORDS}")
_AWS = re.compile(rf"(?<![\w/-])aws{_WORDS}")
# Not operations of a service: AWS CLI Command Reference, "wait", "eks".
_OF_THE_CLI = ("wait", "get-token", "update-kubeconfig")
# Options of every command of the AWS CLI.
_GLOBAL = {"query", "output", "region", "profile"}
AWS = botocore.session.get_session()
_TEXTS = {text for _, text in inline()} | {
    " ".join(example.command.replace("\\\n", " ").split()) for example in examples()
}


def found(pattern: re.Pattern[str]) -> list[Any]:
    return sorted({match for text in _TEXTS for match in pattern.findall(text)})


def command_line(program: str, words: list[str]) -> Any:
    """The command of ours that words name, without those words."""
    command: Any = typer.main.get_command(embedded_app)
    if program == "trainshed":
        if words[0] not in GROUPS:
            return None
        group = importlib.import_module(f"trainshed.cli.{words.pop(0)}")
        command = typer.main.get_command(group.app)
    while words and words[0] in getattr(command, "commands", ()):
        command = command.commands[words.pop(0)]
    # Of `trainshed cost CLUSTER`, where the command's name can be left out.
    default = getattr(command, "default", None)
    return command.commands[default] if default else command


def options(command: Any) -> Iterator[str]:
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)


@pytest.mark.parametrize(("program", "text"), found(_OURS), ids=lambda value: value.strip())
def test_our_commands_have_the_options_that_they_are_shown_with(program: str, text: str) -> None:
    words = text.split()
    command = command_line(program, words)
    if command is None:
        assert words[0].startswith("-") or words[0].isupper() or words[0] == "...", words[0]
        return

    given = [word.split("=")[0] for word in words if word.startswith("-") and word != "--"]

    assert set(given) - {*options(command), "-h", "--help"} == set()
    if commands := getattr(command, "commands", None):
        # A subcommand that is none of these is a slip; capitals and dots stand for any.
        assert not words or not re.fullmatch("[a-z-]+", words[0]), f"{words[0]}: {[*commands]}"


@pytest.mark.parametrize("text", found(_AWS), ids=str.strip)
def test_commands_of_the_aws_cli_exist(text: str) -> None:
    service, *rest = text.split()
    model = AWS.get_service_model(service)
    operations = {xform_name(name, "-"): name for name in model.operation_names}
    if not rest or rest[0] not in operations:
        assert rest == [] or rest[0] in _OF_THE_CLI, f"{service} has no {rest[0]}"
        return

    shape = model.operation_model(operations[rest[0]]).input_shape
    members = {xform_name(name, "-") for name in shape.members} if shape else set()

    given = {word[2:].removeprefix("no-") for word in rest if word.startswith("--")}
    assert given <= members | _GLOBAL
