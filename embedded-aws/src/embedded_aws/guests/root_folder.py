"""Where the roots that guests boot are."""

import os
from pathlib import Path

ROOTS_VARIABLE = "EMBEDDED_AWS_GUEST_ROOTS"
_DEFAULT_ROOTS = "/var/cache/embedded-aws/guests"


def default_roots() -> Path:
    """Return the folder of the prepared roots: the environment's, or the system's cache."""
    return Path(os.environ.get(ROOTS_VARIABLE) or _DEFAULT_ROOTS)
