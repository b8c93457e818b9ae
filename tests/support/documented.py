"""The commands that the documents show."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    {
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "embedded-aws").glob("*.md"),
        *(ROOT / "embedded-aws/docs").rglob("*.md"),
    }
)
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
_SHELL = ("console", "bash", "sh", "shell")
_PROGRAMS = "aws|cdk|embedded-aws|git|make|npm|npx|packer|pip|pytest|python3?|sudo|trainshed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A command of a `console` block.

    Attributes:
        page: path of the page, from the root.
        command: without its comment, on as many lines as it has.
        output: what the block shows below it.
    """

    page: str
    command: str
    output: str


def examples() -> list[Example]:
    """Return every command of a block, in the order of the pages."""
    return [
        example
        for page in PAGES
        for kind, text in _BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind in _SHELL
        for example in _commands(str(page.relative_to(ROOT)), text)
    ]


def documented(command: str) -> list[str]:
    """Return the arguments of a command, for a test that runs it as the documents show it."""
    assert command in map(one_line, (example.command for example in examples()))
    return shlex.split(command)[1:]


def one_line(command: str) -> str:
    """Return a command on one line, with single spaces."""
    return " ".join(command.replace("\\\n", " ").split())


def unmarked() -> list[str]:
    """Return lines that look like commands and stand in a block of another kind."""
    return [
        f"{page.relative_to(ROOT)}: {line}"
        for page in PAGES
        for kind, text in _BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind not in _SHELL
        for line in text.splitlines()
        if re.match(rf"\$ |({_PROGRAMS}) [a-z.-]+", line) and "──" not in line
    ]


def left_out(text: str) -> list[str]:
    """Return what the site would leave out of a page.

    Python-Markdown takes braces for attributes, and what it knows not in angle brackets for HTML.
    """
    prose = re.sub(r"`[^`]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    return re.findall(r"\{[^}\n]*\}|<(?!br|img|/?details|/?summary|!--|https?:)[^>\n]+>", prose)


def inline() -> list[tuple[str, str]]:
    """Return every span of code in running text, with its page."""
    return [
        (str(page.relative_to(ROOT)), span)
        for page in PAGES
        for span in re.findall(r"`([^`\n]+)`", _BLOCK.sub("", page.read_text(encoding="utf-8")))
    ]


def _commands(page: str, text: str) -> list[Example]:
    found = []
    lines = text.splitlines()
    while lines:
        line = lines.pop(0)
        assert line.startswith("$ "), f"{page}: a console block begins with '$ ', not {line!r}"
        command = line[2:]
        while not _complete(command):
            command += "\n" + lines.pop(0)
        output = []
        while lines and not lines[0].startswith("$ "):
            output.append(lines.pop(0))
        plain = re.sub(r"\s+#.*$", "", command)
        found.append(Example(page=page, command=plain, output="\n".join(output)))
    return found


def _complete(command: str) -> bool:
    if command.endswith("\\"):
        return False
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return False
    return True
