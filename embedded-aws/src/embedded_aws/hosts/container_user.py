"""The user of a container, as Docker finds it in the image's own files.

Docker's documentation of USER: names or numbers of a user and a group; without a group, that of the
user; a number needs no entry. Documented: its words for a name without one (moby's issues).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user.

    Attributes:
        number: its id.
        group: id of its group.
        groups: ids of its other groups.
        home: its home folder.
    """

    number: int
    group: int
    groups: tuple[int, ...]
    home: str


def find_user(text: str) -> User:
    """Return the user that `USER[:GROUP]` names, in the files of this process.

    Raises:
        ValueError: there is no such user or group.
    """
    wanted, _, wanted_group = (text or "0").partition(":")
    name, number, group, home = wanted, wanted, "0", "/"
    for entry in _entries("/etc/passwd", 7):
        if wanted in (entry[0], entry[2]):
            name, number, group, home = entry[0], entry[2], entry[3], entry[5] or "/"
            break
    if not number.isdecimal():
        raise ValueError(f"unable to find user {wanted}: no matching entries in passwd file")
    groups = []
    for entry in _entries("/etc/group", 4):
        if wanted_group == entry[0]:
            wanted_group = entry[2]
        if not wanted_group and name in entry[3].split(","):
            groups.append(int(entry[2]))
    if wanted_group and not wanted_group.isdecimal():
        raise ValueError(f"unable to find group {wanted_group}: no matching entries in group file")
    return User(
        number=int(number), group=int(wanted_group or group), groups=tuple(groups), home=home
    )


def _entries(file: str, fields: int) -> Iterator[list[str]]:
    try:
        lines = Path(file).read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        entry = line.split(":")
        if len(entry) == fields:
            yield entry
