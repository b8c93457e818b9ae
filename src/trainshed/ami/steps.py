"""The current step of a build, read from Packer's output."""

import re

_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: ")
_STEP = re.compile(r"^==> [\w-]+\.[\w-]+: (\S.*)$")
_SCRIPT = re.compile(r"Provisioning with shell script: (?:.*/)?([^/]+)$")
_INLINE = re.compile(r"packer-shell\d+")
# Packer's words for parts of a step.
_NO_STEPS = ("Adding tag", "Prevalidating", "No volumes to clean up")


def step_of(line: str) -> str | None:
    """Return the step that a line of Packer's output begins, or None.

    Args:
        line: for instance `==> amazon-ebs.ami: Launching a source AWS instance...`.
    """
    found = _STEP.match(_STAMP.sub("", line))
    if found is None or found[1].startswith(_NO_STEPS):
        return None
    script = _SCRIPT.search(found[1])
    if script and _INLINE.fullmatch(script[1]):
        return None
    # What a script writes on stderr looks like a step; steps begin with a capital letter.
    if not script and not re.match(r"[A-Z][a-z]+ ", found[1]):
        return None
    return script[1] if script else found[1].rstrip(".")
