"""Boots of instances that are no guests: by a command, if a plug-in names one for their AMI.

Without guests nobody runs the user data of an instance. The command stands in for what the AMI does
at a boot; it runs as a process on the instance. If it ends with another code than 0, the instance
shuts itself down.
"""

import base64
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.ec2.instance_processes import instance_variables
from embedded_aws.hooks import when_instance_booted
from embedded_aws.hosts.hosts import Hosts, NoHost
from embedded_aws.hosts.process import Command, Listener
from embedded_aws.hosts.service import hosts
from embedded_aws.plugins import find_for_ami


def boot(call: Call, instance: Any, shut_down: Callable[[Any], None]) -> None:
    """Boot moto's instance, if there is a command for its AMI and processes can run.

    Args:
        call: of the instance's account and region.
        instance: moto's, which has been started.
        shut_down: called with the instance when the command fails.
    """
    words = find_for_ami(instance, lambda plugin: plugin.boot_commands())
    running = hosts()
    if words is None or running is None:
        return
    instance.console = b""
    try:
        running.of(instance).run(
            _command(call, instance, running, words),
            Listener(
                started=lambda: None,
                printed=partial(_print, instance),
                ended=partial(_note_end, instance, words, shut_down),
            ),
        )
    except NoHost as reason:
        _print(instance, [f"embedded AWS: this instance does not boot: {reason}\n"])


def _command(call: Call, instance: Any, hosts: Hosts, words: Sequence[str]) -> Command:
    disk = hosts.disk(instance)
    user_data = disk / "user-data"
    user_data.write_bytes(base64.b64decode(str(instance.user_data or "")))
    return Command(
        words=words,
        environment={
            **instance_variables(call, instance, hosts),
            "EMBEDDED_AWS_INSTANCE_ID": instance.id,
            "EMBEDDED_AWS_USER_DATA": str(user_data),
        },
        folder=disk,
    )


def _print(instance: Any, lines: Sequence[str]) -> None:
    instance.console += "".join(lines).encode()


def _note_end(
    instance: Any,
    words: Sequence[str],
    shut_down: Callable[[Any], None],
    code: int | None,
    refused: OSError | None,
) -> None:
    if refused and refused.errno:
        _print(instance, [f"embedded AWS: {words[0]}: {refused.strerror}\n"])
    elif code is None:
        # Stopped meanwhile.
        return
    elif code == 0:
        when_instance_booted.call(instance)
        return
    if instance.state == "running":
        shut_down(instance)
