"""A report that can be posted: where it begins, and how long it may be."""

from pathlib import Path

from trainshed.errors import TrainshedError
from trainshed.files import ReadError, read_text

# Every report in Markdown begins with it, so that the next one replaces it.
MARKER = "<!-- trainshed review -->"
# Of a comment on GitHub; one on GitLab may be longer.
LIMIT = 65_536
_REMEDY = "write it again with trainshed review --format markdown"


def read_report(file: Path) -> str:
    """Return the text of a report, which is the artifact of a job that runs anybody's code.

    Args:
        file: in Markdown, as `trainshed review` writes it.

    Raises:
        TrainshedError: it is none, or too long for a comment.
    """
    # Of an artifact that a program unpacked, both may be links to files of the machine.
    for each in (file.parent, file):
        if each.is_symlink():
            raise TrainshedError(f"{each} cannot be read: it is a link, which may lead anywhere")
    try:
        text = read_text(file)
    except ReadError as error:
        raise TrainshedError(f"{error}; {_REMEDY}") from error
    if not text.startswith(MARKER):
        raise TrainshedError(f"{file} does not begin with {MARKER}; {_REMEDY}")
    if len(text) > LIMIT:
        raise TrainshedError(
            f"{file} has {len(text)} characters, and a comment at most {LIMIT}; {_REMEDY}"
        )
    return text
