"""Text of others, in one line and of bounded length, for every form of a report."""

import re

# Control characters, what has no width or turns the direction of text, and halves of characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
MOST_CHARACTERS = 2_000


def plain(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text in one line, without characters that nobody sees, and cut if it is longer."""
    line = " ".join(_UNSEEN.sub("", text).split())
    cut = len(line) - most
    return f"{line[:most]}… ({cut:,} more characters)" if cut > 0 else line
