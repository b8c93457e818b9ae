"""What Systems Manager does beside answering calls: it runs commands on instances."""

from embedded_aws.constraints import checks_arguments
from embedded_aws.hooks import ServingProcess, when_instance_changed, when_serving
from embedded_aws.hosts.service import hosts
from embedded_aws.ssm.command_runs import CommandRuns

checks_arguments("ssm", "ValidationException")

_runs: CommandRuns | None = None


def command_runs() -> CommandRuns | None:
    """Return what runs commands; None for commands that stay Pending."""
    return _runs


@when_serving
def _start(_: ServingProcess) -> None:
    global _runs
    if found := hosts():
        _runs = CommandRuns(found)


@when_instance_changed
def _look_again(_: object) -> None:
    if _runs:
        _runs.instance_changed()
