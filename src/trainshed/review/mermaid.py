"""A picture of a cluster as Mermaid, which GitHub and GitLab draw in Markdown."""

import re
from collections.abc import Iterator, Sequence

from trainshed.review.model import Mark, Part, Topology

# Lines only: fills and texts stay those of the reader's theme, light or dark, and these colours can
# be told from both.
_CLASSES = {
    Mark.ADDED: "stroke:#1a9c3f,stroke-width:3px",
    Mark.CHANGED: "stroke:#bf8700,stroke-width:3px",
    Mark.MAY_BE_REPLACED: "stroke:#e0562b,stroke-width:3px,stroke-dasharray:8 4",
    Mark.REPLACED: "stroke:#e5374a,stroke-width:4px,stroke-dasharray:8 4",
    Mark.REMOVED: "stroke:#e5374a,stroke-width:3px,stroke-dasharray:2 4",
}
_STORES = ("storage", "efs", "openzfs", "s3", "bucket", "repository", "registry")
# What cannot begin an entity, a tag, a list or emphasis of Markdown, or a directive of Mermaid.
_PLAIN = re.compile(r"[^A-Za-z0-9 ,./()+=-]")


def mermaid(topology: Topology) -> str:
    """Return a picture as a Mermaid flowchart, without a code fence.

    What is marked says so in a word, and not by a colour alone.
    """
    lines = ["flowchart TB", f"  accTitle: {topology.title}"]
    for part in topology.parts:
        lines += (f"  {line}" for line in _statements(part))
    for link in topology.links:
        lines.append(f'  {link.start} -->|"{_escaped(link.text)}"| {link.end}')
    for mark, style in _CLASSES.items():
        if marked := [part.id for part in topology.all_parts if part.mark is mark]:
            name = mark.replace(" ", "-")
            lines += [f"  classDef {name} {style}", f"  class {','.join(marked)} {name}"]
    return "\n".join(lines) + "\n"


def _statements(part: Part) -> Iterator[str]:
    facts = part.lines[1:]
    if not part.parts:
        opening, closing = ("[(", ")]") if part.kind in _STORES else ("[", "]")
        yield f'{part.id}{opening}"{_label((part.title, *facts))}"{closing}'
        return
    yield f'subgraph {part.id}["{_label((part.title,))}"]'
    yield "  direction TB"
    if facts:
        # A title of several lines would lie over what is inside.
        yield f'  {part.id}-facts["{_label(facts)}"]'
    for inside in part.parts:
        yield from (f"  {line}" for line in _statements(inside))
    yield "end"


def _label(lines: Sequence[str]) -> str:
    return "<br/>".join(map(_escaped, lines))


def _escaped(text: str) -> str:
    """Write all that Mermaid, Markdown or HTML could take for their own as Mermaid's entities."""
    return _PLAIN.sub(lambda found: f"#{ord(found[0])};", text)
