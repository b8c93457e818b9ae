"""Text of others, in one line and of bounded length, for every form of a report."""

import re

# Control characters, what has no width or turns the direction of text, and halves of characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_MOST_CHARACTERS = 2_000


def seen(text: str) -> str:
    """Return a text without the characters that nobody sees."""
    return _UNSEEN.sub("", text)


def plain(text: str, most: int = _MOST_CHARACTERS) -> str:
    """Return a text in one line, without characters that nobody sees, and cut if it is longer."""
    line = " ".join(seen(text).split())
    cut = len(line) - most
    return f"{line[:most]}… ({cut:,} more characters)" if cut > 0 else line
