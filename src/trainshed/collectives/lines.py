"""The lines of a log, without what launchers and log readers write before each of them."""

import re
from collections.abc import Iterator

from trainshed.collectives.model import LogLine

_PREFIX = re.compile(
    r"""
    ^(?:\d{4}-\d\d-\d\dT\S+[ ]\S+[ ])?        # aws logs tail: time and log stream
    (?:\[[^\]]*\d\]<std(?:out|err)>:[ ]?      # mpirun --tag-output: [job,rank]<stdout>:
      |[ ]*\d+:[ ]                            # srun --label: rank
    )?
    """,
    re.VERBOSE,
)
# Colours, which some launchers keep in a file.
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def read_lines(text: str) -> Iterator[LogLine]:
    """Yield the lines of a log, numbered from 1."""
    # Not splitlines, which would also split at characters that editors do not count as line ends.
    for number, line in enumerate(text.split("\n"), start=1):
        plain = _COLOUR.sub("", line).rstrip("\r")
        yield LogLine(number=number, text=_PREFIX.sub("", plain, count=1))
