"""Run Command: send commands to managed instances, and cancel them.

Systems Manager API reference, SendCommand and CancelCommand; the words about instances are in many
issues of users (gravitational/teleport 24176). Documented: a command that names no time-out has an
hour to be delivered. Inferred: the words about instances that are named twice or not at all. In a
process that serves its own calls, as moto's decorators do, commands stay Pending.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.ssm.command import Command, Invocation, StepRun, guard
from embedded_aws.ssm.command_rows import command_row
from embedded_aws.ssm.document_content import DocumentContent
from embedded_aws.ssm.documents import find_document
from embedded_aws.ssm.managed_instances import is_managed, managed_instances
from embedded_aws.ssm.service import command_runs
from embedded_aws.ssm.tables import commands, find_command
from embedded_aws.ssm.targets import matching

_DELIVERY_SECONDS = 3600
_UNSUPPORTED = (
    "AlarmConfiguration",
    "DocumentHash",
    "NotificationConfig",
    "OutputS3BucketName",
    "ServiceRoleArn",
)


@action("ssm", "SendCommand")
def send_command(call: Call) -> dict[str, Any]:
    """Send a command to instances, after checking document, parameters and instances."""
    if unsupported := [name for name in _UNSUPPORTED if call.params.get(name)]:
        raise NotImplementedError(f"SendCommand with {', '.join(unsupported)}")
    document = find_document(call, call.params["DocumentName"], call.params.get("DocumentVersion"))
    content = DocumentContent(document.content, document.document_format)
    steps = content.steps(content.values(call.params.get("Parameters", {})))
    invocations = [
        Invocation(instance=instance, steps=[StepRun(step=step) for step in steps])
        for instance in _instances(call)
    ]
    command = Command(
        call=call,
        id=str(mock_random.uuid4()),
        document=document.name,
        requested=datetime.now(UTC),
        delivery_seconds=call.params.get("TimeoutSeconds", _DELIVERY_SECONDS),
        execution_seconds=sum(step.seconds for step in steps),
        invocations=invocations,
    )
    with guard:
        commands(call)[command.id] = command
        row = command_row(command)
    if runs := command_runs():
        runs.send(command)
    return {"Command": row}


def _instances(call: Call) -> Sequence[Any]:
    """Return moto's instances of a command."""
    ids, targets = call.params.get("InstanceIds", []), call.params.get("Targets", [])
    if bool(ids) == bool(targets):
        raise Refusal(
            "ValidationException", "A command names either InstanceIds or Targets, and not both."
        )
    if len(set(ids)) < len(ids):
        raise Refusal("DuplicateInstanceId", "An instance ID is specified more than once.")
    named = [
        *ids,
        *(id for each in targets if each["Key"] == "InstanceIds" for id in each["Values"]),
    ]
    known = {instance.id: instance for instance in call.backend("ec2").all_instances()}
    if invalid := [id for id in named if id not in known or not is_managed(call, known[id])]:
        raise Refusal(
            "InvalidInstanceId",
            f"Instances [[{', '.join(invalid)}]] not in a valid state for account {call.account}",
        )
    return [known[id] for id in ids] if ids else matching(managed_instances(call), targets)


@action("ssm", "CancelCommand")
def cancel_command(call: Call) -> dict[str, Any]:
    """End a command on all of its instances, or on some; what is over does not change."""
    command = find_command(call, call.params["CommandId"])
    wanted = call.params.get("InstanceIds", [])
    known = {invocation.instance.id for invocation in command.invocations}
    if unknown := [id for id in wanted if id not in known]:
        raise Refusal("InvalidInstanceId", f"The command was not sent to {', '.join(unknown)}.")
    found = [each for each in command.invocations if not wanted or each.instance.id in wanted]
    if runs := command_runs():
        runs.cancel(command, found)
    return {}
