"""What a stub package holds, whatever its format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file of a package or an archive.

    Attributes:
        text: its content.
        mode: its permissions.
    """

    text: str
    mode: int = 0o644


def program(text: str, *, interpreter: str = "/bin/bash") -> File:
    """An executable script of these lines."""
    return File(text=f"#!{interpreter}\n{text}", mode=0o755)


def tool(version_line: str, *, otherwise: str, code: int) -> File:
    """A program that prints its version, and that here is nothing for it to work on."""
    return program(
        f"case ${{1:-}} in -v|--version) echo '{version_line}'; exit 0;; esac\n"
        f"echo '{otherwise}' >&2\nexit {code}\n"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a package brings and does.

    Attributes:
        files: absolute path to file.
        links: absolute path to the target of a symbolic link.
        folders: absolute paths of folders that may be empty.
        after_install: shell commands run after it was unpacked.
        before_removal: shell commands run before it is removed.
        requires: names of packages that must be there.
        provides: names it can stand for.
    """

    files: Mapping[str, File] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    after_install: str = ""
    before_removal: str = ""
    requires: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()

    @property
    def paths(self) -> list[str]:
        """Every absolute path it owns, but the folders that merely hold them."""
        return [*self.files, *self.links, *self.folders]

    def unpack(self, root: Path) -> None:
        """Write the files below a folder."""
        for path in self.folders:
            (root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for path, file in self.files.items():
            target = root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(file.text)
            target.chmod(file.mode)
        for path, aim in self.links.items():
            link = root / path.lstrip("/")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(aim)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package that a stub repository offers.

    Attributes:
        name: as the package manager knows it.
        version: exact, with epoch and release where the format has them.
        contents: what it brings.
    """

    name: str
    version: str
    contents: Contents


# What a package brings, by its version.
Recipe = Callable[[str], Contents]


def bare(version: str) -> str:
    """A version without epoch and release: what the software inside says about itself."""
    return version.rpartition(":")[2].partition("-")[0]
