"""StopInstances, StartInstances, RebootInstances, TerminateInstances and GetConsoleOutput."""

import base64
from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.ec2.instance_events import publish_state
from embedded_aws.ec2.machines import machines


@action("ec2", "StopInstances")
def stop_instances(call: Call) -> Any:
    """Power instances off."""
    answer = call.moto()
    for instance in _named(call):
        machines().stop(instance, force=bool(call.params.get("Force")))
    return answer


@action("ec2", "StartInstances")
def start_instances(call: Call) -> Any:
    """Boot stopped instances."""
    for instance in _named(call):
        if instance.state not in ("stopped", "running"):
            raise Refusal(
                "IncorrectInstanceState",
                f"The instance '{instance.id}' is not in a state from which it can be started.",
            )
    stopped = [each for each in _named(call) if each.state == "stopped"]
    answer = call.moto()
    for instance in stopped:
        machines().start(call, instance)
    return answer


@action("ec2", "RebootInstances")
def reboot_instances(call: Call) -> Any:
    """Reboot instances; EC2 shows them as running meanwhile."""
    answer = call.moto()
    for instance in _named(call):
        machines().reboot(call, instance)
    return answer


@action("ec2", "TerminateInstances")
def terminate_instances(call: Call) -> Any:
    """Power instances off at once and remove their disks; those that are gone change no more."""
    gone = [each for each in _named(call) if each.state == "terminated"]
    answer = call.moto()
    for instance in _named(call):
        if instance in gone:
            continue
        machines().remove(instance)
        publish_state(instance, "terminated")
    return answer


@action("ec2", "GetConsoleOutput")
def get_console_output(call: Call) -> Any:
    """Answer with the last 64 KiB of an instance's console output.

    EC2 user guide, "Instance console output": it stays available for about an hour after the
    instance has ended; here for as long as the instance is described.
    """
    instance_id = call.params["InstanceId"]
    for instance in call.backend("ec2").all_instances():
        if instance.id == instance_id and (console := machines().console(instance)) is not None:
            return {
                "InstanceId": instance_id,
                "Timestamp": datetime.now(UTC),
                "Output": base64.b64encode(console[-65536:]).decode(),
            }
    return call.moto()


def _named(call: Call) -> list[Any]:
    """Return moto's instances that a call names."""
    wanted = call.params.get("InstanceIds", [])
    return [each for each in call.backend("ec2").all_instances() if each.id in wanted]
