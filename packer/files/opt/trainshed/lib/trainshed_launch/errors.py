"""What ends a launch, and the exit codes by which the orchestrator decides what to do next."""

from __future__ import annotations

# The same as in trainshed.nodes.exit_codes, which the job definition's retry rules read.
PEER_LOST = 197
# sysexits.h: EX_USAGE, EX_CONFIG. Another attempt would end the same way.
USAGE_ERROR = 64
CONFIGURATION_ERROR = 78


class LaunchError(Exception):
    """Something that a launch cannot go on with.

    Args:
        message: what is wrong, and what to do, divided by a semicolon.
        code: to exit with.
    """

    def __init__(self, message: str, code: int = CONFIGURATION_ERROR) -> None:
        super().__init__(message)
        self.code = code
