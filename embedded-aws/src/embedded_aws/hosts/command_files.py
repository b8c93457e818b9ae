"""In which files a container's command runs: those of its image, or this machine's own.

Docker's documentation: arguments take the place of the image's command, and follow its entrypoint
or the one that takes its place, with which the image's command does not count; a user precedes the
image's; PATH is there in any case.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from embedded_aws.actions import Call
from embedded_aws.ec2.instance_files import SYS_CLASS, VARIABLE
from embedded_aws.ecr.stored_images import NotReadable
from embedded_aws.hosts.container import Container
from embedded_aws.hosts.container_mounts import Bound, Files, Memory
from embedded_aws.hosts.environment import own_path
from embedded_aws.hosts.found_images import NotPulled, find_image
from embedded_aws.hosts.image_files import ImageFiles
from embedded_aws.hosts.machine_files import machine_container

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class NoCommand(Exception):
    """There is nothing to run; the message says why, and is empty where only the image is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedContainer:
    """What is asked of a container.

    Attributes:
        image: its image.
        arguments: of its entrypoint; empty for the image's command.
        entrypoint: in place of the image's; empty for that.
        user: in place of the image's, or an empty text.
        work: working directory in place of the image's, or an empty text.
        bound: files, folders and devices of the host.
        memory: file systems in memory.
        read_only: nothing of the image can be changed.
        privileged: keeps all capabilities.
        init: its command is not its first process.
    """

    image: str
    arguments: Sequence[str]
    entrypoint: Sequence[str] = ()
    user: str = ""
    work: str = ""
    bound: Sequence[Bound] = field(default=())
    memory: Sequence[Memory] = field(default=())
    read_only: bool = False
    privileged: bool = False
    init: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFiles:
    """Where and how a command runs.

    Attributes:
        said: which files these are, for the log.
        words: program and arguments.
        variables: those that come before all others.
        container: None for this machine's own files alone.
    """

    said: str
    words: Sequence[str]
    variables: Mapping[str, str]
    container: Container | None = None


def command_files(
    call: Call, wanted: WantedContainer, images: ImageFiles, folder: Path, root: Path
) -> CommandFiles:
    """Return where a command runs.

    Args:
        call: of the account and region where it runs.
        wanted: what is asked of its container.
        images: unpacked on this machine.
        folder: of the container.
        root: folder with files of the node, by their paths there.

    Raises:
        NotPulled: the image cannot be pulled.
        NoCommand: there is no command.
    """
    found = find_image(call, wanted.image)
    if found.stored is None:
        return _own_files(wanted, folder, root, found.absence, images)
    if why := images.unavailable:
        return _own_files(wanted, folder, root, why, images)
    try:
        image = images.unpacked(found.stored)
        below = images.place(image, folder)
    except NotReadable as problem:
        raise NotPulled(str(problem), found=True) from problem
    own = [] if wanted.entrypoint else image.config.get("Cmd") or []
    entrypoint = wanted.entrypoint or image.config.get("Entrypoint") or []
    words = [*entrypoint, *(wanted.arguments or own)]
    if not words:
        raise NoCommand
    return CommandFiles(
        said=f"in the file system of image {wanted.image.partition('@')[0]}@{found.stored.digest}",
        words=words,
        variables={"PATH": _PATH, **dict(_pair(each) for each in image.config.get("Env") or [])},
        container=Container(
            files=Files(
                image=below,
                folder=str(folder),
                bound=wanted.bound,
                memory=wanted.memory,
                sys_class=str(root / SYS_CLASS),
                read_only=wanted.read_only,
            ),
            user=wanted.user or image.config.get("User") or "",
            folder=wanted.work or image.config.get("WorkingDir") or "/",
            privileged=wanted.privileged,
            init=wanted.init,
        ),
    )


def _own_files(
    wanted: WantedContainer, folder: Path, root: Path, why: str, images: ImageFiles
) -> CommandFiles:
    words = [*wanted.entrypoint, *wanted.arguments]
    if not words:
        raise NoCommand(
            f"the embedded AWS does not know the command of image {wanted.image}: {why}; give it "
            "a command"
        )
    # Beside the folder in which the command begins, which is empty.
    temporary = folder.with_name(f"{folder.name}-tmp")
    temporary.mkdir(exist_ok=True)
    mounted = [each for each in wanted.bound if each.mounted]
    return CommandFiles(
        said=f"on this machine's own files, not in {wanted.image}: {why}",
        words=words,
        variables={
            "PATH": own_path(),
            "HOME": str(folder),
            # What a killed command leaves goes away with its container, as on AWS.
            "TMPDIR": str(temporary),
            VARIABLE: str(root),
        },
        container=machine_container(images, folder, str(folder), mounted),
    )


def _pair(variable: str) -> tuple[str, str]:
    name, _, value = variable.partition("=")
    return name, value
