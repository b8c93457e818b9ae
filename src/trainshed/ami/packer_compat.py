"""A Packer template in the form that Packer before 1.7 reads.

Debian's Packer is 1.6.6, the only one that CI can install. The rule has two parts, and both only
leave something out: the file plugins.pkr.hcl, whose one block is newer than that Packer, and the
lines from `# compat:begin packer>=1.7` to `# compat:end`, whose arguments are. So what passes
there exists in current Packer, too, and what is marked is what it did not see.
"""

from collections.abc import Iterator
from pathlib import Path

from trainshed.errors import TrainshedError
from trainshed.files import read_text

BEGIN, END = "# compat:begin packer>=1.7", "# compat:end"
PLUGINS = "plugins.pkr.hcl"
_TEMPLATE = ".pkr.hcl"
_FIRST_THAT_READS_ALL = (1, 7, 0)


def needs_compatible_copy(version: tuple[int, int, int]) -> bool:
    """Say whether a Packer (major, minor, patch) is older than the template."""
    return version < _FIRST_THAT_READS_ALL


def write_compatible(template: Path, destination: Path) -> None:
    """Write a copy that older Packer reads into a new folder.

    Templates are copied without what is left out; everything else is linked, so that Packer
    uploads the very files.

    Args:
        template: folder of the template.
        destination: folder to make.

    Raises:
        TrainshedError: marks do not match.
    """
    sources = sorted(template.glob(f"*{_TEMPLATE}"))
    kept = {path.name: "".join(_kept(path)) for path in sources if path.name != PLUGINS}
    destination.mkdir()
    for name, text in kept.items():
        (destination / name).write_text(text, encoding="utf-8")
    for path in template.iterdir():
        if not path.name.endswith(_TEMPLATE):
            (destination / path.name).symlink_to(path.resolve())


def _kept(path: Path) -> Iterator[str]:
    fenced_since = 0
    for number, line in enumerate(read_text(path).splitlines(keepends=True), 1):
        mark = line.strip()
        if mark.startswith("# compat:") and mark not in (BEGIN, END):
            raise TrainshedError(
                f"{path}:{number}: {mark!r} is not a mark; write {BEGIN!r} or {END!r}"
            )
        if (mark == BEGIN and fenced_since) or (mark == END and not fenced_since):
            other = f"{BEGIN!r} of line {fenced_since} is still open" if fenced_since else "none is"
            raise TrainshedError(
                f"{path}:{number}: {mark!r}, but {other}; pair each begin with an end"
            )
        if mark == BEGIN:
            fenced_since = number
        elif mark == END:
            fenced_since = 0
        elif not fenced_since:
            yield line
    if fenced_since:
        raise TrainshedError(f"{path}:{fenced_since}: {BEGIN!r} is never closed; add {END!r}")
