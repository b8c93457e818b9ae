"""The first process of a node: `python -I -S node_init.py CONTROL`, started by `node_processes`.

It runs the command of a job, and ends with all that the command started: when the command ends,
and when the other end of CONTROL, a socket, is closed, which the system does when the embedded AWS
is killed. In a process namespace the kernel ends the rest with this process; elsewhere this process
adopts what loses its parent, and kills it.

It reads a number of bytes and so many bytes of JSON from the socket, and writes a line of JSON when
the command runs or cannot run: `{"refused": ...}`. With a port it first listens there, in the
node's own network, and passes the socket on. Then it sends the command a signal for each byte that
it reads.
"""

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

# [S] prctl(2).
_PR_SET_CHILD_SUBREAPER = 36
SIZE_BYTES = 4


def main() -> NoReturn:
    """Run the command of the order."""
    control = socket.socket(fileno=int(sys.argv[1]))
    order = json.loads(_read(control, int.from_bytes(_read(control, SIZE_BYTES), sys.byteorder)))
    _adopt()
    if order["port"]:
        with socket.create_server(("127.0.0.1", order["port"]), backlog=128) as listening:
            socket.send_fds(control, [b"listening\n"], [listening.fileno()])
    # A byte for each SIGCHLD, so that one poll waits for everything.
    ended, write = socket.socketpair()
    write.setblocking(False)
    signal.set_wakeup_fd(write.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        command = subprocess.Popen(
            order["command"],
            cwd=order["folder"],
            env=order["environment"],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        refused = _refused(order["command"][0], error)
        control.sendall(json.dumps({"refused": refused}).encode() + b"\n")
        os._exit(1)
    control.sendall(b"{}\n")
    # Their ends are the command's now.
    for stream in (1, 2):
        os.close(stream)
    code = _wait(command.pid, control, ended)
    _kill_the_rest()
    os._exit(code)


def _refused(program: str, error: OSError) -> str:
    """Return why a program cannot be run, in the words of Docker and runc.

    [S] Issues of their users: nextflow-io/nextflow 5657 (AWS Batch, a path that is not there),
    apocas/dockerode 654 (a name that is not in PATH), edp963/davinci-docker 23 (not executable).
    """
    why = str(error.strerror).lower()
    if isinstance(error, FileNotFoundError):
        by_path = "/" in program
        why = f"stat {program}: {why}" if by_path else "executable file not found in $PATH"
    return (
        "Error response from daemon: failed to create task for container: failed to create shim "
        "task: OCI runtime create failed: runc create failed: unable to start container process: "
        f'exec: "{program}": {why}: unknown'
    )


def _read(control: socket.socket, size: int) -> bytes:
    read = b""
    # No more than that: signals may follow.
    while len(read) < size:
        part = control.recv(size - len(read))
        if not part:
            os._exit(1)
        read += part
    return read


def _adopt() -> None:
    if sys.platform == "linux" and os.getpid() != 1:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait(command: int, control: socket.socket, ended: socket.socket) -> int:
    """Return the exit code of the command, 128 + n when signal n ended it."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(ended, select.POLLIN)
    while True:
        for file, _ in poll.poll():
            if file == control.fileno():
                signals = control.recv(64)
                for number in signals or bytes([signal.SIGKILL]):
                    with suppress(ProcessLookupError):
                        os.kill(command, number)
                if not signals:
                    _kill_the_rest()
                    os._exit(128 + signal.SIGKILL)
            else:
                ended.recv(64)
                while found := _reaped():
                    pid, status = found
                    if pid == command:
                        code = os.waitstatus_to_exitcode(status)
                        return code if code >= 0 else 128 - code


def _reaped() -> tuple[int, int] | None:
    with suppress(ChildProcessError):
        pid, status = os.waitpid(-1, os.WNOHANG)
        return (pid, status) if pid else None
    return None


def _kill_the_rest() -> None:
    """Kill what is left, and what is adopted meanwhile, until there is nothing."""
    if os.getpid() == 1:
        return
    with suppress(ChildProcessError):
        while True:
            for pid in _descendants():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)


def _descendants() -> list[int]:
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # [S] proc(5): the name may contain spaces and parentheses.
            after_name = path.read_text(errors="replace").rpartition(")")[2]
            parents[int(path.parent.name)] = int(after_name.split()[1])
    found = [os.getpid()]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


if __name__ == "__main__":
    main()
