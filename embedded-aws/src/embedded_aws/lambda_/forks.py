"""Starting Python functions as forks of a process that has boto3 loaded.

A new interpreter takes a quarter of a second of CPU to import boto3 and to read the models of its
services; a fork of one that did takes some milliseconds.
"""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import IO, NoReturn, Self

from embedded_aws.lambda_.runtimes import python_bootstrap

_requests: socket.socket | None = None


def start() -> None:
    """Fork the process that functions are forks of, from this one and what it has loaded.

    Only to be called while this process has a single thread. The process ends with those that may
    ask it.
    """
    global _requests
    _requests, requests = socket.socketpair()
    if os.fork() == 0:
        try:
            _fork_on_request(requests)
        finally:
            os._exit(1)
    requests.close()


def available() -> bool:
    """Return whether `start` was called, here or in the process that this is a fork of."""
    return _requests is not None and hasattr(os, "pidfd_open")


class Fork:
    """A fork that runs a Python function; as much of a `Popen` as the runner needs.

    Raises:
        ConnectionError: the process that forks has ended.
    """

    def __init__(
        self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdout: IO[bytes]
    ) -> None:
        assert _requests
        theirs, ours = os.pipe()
        self.stdin = os.fdopen(ours, "wb")
        answers, answer = os.pipe()
        with tempfile.TemporaryFile() as order:
            order.write(json.dumps([str(cwd), dict(env), *arguments]).encode())
            order.seek(0)
            files = [order.fileno(), theirs, stdout.fileno(), answer]
            try:
                socket.send_fds(_requests, [b"."], files)
            finally:
                os.close(theirs)
                os.close(answer)
        with os.fdopen(answers) as text:
            pid = text.read()
        if not pid:
            raise ConnectionResetError("the process that functions are forks of has ended")
        self.pid = int(pid)
        # Not the end of a pipe: what the function starts would inherit that, and outlive it.
        self._process: int | None = None
        # One that is gone already has ended.
        with suppress(ProcessLookupError):
            self._process = os.pidfd_open(self.pid)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the end, as `Popen` does."""
        with suppress(BrokenPipeError):
            self.stdin.close()
        self.wait()
        if self._process is not None:
            os.close(self._process)

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the end.

        Raises:
            subprocess.TimeoutExpired: it still runs after so many seconds.
        """
        if self._process is None:
            return
        # Unlike select.select it takes descriptors of any number.
        poll = select.poll()
        poll.register(self._process, select.POLLIN)
        if not poll.poll(None if timeout is None else timeout * 1000):
            raise subprocess.TimeoutExpired("function", timeout or 0)


def _fork_on_request(requests: socket.socket) -> None:
    # Nothing of the server is theirs: its sockets, its standard input and output.
    os.dup2(requests.detach(), 0)
    os.dup2(2, 1)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    requests = socket.socket(fileno=0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.enable()
    while True:
        message, files, _, _ = socket.recv_fds(requests, 1, 4)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            _run(*files)
        for file in files:
            os.close(file)
        # Those that ended since.
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _run(order: int, stdin: int, output: int, answer: int) -> NoReturn:
    """Become what a new interpreter with the function's environment would be."""
    os.setsid()
    os.write(answer, str(os.getpid()).encode())
    os.close(answer)
    for number, file in enumerate((stdin, output, output)):
        os.dup2(file, number)
    os.close(stdin)
    os.close(output)
    with os.fdopen(order) as text:
        cwd, environment, *arguments = json.load(text)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv = [python_bootstrap.__file__, *arguments]
    libraries = environment["PYTHONPATH"].split(os.pathsep)
    folders = (Path(folder) for folder in (cwd, *libraries))
    own = {path.name.partition(".")[0] for folder in folders for path in folder.rglob("*")}
    if own & set(sys.modules):
        # It brings, for instance, a boto3 of its own, maybe in a folder that it puts on the path.
        os.execv(sys.executable, [sys.executable, *sys.argv])
    sys.path[:0] = [cwd, *libraries]
    sys.stdin = os.fdopen(0)
    sys.stdout, sys.stderr = (
        TextIOWrapper(os.fdopen(file, "wb", 0), "utf-8", write_through=True) for file in (1, 2)
    )
    tempfile.tempdir = None
    python_bootstrap.main()
    os._exit(1)
