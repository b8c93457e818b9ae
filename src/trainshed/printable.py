"""Text of others as it may be printed: nothing in it commands a terminal or a CI system."""

import re

# C0 but the tab, DEL and C1; separators of lines; what turns the direction of text; halves of
# characters, as names of files may have them.
_CONTROL = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# GitHub's runner obeys a line that begins with `::error::` or the like, also after spaces, and
# `##[error]` anywhere in a line; Azure Pipelines and TeamCity know `##vso[` and `##teamcity[`.
# https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
# GitLab's sections need the control characters above:
# https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections
_COMMAND = re.compile(r"(?<!\S)(?=::[A-Za-z])|(?<=#)(?=#\w*\[)")


def printable(text: str) -> str:
    r"""Return text as one line: `\x1b` for the character ESC, `\n` for a line break."""
    line = _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
    return _COMMAND.sub(r"\\", line)
