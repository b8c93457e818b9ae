"""Instances that are guests: the effect of EC2's calls on them.

[S] EC2 user guide, instance lifecycle: pending, running, stopping, stopped, shutting-down,
terminated; a shutdown from within stops or terminates, as the instance's attribute says.
If the embedded AWS has no guests, moto answers every call; instances boot if a plug-in boots them.
"""

import base64
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from moto.ec2.models.instances import Instance

from embedded_aws.actions import Call, Refusal, action, correction
from embedded_aws.ec2.ami_attributes import check_available, find_ami
from embedded_aws.ec2.instance_boots import boot as boot_without_guest
from embedded_aws.ec2.instance_events import publish_state
from embedded_aws.environment import pointing_at
from embedded_aws.faults import GUESTS, OPEN_SSH
from embedded_aws.faults_of_calls import faults
from embedded_aws.guests.engine import Disk, GuestEngine
from embedded_aws.guests.flavours import flavour_of
from embedded_aws.guests.launch import GuestLaunch
from embedded_aws.guests.machine import Machine
from embedded_aws.hosts.service import hosts
from embedded_aws.service_settings import current

# [S] InstanceState in the EC2 API reference.
_CODES = {
    "pending": 0,
    "running": 16,
    "shutting-down": 32,
    "terminated": 48,
    "stopping": 64,
    "stopped": 80,
}


def bootable(call: Call, ami_id: str) -> Disk | None:
    """Return the disk that instances of an AMI boot, or None without guests.

    Raises:
        Refusal: there is no such AMI, or no guest can be made of it.
    """
    engine = current().guests
    if engine is None:
        return None
    ami = find_ami(call.backend("ec2"), ami_id)
    check_available(ami)
    if disk := engine.disk_of(ami_id):
        return disk
    if flavour := flavour_of(ami.name or ""):
        return Disk(flavour)
    raise Refusal(
        "UnsupportedOperation",
        f"The embedded AWS has no guest for the AMI '{ami.name}' ({ami_id}): it boots "
        "x86_64 AMIs of Ubuntu 22.04 and 24.04, of Amazon Linux 2023, and "
        "what was made of them",
    )


def boot(call: Call, instances: list[Any], disk: Disk, data: Mapping[str, Any]) -> None:
    """Boot a guest for each of moto's new instances.

    Args:
        call: the launch.
        instances: moto's.
        disk: as `bootable` returned it.
        data: the launch's parameters, joined with those of its template.
    """
    engine = current().guests
    assert engine
    ec2 = call.backend("ec2")
    pair = ec2.key_pairs.get(data.get("KeyName", ""))
    for instance in instances:
        _show(instance, "pending")
        machine = engine.place(
            GuestLaunch(
                instance_id=instance.id,
                public_key=pair.public_key.strip() if pair else None,
                user_data=base64.b64decode(data.get("UserData") or b""),
                account=call.account,
                region=call.region,
                environment=_environment(call),
                ssh=faults.take(GUESTS, OPEN_SSH, {}) is None,
            ),
            disk,
            partial(switched_itself_off, instance),
        )
        interface = instance.nics[0]
        if interface.public_ip:
            interface.public_ip = machine.address.text
            # Otherwise moto assigns another one at every start.
            interface.public_ip_auto_assign = False
        interface.private_ip_address = machine.address.text
        _meanwhile(instance, "pending", machine.start, "running")


def _environment(call: Call) -> dict[str, str]:
    """Return the variables that lead a guest here, with credentials that are not the owner's."""
    key = call.backend("iam").create_temp_access_key()
    return pointing_at(
        current().endpoint,
        region=call.region,
        key=key.access_key_id,
        secret=key.secret_access_key,
    )


def switched_itself_off(instance: Any) -> None:
    """Change the state of moto's instance after a shutdown from within.

    [S] Its reason is Client.InstanceInitiatedShutdown.
    """
    if instance.instance_initiated_shutdown_behavior == "terminate":
        instance.terminate()
        if current().guests:
            _keep_console(instance)
            threading.Thread(target=_engine().remove, args=[instance.id], daemon=True).start()
    else:
        instance.stop()
    _say_why(instance, "Client.InstanceInitiatedShutdown", "Instance initiated shutdown")
    publish_state(instance, instance.state)


@correction
def hide_public_names() -> None:
    """Remove the public DNS name of instances on loopback, which could not be reached."""
    original: Any = Instance.public_dns_name

    def public_dns_name(instance: Any) -> str | None:
        name: str | None = original.fget(instance)
        return None if (instance.public_ip or "").startswith("127.") else name

    # mypy refuses replacing methods; moto offers no other way.
    Instance.public_dns_name = property(public_dns_name)  # type: ignore[assignment,method-assign]


