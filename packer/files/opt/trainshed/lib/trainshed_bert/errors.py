"""What the user must correct, and the exit code that says so."""

from __future__ import annotations

# sysexits.h: EX_CONFIG. Another attempt would end the same way.
CONFIGURATION_ERROR = 78


class BertError(Exception):
    """Something that the user must correct.

    Args:
        message: what is wrong, and what to do, divided by a semicolon.
    """


class OneRankError(BertError):
    """Only this rank may know of it, so this rank reports it."""


class TrainingError(Exception):
    """The training itself failed."""
