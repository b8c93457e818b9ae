"""What runs on instances, as EC2's calls change it.

EC2 user guide, instance lifecycle: a shutdown from within stops or terminates the instance, as its
shutdown behaviour says. By default an instance is no more than its entry in moto, on which
processes run; it boots if a plug-in boots it.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.ec2.instance_boots import boot
from embedded_aws.ec2.instance_events import publish_state
from embedded_aws.hosts.service import hosts


class Machines:
    """The machines of an embedded AWS; a subclass makes others of them.

    All instances and AMIs are moto's. EC2's state of an instance has changed already when a method
    is called, and a method may change it again.
    """

    def check_bootable(self, call: Call, ami_id: str) -> None:
        """Refuse an AMI that no machine can boot.

        Raises:
            Refusal: it cannot be booted.
        """

    def launch(self, call: Call, instance: Any, data: Mapping[str, Any]) -> None:
        """Boot a new instance.

        Args:
            call: the launch.
            instance: the instance.
            data: the launch's parameters, joined with those of its template.
        """
        if data.get("IamInstanceProfile") and (running := hosts()):
            # Commands may run on it.
            running.place(instance)
        boot(call, instance, switched_itself_off)

    def stop(self, instance: Any, *, force: bool) -> None:
        """Power an instance off, if forced at once."""
        publish_state(instance, "stopped")

    def start(self, call: Call, instance: Any) -> None:
        """Boot an instance that was stopped."""
        publish_state(instance, "running")
        boot(call, instance, switched_itself_off)

    def reboot(self, call: Call, instance: Any) -> None:
        """Reboot an instance; EC2 shows it as running meanwhile."""
        if running := hosts():
            running.end(instance)
            boot(call, instance, switched_itself_off)

    def remove(self, instance: Any) -> None:
        """Power an instance off at once, which is terminated, and remove its disk."""

    def console(self, instance: Any) -> bytes | None:
        """Return what an instance has printed; None if nobody knows."""
        printed: bytes | None = getattr(instance, "console", None)
        return printed

    def store(self, instance: Any, ami: Any, *, reboot: bool) -> None:
        """Store an instance's disk as that of an AMI, which may be pending meanwhile.

        Args:
            instance: the instance.
            ami: the AMI.
            reboot: whether the instance may be powered off for that.
        """

    def copy(self, source_id: str, ami_id: str) -> None:
        """Give an AMI the disk of another one."""

    def forget(self, ami_id: str) -> None:
        """Remove the disk of an AMI."""


_machines = Machines()


def machines() -> Machines:
    """Return the machines of this process's embedded AWS."""
    return _machines


def run_on(machines: Machines) -> None:
    """Run the instances of this process's embedded AWS on other machines."""
    global _machines
    _machines = machines


def switched_itself_off(instance: Any) -> None:
    """Change the state of moto's instance after a shutdown from within.

    Documented: its reason is Client.InstanceInitiatedShutdown.
    """
    if instance.instance_initiated_shutdown_behavior == "terminate":
        instance.terminate()
    else:
        instance.stop()
    say_why(instance, "Client.InstanceInitiatedShutdown", "Instance initiated shutdown")
    if instance.state == "terminated":
        machines().remove(instance)
    publish_state(instance, instance.state)


def say_why(instance: Any, code: str, message: str) -> None:
    """Give the reason why moto's instance is in its state."""
    instance.state_reason.code, instance.state_reason.message = code, f"{code}: {message}"
