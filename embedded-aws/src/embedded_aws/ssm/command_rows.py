"""Commands and invocations as Run Command's calls describe them.

Systems Manager API reference, ListCommands, ListCommandInvocations, GetCommandInvocation: the
fields, the filters, what is left out. amazon-ssm-agent, iohandler: how a plugin's output is made of
both outputs. From memory: a command that is being executed shows no output yet.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from moto.core.utils import iso_8601_datetime_with_milliseconds

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.ssm.command import STATUSES, Command, Invocation, StepRun, guard
from embedded_aws.ssm.pages import page
from embedded_aws.ssm.tables import commands, find_command
from embedded_aws.ssm.targets import tags_of

_ERROR_TITLE = "\n----------ERROR-------\n"
_PLUGIN_OUTPUT = 2500
_STANDARD_ERROR = 8000


def command_row(command: Command) -> dict[str, Any]:
    """Return a command as ListCommands does; hold the guard of the commands."""
    params, details = command.params, command.details
    return {
        "CommandId": command.id,
        "DocumentName": command.document,
        "DocumentVersion": params.get("DocumentVersion", "$DEFAULT"),
        "Comment": params.get("Comment", ""),
        "ExpiresAfter": command.expires,
        "Parameters": params.get("Parameters", {}),
        "InstanceIds": params.get("InstanceIds", []),
        "Targets": params.get("Targets", []),
        "RequestedDateTime": command.requested,
        "Status": STATUSES[details],
        "StatusDetails": details,
        "MaxConcurrency": params.get("MaxConcurrency", "50"),
        "MaxErrors": params.get("MaxErrors", "0"),
        "TargetCount": len(command.invocations),
        "CompletedCount": sum(each.over for each in command.invocations),
        "ErrorCount": command.count("Failed", "ExecutionTimedOut"),
        "DeliveryTimedOutCount": command.count("DeliveryTimedOut"),
        "CloudWatchOutputConfig": _log(command),
        "TimeoutSeconds": command.delivery_seconds,
    }


def _log(command: Command) -> dict[str, Any]:
    given = command.params.get("CloudWatchOutputConfig", {})
    return {"CloudWatchLogGroupName": "", "CloudWatchOutputEnabled": False, **given}


@action("ssm", "ListCommands")
def list_commands(call: Call) -> dict[str, Any]:
    """List commands, the newest first."""
    wanted = call.params.get("InstanceId")
    with guard:
        found = [
            command_row(command)
            for command in _chosen(call)
            if wanted in (None, *(each.instance.id for each in command.invocations))
            and _has_status(call, STATUSES[command.details])
        ]
    rows, more = page(call, found)
    return {"Commands": rows, **more}


@action("ssm", "ListCommandInvocations")
def list_command_invocations(call: Call) -> dict[str, Any]:
    """List the invocations of commands, those of the newest first."""
    wanted = call.params.get("InstanceId")
    with guard:
        found = [
            _invocation_row(command, each, details=bool(call.params.get("Details")))
            for command in _chosen(call)
            for each in command.invocations
            if wanted in (None, each.instance.id) and _has_status(call, STATUSES[each.details])
        ]
    rows, more = page(call, found)
    return {"CommandInvocations": rows, **more}


def _chosen(call: Call) -> list[Command]:
    """Return the commands that a list may have, whatever their status; hold their guard."""
    if command_id := call.params.get("CommandId"):
        return [find_command(call, command_id)]
    filters = _filters(call)
    after, before = (filters.get(key) for key in ("InvokedAfter", "InvokedBefore"))
    return [
        command
        for command in reversed(commands(call).values())
        if filters.get("DocumentName", command.document) == command.document
        and (after is None or command.requested > _moment(after))
        and (before is None or command.requested < _moment(before))
    ]


def _filters(call: Call) -> Mapping[str, str]:
    filters = {each["key"]: each["value"] for each in call.params.get("Filters", [])}
    if "ExecutionStage" in filters:
        raise NotImplementedError("the filter ExecutionStage; use Status")
    return filters


def _has_status(call: Call, status: str) -> bool:
    return _filters(call).get("Status", status) == status


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refusal(
            "InvalidFilterKey", f"{text} is no time such as 2021-07-07T00:00:00Z."
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _invocation_row(command: Command, invocation: Invocation, *, details: bool) -> dict[str, Any]:
    return {
        "CommandId": command.id,
        "InstanceId": invocation.instance.id,
        "InstanceName": tags_of(invocation.instance).get("Name", ""),
        "Comment": command.params.get("Comment", ""),
        "DocumentName": command.document,
        "DocumentVersion": command.params.get("DocumentVersion", "$DEFAULT"),
        "RequestedDateTime": command.requested,
        "Status": STATUSES[invocation.details],
        "StatusDetails": invocation.details,
        "StandardOutputUrl": "",
        "StandardErrorUrl": "",
        "CommandPlugins": [_plugin_row(run) for run in invocation.steps] if details else [],
        "CloudWatchOutputConfig": _log(command),
    }


def _plugin_row(run: StepRun) -> dict[str, Any]:
    output = run.output + (_ERROR_TITLE + run.errors if run.errors else "")
    row = {
        "Name": run.step.name,
        "Status": STATUSES[run.details],
        "StatusDetails": run.details,
        "ResponseCode": run.code,
        "ResponseStartDateTime": run.began,
        "ResponseFinishDateTime": run.ended,
        "Output": output[:_PLUGIN_OUTPUT],
        "StandardOutputUrl": "",
        "StandardErrorUrl": "",
    }
    return {name: value for name, value in row.items() if value is not None}


@action("ssm", "GetCommandInvocation")
def get_command_invocation(call: Call) -> dict[str, Any]:
    """Describe one step of a command on one instance."""
    with guard:
        command = commands(call).get(call.params["CommandId"])
        invocation = next(
            (
                each
                for each in (command.invocations if command else ())
                if each.instance.id == call.params["InstanceId"]
            ),
            None,
        )
        if command is None or invocation is None:
            raise Refusal(
                "InvocationDoesNotExist",
                "The command ID and managed node ID you specified didn't match any invocations.",
            )
        return _step_row(command, invocation, _step(call, invocation))


def _step(call: Call, invocation: Invocation) -> StepRun:
    """Return the step that a call names; one of several has to be named."""
    name = call.params.get("PluginName")
    if name is None and len(invocation.steps) == 1:
        return invocation.steps[0]
    for run in invocation.steps:
        if run.step.name == name:
            return run
    raise Refusal("InvalidPluginName", "The plugin name isn't valid.")


def _step_row(command: Command, invocation: Invocation, run: StepRun) -> dict[str, Any]:
    elapsed = (run.ended - run.began).total_seconds() if run.began and run.ended else None
    return {
        "CommandId": command.id,
        "InstanceId": invocation.instance.id,
        "Comment": command.params.get("Comment", ""),
        "DocumentName": command.document,
        "DocumentVersion": command.params.get("DocumentVersion", "$DEFAULT"),
        "PluginName": run.step.name,
        "ResponseCode": run.code,
        "ExecutionStartDateTime": _time(run.began),
        "ExecutionElapsedTime": f"PT{elapsed:.3f}S" if elapsed is not None else "",
        "ExecutionEndDateTime": _time(run.ended),
        "Status": STATUSES[run.details],
        "StatusDetails": run.details,
        "StandardOutputContent": run.output,
        "StandardOutputUrl": "",
        "StandardErrorContent": run.errors[:_STANDARD_ERROR],
        "StandardErrorUrl": "",
        "CloudWatchOutputConfig": _log(command),
    }


def _time(moment: datetime | None) -> str:
    return iso_8601_datetime_with_milliseconds(moment) if moment else ""
