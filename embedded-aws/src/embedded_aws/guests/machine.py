"""One guest: its disk, booting and power."""

import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from time import monotonic

import psutil

from embedded_aws.guests.confinement import Confinement
from embedded_aws.guests.kernel import chosen_kernel
from embedded_aws.guests.launch import SSH_UNIT, GuestLaunch
from embedded_aws.guests.layers import overlay_options
from embedded_aws.hosts.addresses import Address

# systemd-nspawn's exit code when a guest that keeps its unit asks to be booted again.
_REBOOT = 133
# A guest that has not powered off by then is killed, as EC2 does after some minutes.
_PATIENCE_SECONDS = 30
_LOOK_SECONDS = 0.1
# A systemd that is just starting misses the signal.
_ASK_SECONDS = 1
# systemd(1): starts poweroff.target.
_POWER_OFF = signal.SIGRTMIN + 4


class Machine:
    """A guest, which can be switched on and off.

    Args:
        launch: what it was launched with.
        lower: the read-only layers of its disk, the uppermost first.
        folder: for all its files.
        confinement: where it runs.
        ended: called in a thread after it has switched itself off.
    """

    def __init__(
        self,
        launch: GuestLaunch,
        lower: tuple[Path, ...],
        folder: Path,
        confinement: Confinement,
        ended: Callable[[], None],
    ) -> None:
        self.launch = launch
        self.lower = lower
        self.address = Address()
        self._folder = folder
        self._confinement = confinement
        self._ended = ended
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper: threading.Thread | None = None
        self._stopping = False
        self._doomed = False
        self._switch = threading.RLock()
        for name in ("upper", "work", "root"):
            (folder / name).mkdir(parents=True)
        launch.write(folder / "run", self.address.text)

    @property
    def console(self) -> Path:
        """The guest's console output."""
        return self._folder / "console.log"

    @property
    def upper(self) -> Path:
        """The folder with the guest's changes to its disk."""
        return self._folder / "upper"

    @property
    def running(self) -> bool:
        """Whether it is switched on."""
        return self._keeper is not None and self._keeper.is_alive()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Keep others from switching the guest on or off meanwhile."""
        with self._switch:
            yield

    def start(self) -> None:
        """Switch the guest on and return while it boots.

        Raises:
            OSError: its disk cannot be mounted.
        """
        with self._switch:
            if self.running or self._doomed:
                return
            work, root = self._folder / "work", self._folder / "root"
            shutil.rmtree(work)
            work.mkdir()
            options = overlay_options(self.lower, self.upper, work)
            self._confinement.run(["mount", "-t", "overlay", "overlay", "-o", options, str(root)])
            self._stopping = False
            self._boot()
            self._keeper = threading.Thread(target=self._keep, daemon=True)
            self._keeper.start()

    def stop(self, *, force: bool = False) -> None:
        """Switch the guest off; return when it is off and its disk is free.

        Args:
            force: kill it instead of an orderly shutdown.
        """
        with self._switch:
            self._stopping = True
            asked, deadline = -inf, monotonic() + _PATIENCE_SECONDS
            while self._keeper and self._keeper.is_alive():
                now = monotonic()
                if force or self._doomed or now > deadline:
                    self._cut_off()
                elif now > asked + _ASK_SECONDS:
                    self._shut_down()
                    asked = now
                self._keeper.join(_LOOK_SECONDS)

    def reboot(self) -> None:
        """Reboot the guest in order, as `reboot` in the guest does."""
        with self._switch:
            self.stop()
            self.start()

    def freeze(self, layer: Path) -> None:
        """Make the changes of a guest that is off a layer of its disk.

        Args:
            layer: the new layer's folder, which must not exist yet.
        """
        self.upper.rename(layer)
        self.upper.mkdir()
        self.lower = (layer, *self.lower)

    def copy_disk(self, layer: Path) -> None:
        """Copy the changes of a running guest, which is frozen meanwhile.

        Args:
            layer: the new layer's folder, which must not exist yet.

        Raises:
            OSError: it cannot be copied.
        """
        processes = self._processes()[1:]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        try:
            copy = ["cp", "--archive", str(self.upper), str(layer)]
            done = subprocess.run(copy, capture_output=True, text=True)
        finally:
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.resume()
        if done.returncode:
            raise OSError(f"cannot copy a guest's disk: {done.stderr.strip()}")

    def remove(self) -> None:
        """Kill the guest and remove its disk."""
        self._doomed = True
        self.stop(force=True)
        self.address.release()
        shutil.rmtree(self._folder)

    def _boot(self) -> None:
        boot = self._confinement.seen(self._folder / "root") / "boot"
        run = self._folder / "run"
        (run / "kernel").write_text(chosen_kernel(boot) or "")
        with self.console.open("ab") as console:
            self._process = subprocess.Popen(
                self._in_its_place(
                    [
                        *("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--boot"),
                        *(f"--machine={self.launch.instance_id}", "--console=read-only"),
                        *("--link-journal=no", "--timezone=off", "--resolv-conf=bind-host"),
                        f"--directory={self._folder / 'root'}",
                        f"--bind-ro={run}:/run/embedded-aws",
                        f"--bind-ro={run / SSH_UNIT}:/run/systemd/system/ssh.service.d/guest.conf",
                        *("--", "--show-status=yes"),
                    ]
                ),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
            )

    def _in_its_place(self, command: list[str]) -> list[str]:
        """Return the prefix for a command inside the confinement, in the guest's group."""
        grouped = self._confinement.groups.command(self.launch.instance_id, command)
        return self._confinement.command(grouped)

    def _keep(self) -> None:
        """Wait until the guest ends; boot it again if it asked to reboot."""
        assert self._process
        while self._process.wait() == _REBOOT and not self._stopping:
            self._boot()
        self._confinement.run(["umount", str(self._folder / "root")])
        self._confinement.groups.remove(self.launch.instance_id)
        if not self._stopping:
            self._ended()

    def _shut_down(self) -> None:
        """Ask the guest's first process to power off."""
        for first in self._processes()[1:2]:
            with suppress(psutil.NoSuchProcess):
                first.send_signal(_POWER_OFF)

    def _cut_off(self) -> None:
        """Kill all processes of the guest: systemd-nspawn then cleans up and ends."""
        nspawn, *inside = self._processes() or [None]
        for process in inside or ([nspawn] if nspawn else []):
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def _processes(self) -> list[psutil.Process]:
        if self._process is None:
            return []
        try:
            return list(psutil.Process(self._process.pid).children(recursive=True))
        except psutil.NoSuchProcess:
            return []
