"""The commands of each account and region, by id, oldest first."""

from typing import cast

from embedded_aws.actions import Call, Refusal
from embedded_aws.ssm.command import Command


def commands(call: Call) -> dict[str, Command]:
    """Return the commands; hold their guard."""
    return cast("dict[str, Command]", call.state("ssm", "commands", dict))


def find_command(call: Call, command_id: str) -> Command:
    """Return a command.

    Raises:
        Refusal: there is none with this id.
    """
    found = commands(call).get(command_id)
    if found is None:
        raise Refusal("InvalidCommandId", "Invalid command id.")
    return found
