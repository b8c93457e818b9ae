"""A place for guests that disappears with its processes and mounts when its owner ends.

It is a mount and a process namespace. Their first process reads a pipe that the owner holds: when
the owner ends, for whatever reason, that process ends, and the kernel ends every process and
unmounts everything inside. The shell around it then removes the folder. It locks a file
until then, so that another process can wait until nothing is left.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from embedded_aws.guests.control_groups import ControlGroups

# In the new process namespace the old /proc still shows the outer process id.
_FIRST = """
read -r id _ </proc/self/stat
mount -t proc proc /proc
# Where systemd-nspawn keeps files about a guest.
mkdir -p /run/systemd/nspawn
mount -t tmpfs tmpfs /run/systemd/nspawn
echo "$id"
exec cat >/dev/null
"""
# Arguments: the script above, the folder of the guests, folders of control groups. A group whose
# last process has just ended may be busy for a moment.
_AROUND = """
unshare --mount --pid --fork --kill-child sh -c "$1"
rm -rf --one-file-system "$2"
shift 2
for _ in 1 2 3 4 5 6 7 8 9 10; do
  find "$@" -depth -type d -exec rmdir {} + 2>/dev/null && exit
  sleep 0.1
done
"""


class Confinement:
    """Where the guests of one process live.

    Attributes:
        groups: control groups, one for each guest.

    Args:
        folder: for all files of the guests; removed at the end.
        lock: file that is locked, shared, until the folder is removed.
    """

    def __init__(self, folder: Path, lock: Path) -> None:
        self.groups = ControlGroups(f"embedded-aws-{folder.name}")
        self._process = subprocess.Popen(
            [
                *("flock", "--shared", str(lock), "sh", "-c", _AROUND, "sh", _FIRST, str(folder)),
                *map(str, self.groups.folders),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A new session: the owner may be killed with its whole process group.
            start_new_session=True,
        )
        assert self._process.stdout
        self._first = int(self._process.stdout.readline())

    def command(self, command: Sequence[str]) -> list[str]:
        """Return the prefix for a command that runs inside."""
        return ["nsenter", f"--target={self._first}", "--mount", "--pid", "--", *command]

    def run(self, command: Sequence[str]) -> None:
        """Run a command inside.

        Raises:
            OSError: it failed; the message has its output.
        """
        done = subprocess.run(
            self.command(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"LC_ALL": "C"},
        )
        if done.returncode:
            raise OSError(f"{command[0]} failed: {done.stdout.strip()}")

    def seen(self, path: Path) -> Path:
        """Return the path through which this process reaches a path that is mounted inside."""
        return Path(f"/proc/{self._first}/root{path}")

    def close(self) -> None:
        """End everything inside, and return when nothing is left."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
