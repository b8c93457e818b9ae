"""The rules as Markdown: a page for each."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from trainshed.checks.judging import judge
from trainshed.checks.rule import Rule
from trainshed.checks.text import finding_lines
from trainshed.findings import Finding
from trainshed.plan import make_plan
from trainshed.spec import SpecError, read_spec

INDEX = "README.md"
# What is code already; braces, also within others; a word with something in angle brackets.
_CODE = re.compile(r"(`[^`]*`)|\{+[^{}]*(?:\{[^{}]*\}[^{}]*)*\}+|[^\s`]*<[^<>\s]+>[^\s`,;]*")
_FILE = "example.yaml"
_PAGE = """# {id}: {title}

**{severity}**; {basis}. [All rules](README.md)

{why}

## The shortest cluster file that has it

```yaml
{example}```

What `trainshed check` prints of it:

```text
{found}
```

## What to do

{remedy}.

## Accept it, or change its severity

In the cluster file:

```yaml
findings:
  accept: {{{id}: why it is fine for this cluster}}
```

It is still shown, with the reason, and fails no check. Or give it another severity, `error`,
`warning` or `info`:

```yaml
findings:
  severity: {{{id}: {other}}}
```

## Sources

{sources}
"""


def as_markdown(text: str) -> str:
    """Mark as code what Markdown would take for HTML or for attributes, and leave out."""
    return _CODE.sub(lambda found: found[1] or f"`{found[0]}`", text)


def example_findings(rule: Rule) -> list[Finding]:
    """Return what a rule finds in its own example.

    Raises:
        SpecError: the example cannot be planned.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, _FILE)
        path.write_text(rule.example, encoding="utf-8")
        read = read_spec(path)
    if read.problems or not read.spec:
        raise SpecError(read.problems)
    plan = make_plan(read.spec.placed(replace(read.spec.where, file=_FILE)))
    return [finding for finding in judge(plan) if finding.rule == rule.id]


def rule_page(rule: Rule) -> str:
    """Return the page of a rule."""
    found = example_findings(rule)
    remedy = found[0].remedy
    return _PAGE.format(
        id=rule.id,
        title=rule.title,
        severity=rule.severity.capitalize(),
        basis=rule.basis,
        why=rule.why,
        example=rule.example,
        found="\n".join(line for each in found for line in finding_lines(each)),
        remedy=as_markdown(remedy[0].upper() + remedy[1:]),
        other="info" if rule.severity == "warning" else "warning",
        sources="\n".join(f"- <{source}>" for source in rule.sources),
    )


def write_pages(pages: Mapping[str, str], folder: Path) -> None:
    """Write pages by their file names, and remove those of rules that are gone."""
    folder.mkdir(exist_ok=True)
    for stale in {path.name for path in folder.glob("*.md")} - pages.keys():
        (folder / stale).unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
