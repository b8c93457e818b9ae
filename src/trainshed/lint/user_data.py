"""The user data of a launch template, as text."""

from base64 import b64decode
from contextlib import suppress

_MULTI_PART = ("content-type: multipart/", "mime-version:")


def user_data_text(given: str) -> str | None:
    """Return user data as text; None where only a deployment knows it.

    Args:
        given: as the template has it, encoded or not.
    """
    if given.lstrip().startswith("${"):
        return None
    with suppress(ValueError):  # it is not encoded
        return b64decode(given.strip(), validate=True).decode()
    return given


def is_multi_part(given: str) -> bool:
    """Whether user data is MIME multi-part, or may be."""
    text = user_data_text(given)
    return text is None or text.lstrip().lower().startswith(_MULTI_PART)
