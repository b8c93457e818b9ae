"""End a command when the process that waits for it is killed.

No signal handler runs on SIGKILL, so a forked process watches: the system closes its pipe when the
waiting process ends, for whatever reason.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psutil

# Time for a command to clean up between SIGTERM and SIGKILL.
_PATIENCE_SECONDS = 5


@contextmanager
def ending_with_us() -> Iterator[Callable[[int], None]]:
    """Yield a function that takes a command's process id.

    When this process is killed before the context ends, the command and all that it started are
    ended. Enter it only while this process has a single thread.
    """
    reading, writing = os.pipe()
    guard = os.fork()
    if not guard:
        os.close(writing)
        _guard(reading)
    os.close(reading)
    try:
        yield lambda pid: _write(writing, pid)
    finally:
        with suppress(BrokenPipeError):
            _write(writing, "ended")
        os.close(writing)
        os.waitpid(guard, 0)


def _write(pipe: int, word: object) -> None:
    os.write(pipe, f"{word}\n".encode())


def _guard(reading: int) -> None:
    """Wait for a process id and then for its end or ours; never returns."""
    try:
        # Ctrl-C in the terminal is for the command.
        os.setsid()
        with os.fdopen(reading) as pipe:
            word = pipe.readline()
            if not word or word == "ended\n":
                return
            command = psutil.Process(int(word))
            if not pipe.readline():
                _end(command)
    except psutil.NoSuchProcess:
        pass  # it has ended already
    finally:
        # The forked process must not run the exit handlers of its parent.
        os._exit(0)


def _end(command: psutil.Process) -> None:
    tree = [*command.children(recursive=True), command]
    for process in tree:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, alive = psutil.wait_procs(tree, _PATIENCE_SECONDS)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
