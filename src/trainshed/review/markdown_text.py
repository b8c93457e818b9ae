"""Text of others in Markdown, as GitHub and GitLab read it."""

import re
from html import escape

from trainshed.review.plain_text import plain

# A space of no width, so that `@name` mentions nobody, and `#1` and an address link to nothing.
# Renovate and Dependabot write the same.
_BREAK = "&#8203;"
_REFERENCE = re.compile(
    r"(?<=[@#!%~])(?=\w)|(?<=&amp;)(?=\w)|(?<=\bGH-)(?=\d)|(?<=:)(?=//)|(?<=\bwww)(?=\.)",
    re.IGNORECASE,
)
_SYNTAX = re.compile(r"([\\`*_\[\]~#])")
_BLOCK = re.compile(r"^(\d*)([-+=.)])")
# GitHub and GitLab take what is between two of them for mathematics.
_DOLLAR = "<span>$</span>"
_LONGEST_VALUE = 300


def prose(text: str) -> str:
    """Return text that reads as it is anywhere within a line, also in a cell of a table.

    It makes no markup, mentions nobody and links to nothing.
    """
    line = _SYNTAX.sub(r"\\\1", escape(plain(text), quote=False))
    line = _REFERENCE.sub(_BREAK, _BLOCK.sub(r"\1\\\2", line))
    return line.replace("|", "&#124;").replace("$", _DOLLAR)


def code(text: str) -> str:
    """Return text as code, which reads as it is, also in a cell of a table."""
    line = plain(text, _LONGEST_VALUE)
    if not line:
        return "(empty)"
    return f"<code>{prose(line)}</code>" if re.search("[`|]", line) else f"`{line}`"


def in_html(text: str) -> str:
    """Return text for where Markdown is not read: within HTML."""
    line = _REFERENCE.sub(_BREAK, escape(plain(text), quote=False))
    return line.replace("$", _DOLLAR)


def fenced(language: str, text: str) -> str:
    """Return a block of code, whose fence is longer than any in the text."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
