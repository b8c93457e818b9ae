"""The rules as Markdown: a page for each, and their index, as docs/rules holds them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from trainshed.checks.judging import judge
from trainshed.checks.rule import Rule, all_rules
from trainshed.checks.text import finding_text
from trainshed.findings import Finding
from trainshed.plan import make_plan
from trainshed.spec import SpecError, read_spec

INDEX = "README.md"
_FOLDER = Path("docs/rules")
_FILE = "example.yaml"
_HEAD = """# Rules of `trainshed check`

What may be wrong with a cluster that can be planned, found without an account. An error is what
AWS refuses, or what makes jobs fail or hang; a warning is what may; an info is good to know, and
fails no check. Each rule has a page: why, the shortest cluster file that has it, what to do, and
where it is documented. What other commands find is listed among the [findings](../findings.md).
Made from the rules by `make schema`.

| rule | severity | what it finds |
|---|---|---|
"""
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


def rule_pages() -> dict[str, str]:
    """Return the text of each page, by its file name; the index is `README.md`."""
    pages = {f"{rule.id}.md": _page(rule) for rule in all_rules().values()}
    rows = (
        f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.title} |\n"
        for rule in all_rules().values()
    )
    return {INDEX: _HEAD + "".join(rows), **pages}


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


def _page(rule: Rule) -> str:
    found = example_findings(rule)
    remedy = found[0].remedy
    return _PAGE.format(
        id=rule.id,
        title=rule.title,
        severity=rule.severity.capitalize(),
        basis=rule.basis,
        why=rule.why,
        example=rule.example,
        found="\n".join(map(finding_text, found)),
        remedy=remedy[0].upper() + remedy[1:],
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


if __name__ == "__main__":
    write_pages(rule_pages(), _FOLDER)