@action("ec2", "StopInstances")
def stop_instances(call: Call) -> Any:
    """Power guests off."""
    answer = call.moto()
    for instance, machine in _guests(call):
        stop = partial(machine.stop, force=bool(call.params.get("Force")))
        _meanwhile(instance, "stopping", stop, "stopped")
    if current().guests is None:
        _tell_of_all(call, "stopped")
    return answer


@action("ec2", "StartInstances")
def start_instances(call: Call) -> Any:
    """Boot stopped instances, guests from their own disks."""
    for instance, _ in _guests(call):
        if instance.state not in ("stopped", "running"):
            raise Refusal(
                "IncorrectInstanceState",
                f"The instance '{instance.id}' is not in a state from which it can be started.",
            )
    stopped = [each for each in _named(call) if each.state == "stopped"]
    answer = call.moto()
    for instance, machine in _guests(call):
        if not machine.running:
            _meanwhile(instance, "pending", machine.start, "running")
    if current().guests is None:
        for instance in stopped:
            publish_state(instance, "running")
            boot_without_guest(call, instance, switched_itself_off)
    return answer


@action("ec2", "RebootInstances")
def reboot_instances(call: Call) -> Any:
    """Reboot instances; EC2 shows them as running meanwhile."""
    answer = call.moto()
    for instance, machine in _guests(call):
        _meanwhile(instance, "running", machine.reboot, "running")
    if current().guests is None and (running := hosts()):
        for instance in _named(call):
            running.end(instance)
            boot_without_guest(call, instance, switched_itself_off)
    return answer


@action("ec2", "TerminateInstances")
def terminate_instances(call: Call) -> Any:
    """Power guests off at once and remove their disks."""
    guests = _guests(call)
    answer = call.moto()
    for instance, _ in guests:
        _keep_console(instance)
        _engine().remove(instance.id)
    _tell_of_all(call, "terminated")
    return answer


@action("ec2", "GetConsoleOutput")
def get_console_output(call: Call) -> Any:
    """Answer with an instance's console output; [S] the last 64 KiB of it.

    [S] EC2 user guide, "Instance console output": it stays available for about an hour after
    the instance has ended; here for as long as the instance is described.
    """
    instance_id = call.params["InstanceId"]
    for instance in call.backend("ec2").all_instances():
        if instance.id == instance_id:
            _keep_console(instance)
            if (console := getattr(instance, "console", None)) is not None:
                return {
                    "InstanceId": instance_id,
                    "Timestamp": datetime.now(UTC),
                    "Output": base64.b64encode(console[-65536:]).decode(),
                }
    return call.moto()


def _keep_console(instance: Any) -> None:
    """Store a guest's console output on moto's instance, because the guest may be removed."""
    machine = _engine().machine(instance.id) if current().guests else None
    if machine:
        instance.console = machine.console.read_bytes() if machine.console.exists() else b""


def _engine() -> GuestEngine:
    engine = current().guests
    assert engine
    return engine


def _tell_of_all(call: Call, state: str) -> None:
    for instance in _named(call):
        publish_state(instance, state)


def _named(call: Call) -> list[Any]:
    """Return moto's instances that a call names."""
    wanted = call.params.get("InstanceIds", [])
    return [each for each in call.backend("ec2").all_instances() if each.id in wanted]


def _guests(call: Call) -> list[tuple[Any, Machine]]:
    """Return the call's instances that have guests."""
    if current().guests is None:
        return []
    found = [(instance, _engine().machine(instance.id)) for instance in _named(call)]
    return [(instance, machine) for instance, machine in found if machine]


def _show(instance: Any, state: str) -> None:
    instance._state.name, instance._state.code = state, _CODES[state]


def _meanwhile(instance: Any, now: str, act: Callable[[], None], then: str) -> None:
    """Set a state, run an action in a thread, and set another state when it is done."""
    _show(instance, now)

    def work() -> None:
        try:
            act()
        except OSError as error:
            _say_why(instance, "Server.InternalError", str(error))
            _show(instance, "stopped")
        else:
            if instance.state == now:
                _show(instance, then)
                publish_state(instance, then)

    threading.Thread(target=work, daemon=True).start()


def _say_why(instance: Any, code: str, message: str) -> None:
    instance.state_reason.code, instance.state_reason.message = code, f"{code}: {message}"
