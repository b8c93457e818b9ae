"""The guests of one embedded AWS, and the disks of its AMIs."""

import fcntl
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from embedded_aws.guests.confinement import Confinement
from embedded_aws.guests.guest_settings import GuestSettings
from embedded_aws.guests.host_limits import raise_limits
from embedded_aws.guests.launch import GuestLaunch
from embedded_aws.guests.machine import Machine
from embedded_aws.guests.recipe import prepared
from embedded_aws.guests.site import write_site


@dataclass(frozen=True, slots=True)
class Disk:
    """The disk of an AMI.

    Attributes:
        flavour: of the root on which it is based, for instance `amazon-ecs`.
        layers: the layers over that, the uppermost first.
    """

    flavour: str
    layers: tuple[Path, ...] = ()


class GuestEngine:
    """Boots instances and keeps disks.

    Args:
        settings: the roots, and what every guest trusts.
        folder: in which to create the guests' folder; it is removed when this process ends.
        lock: file that is locked, shared, until no guest is left.
    """

    def __init__(self, settings: GuestSettings, folder: Path, lock: Path) -> None:
        self._settings = settings
        self._roots = prepared(settings.roots)
        self._base = folder
        self._lock_file = lock
        self._place: tuple[Path, Confinement] | None = None
        self._machines: dict[str, Machine] = {}
        self._disks: dict[str, Disk] = {}
        self._amis: dict[str, Disk] = {}
        self._making: set[Path] = set()
        self._guard = threading.RLock()

    def place(self, launch: GuestLaunch, disk: Disk, ended: Callable[[], None]) -> Machine:
        """Create a guest for an instance, with disk and address, switched off.

        Args:
            launch: what it is launched with.
            disk: its disk.
            ended: called after the guest has switched itself off.
        """
        with self._guard:
            folder, confinement = self._placed()
            lower = (*disk.layers, *self._below(disk.flavour, launch))
            machine = Machine(launch, lower, folder / launch.instance_id, confinement, ended)
            self._machines[launch.instance_id] = machine
            self._disks[launch.instance_id] = disk
            return machine

    def machine(self, instance_id: str) -> Machine | None:
        """Return a guest, or None when the instance has none."""
        return self._machines.get(instance_id)

    def disk_of(self, ami_id: str) -> Disk | None:
        """Return the disk of an AMI that was kept here, or None."""
        return self._amis.get(ami_id)

    def keep(self, instance_id: str, ami_id: str, *, reboot: bool) -> None:
        """Keep an instance's disk as that of an AMI.

        Args:
            instance_id: an instance with a guest.
            ami_id: the AMI's id.
            reboot: switch a running guest off meanwhile.

        Raises:
            OSError: the disk cannot be kept.
        """
        machine, before = self._machines[instance_id], self._disks[instance_id]
        with self._new_layer() as layer, machine.quiet():
            after = Disk(before.flavour, (layer, *before.layers))
            if machine.running and not reboot:
                machine.copy_disk(layer)
            elif machine.running:
                machine.stop()
                self._freeze(machine, after)
                machine.start()
            else:
                self._freeze(machine, after)
            with self._guard:
                self._amis[ami_id] = after

    def copy(self, source_id: str, ami_id: str) -> None:
        """Give an AMI the disk of another one, if that was kept."""
        with self._guard:
            if source_id in self._amis:
                self._amis[ami_id] = self._amis[source_id]

    def forget(self, ami_id: str) -> None:
        """Forget the disk of an AMI, if it was kept."""
        with self._guard:
            self._amis.pop(ami_id, None)
            self._sweep()

    def remove(self, instance_id: str) -> None:
        """Power off an instance's guest at once and remove its disk."""
        with self._guard:
            machine = self._machines.pop(instance_id, None)
            self._disks.pop(instance_id, None)
        if machine:
            machine.remove()
            with self._guard:
                self._sweep()

    def close(self) -> None:
        """End every guest; return when no process or file of theirs is left."""
        with self._guard:
            if self._place:
                self._place[1].close()
                self._place = None

    def _placed(self) -> tuple[Path, Confinement]:
        """Return the folder and the confinement, created for the first guest."""
        if self._place is None:
            folder = Path(mkdtemp(dir=self._base, prefix="guests-"))
            (folder / "layers").mkdir()
            # Locked until this process ends, so that nobody removes the roots meanwhile.
            self._in_use = (self._roots / "in-use").open("w")
            fcntl.flock(self._in_use, fcntl.LOCK_SH)
            raise_limits()
            self._place = folder, Confinement(folder, self._lock_file)
        return self._place

    def _below(self, flavour: str, launch: GuestLaunch) -> Iterator[Path]:
        """Yield the read-only layers below those of an AMI, the uppermost first."""
        folder, _ = self._placed()
        root = flavour.partition("-")[0]
        site = folder / f"site-{launch.region}-{launch.account}"
        if not site.is_dir():
            write_site(site, self._roots / "base", self._settings, launch.environment)
        yield site
        if more := self._settings.layers:
            for name in dict.fromkeys([flavour, root]):
                if (more / name).is_dir():
                    yield more / name
        yield self._roots / root
        yield self._roots / "base"

    def _freeze(self, machine: Machine, disk: Disk) -> None:
        """Make a guest's changes the uppermost layer of its new disk."""
        machine.freeze(disk.layers[0])
        with self._guard:
            if machine.launch.instance_id in self._disks:
                self._disks[machine.launch.instance_id] = disk

    @contextmanager
    def _new_layer(self) -> Iterator[Path]:
        """Name a new layer, and protect it from being swept while it is being made."""
        with self._guard:
            folder, _ = self._placed()
            layer = Path(mkdtemp(dir=folder / "layers"))
            layer.rmdir()
            self._making.add(layer)
        try:
            yield layer
        finally:
            self._making.discard(layer)

    def _sweep(self) -> None:
        """Remove the layers that no AMI and no guest uses any more."""
        if self._place is None:
            return
        disks = [*self._amis.values(), *self._disks.values()]
        used = {layer for disk in disks for layer in disk.layers} | self._making
        for layer in (self._place[0] / "layers").iterdir():
            if layer not in used:
                shutil.rmtree(layer)
