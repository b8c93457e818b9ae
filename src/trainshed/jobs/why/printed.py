"""What the last lines of a log say about why its command failed."""

import re

# trainshed-launch; shells, which name themselves or the line of a script; env.
_PROGRAM = re.compile(
    r"(?P<launched>\S+) cannot be started: No such file or directory"
    r"|(?:\b(?:ba|da)?sh|: (?:line )?\d+): (?P<shell>[^\s:]+): (?:command )?not found$"
    r"|\benv: ['\u2018]?(?P<env>[^'\u2019:]+)['\u2019]?: No such file or directory"
)
# Python; dash; bash.
_FILE = re.compile(
    r"can't open file '(?P<python>[^']+)'"
    r"|sh: \d+: cannot open (?P<dash>[^\s:]+): No such file"
    r"|bash: (?P<bash>[^\s:]+): No such file or directory"
)


def missing(lines: tuple[str, ...]) -> str | None:
    """Return what a command lacked by its last lines, for instance `the program mpirun`."""
    for line in reversed(lines):
        for what, pattern in (("program", _PROGRAM), ("file", _FILE)):
            if found := pattern.search(line.rstrip()):
                return f"the {what} {next(filter(None, found.groups()))}"
    return None
