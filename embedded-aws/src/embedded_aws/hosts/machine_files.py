"""This machine's own files, with folders of a node over them.

A command without an image runs on the machine's files. What its node has mounted, such as shared
storage, is there for it alone: in a mount namespace, over a copy of the machine's root.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from embedded_aws.hosts.container import Container
from embedded_aws.hosts.container_mounts import Bound, Files
from embedded_aws.hosts.image_files import ImageFiles

# A container has its own.
_KERNEL_FILES = ("proc", "sys")


def machine_container(
    images: ImageFiles, folder: Path, work: str, mounted: Sequence[Bound]
) -> Container | None:
    """Return what a command gets in place of the machine's files, or None for those alone.

    Args:
        images: of this machine, which may be unable to make containers, or without networks for
            its hosts.
        folder: for the command.
        work: its working directory.
        mounted: folders of its node.
    """
    # On one address of the machine, processes find each other by their numbers, as those of MPI.
    if not mounted or not images.apart or images.unavailable:
        return None
    root = folder / "root"
    root.mkdir(parents=True, exist_ok=True)
    return Container(
        files=Files(
            image=None,
            folder=str(folder),
            bound=[*_machine(root), *(each for one in mounted for each in _over(one))],
        ),
        user="",
        folder=work,
        privileged=True,
        # A shell that is the first process would not hear SIGTERM.
        init=True,
    )


def _machine(root: Path) -> Iterator[Bound]:
    """Yield what is in the machine's root; make its links in the new one."""
    for path in sorted(Path("/").iterdir()):
        if path.name in _KERNEL_FILES:
            continue
        if path.is_symlink():
            link = root / path.name
            link.unlink(missing_ok=True)
            link.symlink_to(path.readlink())
        else:
            yield Bound(source=str(path), target=str(path))


def _over(mounted: Bound) -> Iterator[Bound]:
    """Yield a folder of the node, and in it what the machine has there and the node has not.

    On the machine programs may be in a folder such as /home, where a node mounts storage.
    """
    yield mounted
    target, source = Path(mounted.target), Path(mounted.source)
    if not target.is_dir():
        return
    for path in sorted(target.iterdir()):
        own = source / path.name
        # A place for a mount is left of a command before.
        if not path.is_symlink() and (
            not own.exists() or (own.is_dir() and not any(own.iterdir()))
        ):
            yield Bound(source=str(path), target=str(path))
