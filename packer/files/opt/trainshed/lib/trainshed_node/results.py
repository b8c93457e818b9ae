"""One result of the self-test."""

from __future__ import annotations

from dataclasses import dataclass

OK, FAILED, UNCHECKED = "ok", "failed", "unchecked"
BAKE, BOOT = "bake", "boot"


@dataclass(frozen=True)
class Result:
    """One line of the self-test.

    Attributes:
        name: component or setting.
        version: what was found; empty when nothing was.
        expected: what should be there; empty when there is no version to compare.
        state: `ok`, `failed`, or `unchecked` for what this machine cannot show.
        detail: what is wrong, or what could not be checked; in few words.
    """

    name: str
    version: str
    expected: str
    state: str
    detail: str = ""


def verdict(name: str, holds: bool, *, version: str = "", detail: str = "") -> Result:
    """Return the result of a yes-or-no question; `detail` says what is wrong if it is no."""
    return Result(name, version, "", OK if holds else FAILED, "" if holds else detail)


def unchecked(name: str, detail: str, *, expected: str = "") -> Result:
    """Return the result of a question that this machine cannot answer."""
    return Result(name, "", expected, UNCHECKED, detail)
