"""Leave out of a review what nobody outside the account and this machine should read."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TypeVar, cast

from trainshed.review.secrets import without_secrets

ACCOUNT = "ACCOUNT"
T = TypeVar("T")

# Long hexadecimal numbers are ids and digests, which may have twelve digits in a row.
_ACCOUNT_ID = re.compile(
    r"(?P<digest>[0-9A-Fa-f]{17,})|(?<!\d)(?<!\d\.)\d{12}(?!\d)|(?<![\w-])\d{4}-\d{4}-\d{4}(?![\w-])"
)
# Homes that AMIs have say nothing of a machine.
_HOMES = re.compile(r"(?<![\w.])/(?:home|Users)/(?!ec2-user|ubuntu|ssm-user)[A-Za-z_][\w.-]*")


def redacted(value: T) -> T:
    """Return a text, or all texts of a review, without account ids, secrets and folders.

    Whoever cuts a text calls this before: no pattern knows half a token.
    """
    if isinstance(value, Enum):
        return cast(T, value)
    if isinstance(value, str):
        return cast(T, _clean(value))
    if isinstance(value, tuple):
        return cast(T, tuple(map(redacted, value)))
    if is_dataclass(value) and not isinstance(value, type):
        cleaned = {field.name: redacted(getattr(value, field.name)) for field in fields(value)}
        return cast(T, replace(value, **cleaned))
    return value


def _clean(text: str) -> str:
    text = _ACCOUNT_ID.sub(lambda found: found["digest"] or ACCOUNT, without_secrets(text))
    for folder, instead in _folders():
        text = folder.sub(instead, text)
    return _HOMES.sub("~", text)


def _folders() -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield this project's folder and the user's, with what stands for what is in them."""
    before, after = r"(?<![\w.~-])", r"(?![\w.-])"
    for folder, instead in ((Path.cwd(), ""), (Path.home(), "~/")):
        if folder != Path(folder.anchor):
            name = re.escape(str(folder))
            yield re.compile(rf"{before}{name}/(?=[\w.-])"), instead
            yield re.compile(rf"{before}{name}{after}"), instead.rstrip("/") or "."
