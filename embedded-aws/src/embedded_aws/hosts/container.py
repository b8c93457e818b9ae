"""A command in a container: in the file system of an image, as Docker on an ECS instance starts it.

The first process of a host starts it, as root on Linux or in a user namespace. The command is the
first process of a process namespace, so all that it started ends with it, and it gets no signal for
which it has no handler, but SIGKILL; its mounts are in a namespace that ends with its processes.

Docker's documentation: the capabilities that a container keeps; `--init`: a first process that
passes signals on and waits for processes that lost their parents.
"""

import ctypes
import errno
import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

from embedded_aws.hosts.container_mounts import Files, call, enter_files
from embedded_aws.hosts.container_user import find_user
from embedded_aws.hosts.user_namespace import become

# clone(2), prctl(2).
_NEW_MOUNTS = 0x00020000
_NEW_PROCESSES = 0x20000000
_PR_CAPBSET_DROP = 24
# linux/capability.h: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP,
# NET_BIND_SERVICE, NET_RAW, SYS_CHROOT, MKNOD, AUDIT_WRITE, SETFCAP.
_KEPT_CAPABILITIES = frozenset({0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31})
_CAPABILITIES = range(64)
_PASSED_ON = (
    *(signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT),
)
# The file to which a process writes why it did not become the command.
_REPORT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What a command gets in place of the machine's files.

    Attributes:
        files: its file system.
        user: `USER[:GROUP]`, names or numbers; empty for root.
        folder: its working directory, made if it is not there.
        privileged: keeps all capabilities, and may write to the kernel's settings.
        init: is not the first process itself.
    """

    files: Files
    user: str
    folder: str
    privileged: bool = False
    init: bool = False


class ContainerProblem(Exception):
    """A container cannot be made; the message says why."""


@dataclass(slots=True)
class Contained:
    """The process of a command in a container.

    Attributes:
        pid: its id.
        returncode: its exit code, -n when signal n ended it, once it has ended.
    """

    pid: int
    returncode: int | None = None


def start(
    container: Container,
    words: Sequence[str],
    environment: Mapping[str, str],
    output: int,
    errors: int,
    *,
    beside: int | None = None,
) -> Contained:
    """Start a command in a container.

    Args:
        container: the container.
        words: program and arguments.
        environment: all its variables, but those that Docker sets by itself.
        output: file for its standard output.
        errors: file for its standard error.
        beside: process whose container it goes into; None for a new one.

    Raises:
        ContainerProblem: the container cannot be made.
        OSError: the program cannot be run.
        ProcessLookupError: the container that it goes into has ended.
    """
    if beside is None:
        call("unshare", _NEW_PROCESSES)
    else:
        _enter_namespace(beside, "pid", _NEW_PROCESSES)
    reports, report = os.pipe()
    try:
        pid = os.fork()
        if not pid:
            _run_command(container, words, environment, (output, errors, report), beside)
    except OSError as error:
        os.close(reports)
        if beside is None:
            raise
        # pid_namespaces(7): nothing begins where the first process has ended.
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH)) from error
    finally:
        os.close(report)
        _stay_outside()
    with os.fdopen(reports) as file:
        said = file.read()
    if said:
        os.waitpid(pid, 0)
        problem = json.loads(said)
        if isinstance(problem, int):
            raise OSError(problem, os.strerror(problem))
        raise ContainerProblem(problem)
    return Contained(pid)


def _stay_outside() -> None:
    """Have the next processes of this one begin in its own process namespace again."""
    _enter_namespace("self", "pid", _NEW_PROCESSES)


def _enter_namespace(process: int | str, kind: str, flag: int) -> None:
    namespace = os.open(f"/proc/{process}/ns/{kind}", os.O_RDONLY)
    call("setns", namespace, flag)
    os.close(namespace)


def _run_command(
    container: Container,
    words: Sequence[str],
    environment: Mapping[str, str],
    files: tuple[int, int, int],
    beside: int | None,
) -> NoReturn:
    """Run the command in place of this new process, or write why not to the last of the files."""
    try:
        _keep_only(files)
        os.setsid()
        with _problems():
            home = _enter(container, beside)
        named = {"HOSTNAME": os.uname().nodename, "HOME": home}
        os.execvpe(words[0], list(words), named | dict(environment))
    except ContainerProblem as problem:
        os.write(_REPORT, json.dumps(str(problem)).encode())
    except OSError as error:
        os.write(_REPORT, json.dumps(error.errno).encode())
    finally:
        os._exit(127)


@contextmanager
def _problems() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise ContainerProblem(str(error)) from error


def _keep_only(files: tuple[int, int, int]) -> None:
    """Give this process its standard input and output, and nothing else but where it reports."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    output, errors, report = (os.dup(file) for file in files)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.dup2(report, _REPORT, inheritable=False)
    os.closerange(_REPORT + 1, os.sysconf("SC_OPEN_MAX"))


def _enter(container: Container, beside: int | None) -> str:
    """Move this process into the container; return its user's home."""
    if beside is None:
        call("unshare", _NEW_MOUNTS)
        enter_files(container.files, container.folder, privileged=container.privileged)
    else:
        _enter_namespace(beside, "mnt", _NEW_MOUNTS)
        os.chdir(container.folder)
    user = find_user(container.user)
    if not container.privileged:
        _drop_capabilities()
    os.umask(0o022)
    become(user)
    if container.init:
        _fork_from_first()
    return user.home


def _drop_capabilities() -> None:
    """Take what Docker takes from the programs that this process will run."""
    for capability in set(_CAPABILITIES) - _KEPT_CAPABILITIES:
        # The kernel has fewer.
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def _fork_from_first() -> None:
    """Return in a new process, and let this one pass signals on and wait for all others."""
    child = os.fork()
    if not child:
        os.setsid()
        return
    os.close(_REPORT)
    for number in _PASSED_ON:
        signal.signal(number, lambda got, _: os.kill(child, got))
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)
