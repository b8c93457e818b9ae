"""Instances that are guests: the effect of EC2's calls on them.

EC2 user guide, instance lifecycle: pending, running, stopping, stopped, shutting-down, terminated.
"""

import base64
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from moto.ec2.models.instances import Instance

from embedded_aws.actions import Call, Refusal, correction
from embedded_aws.ec2.ami_attributes import check_available, find_ami
from embedded_aws.ec2.instance_events import publish_state
from embedded_aws.ec2.machines import Machines, say_why, switched_itself_off
from embedded_aws.environment import pointing_at
from embedded_aws.faults_of_calls import faults
from embedded_aws.guests.engine import Disk, GuestEngine
from embedded_aws.guests.flavours import flavour_of
from embedded_aws.guests.launch import GuestLaunch
from embedded_aws.guests.own_faults import GUESTS, OPEN_SSH

# InstanceState in the EC2 API reference.
_CODES = {"pending": 0, "running": 16, "stopping": 64, "stopped": 80}


class GuestMachines(Machines):
    """Guests as the machines of instances.

    Args:
        engine: has the guests.
        endpoint: URL of the embedded AWS, for guests.
    """

    def __init__(self, engine: GuestEngine, endpoint: str) -> None:
        self._engine, self._endpoint = engine, endpoint

    def check_bootable(self, call: Call, ami_id: str) -> None:
        """Refuse an AMI of which no guest can be made."""
        self._disk(call, ami_id)

    def launch(self, call: Call, instance: Any, data: Mapping[str, Any]) -> None:
        """Boot a guest, which gets an address of loopback."""
        pair = call.backend("ec2").key_pairs.get(data.get("KeyName", ""))
        _show(instance, "pending")
        machine = self._engine.place(
            GuestLaunch(
                instance_id=instance.id,
                public_key=pair.public_key.strip() if pair else None,
                user_data=base64.b64decode(data.get("UserData") or b""),
                account=call.account,
                region=call.region,
                environment=self._environment(call),
                ssh=faults.take(GUESTS, OPEN_SSH, {}) is None,
            ),
            self._disk(call, instance.image_id),
            partial(_note_shutdown, instance),
        )
        interface = instance.nics[0]
        if interface.public_ip:
            interface.public_ip = machine.address.text
            # Otherwise moto assigns another one at every start.
            interface.public_ip_auto_assign = False
        interface.private_ip_address = machine.address.text
        _meanwhile(instance, "pending", machine.start, "running")

    def stop(self, instance: Any, *, force: bool) -> None:
        """Power a guest off."""
        if machine := self._engine.machine(instance.id):
            _meanwhile(instance, "stopping", partial(machine.stop, force=force), "stopped")

    def start(self, call: Call, instance: Any) -> None:
        """Boot a guest from its own disk."""
        machine = self._engine.machine(instance.id)
        if machine and not machine.running:
            _meanwhile(instance, "pending", machine.start, "running")

    def reboot(self, call: Call, instance: Any) -> None:
        """Reboot a guest."""
        if machine := self._engine.machine(instance.id):
            _meanwhile(instance, "running", machine.reboot, "running")

    def remove(self, instance: Any) -> None:
        """Power a guest off at once and remove its disk; its console output stays."""
        instance.console = self.console(instance)
        self._engine.remove(instance.id)

    def console(self, instance: Any) -> bytes | None:
        """Return a guest's console output, as long as the instance is described."""
        machine = self._engine.machine(instance.id)
        if machine is None:
            return super().console(instance)
        return machine.console.read_bytes() if machine.console.exists() else b""

    def store(self, instance: Any, ami: Any, *, reboot: bool) -> None:
        """Keep a guest's disk as that of an AMI, in a thread."""
        if self._engine.machine(instance.id):
            ami.state = "pending"
            threading.Thread(target=self._keep, args=[instance, ami, reboot], daemon=True).start()

    def copy(self, source_id: str, ami_id: str) -> None:
        """Give an AMI the disk of another one, if that was kept."""
        self._engine.copy(source_id, ami_id)

    def forget(self, ami_id: str) -> None:
        """Remove the disk of an AMI, if it was kept."""
        self._engine.forget(ami_id)

    def _disk(self, call: Call, ami_id: str) -> Disk:
        """Return the disk that instances of an AMI boot.

        Raises:
            Refusal: there is no such AMI, or no guest can be made of it.
        """
        ami = find_ami(call.backend("ec2"), ami_id)
        check_available(ami)
        if disk := self._engine.disk_of(ami_id):
            return disk
        if flavour := flavour_of(ami.name or ""):
            return Disk(flavour)
        raise Refusal(
            "UnsupportedOperation",
            f"The embedded AWS has no guest for the AMI '{ami.name}' ({ami_id}): it boots "
            "x86_64 AMIs of Ubuntu 22.04 and 24.04, of Amazon Linux 2023, and "
            "what was made of them",
        )

    def _environment(self, call: Call) -> dict[str, str]:
        """Return the variables that lead a guest here, with credentials not of the owner's."""
        key = call.backend("iam").create_temp_access_key()
        return pointing_at(
            self._endpoint,
            region=call.region,
            key=key.access_key_id,
            secret=key.secret_access_key,
        )

    def _keep(self, instance: Any, ami: Any, reboot: bool) -> None:
        try:
            self._engine.keep(instance.id, ami.id, reboot=reboot)
        except OSError as error:
            ami.state = "failed"
            ami.state_reason = {"Code": "Server.InternalError", "Message": str(error)}
        else:
            ami.state = "available"


@correction
def hide_public_names() -> None:
    """Remove the public DNS name of instances on loopback, which could not be reached."""
    original: Any = Instance.public_dns_name

    def public_dns_name(instance: Any) -> str | None:
        name: str | None = original.fget(instance)
        return None if (instance.public_ip or "").startswith("127.") else name

    # mypy refuses replacing methods; moto offers no other way.
    Instance.public_dns_name = property(public_dns_name)  # type: ignore[assignment,method-assign]


def _note_shutdown(instance: Any) -> None:
    """Note a shutdown from within, in a thread: the guest's own cannot remove the guest."""
    threading.Thread(target=switched_itself_off, args=[instance], daemon=True).start()


def _show(instance: Any, state: str) -> None:
    instance._state.name, instance._state.code = state, _CODES[state]


def _meanwhile(instance: Any, now: str, act: Callable[[], None], then: str) -> None:
    """Set a state, run an action in a thread, and set another state when it is done."""
    _show(instance, now)

    def work() -> None:
        try:
            act()
        except OSError as error:
            say_why(instance, "Server.InternalError", str(error))
            _show(instance, "stopped")
        else:
            if instance.state == now:
                _show(instance, then)
                publish_state(instance, then)

    threading.Thread(target=work, daemon=True).start()
