"""The rules as Markdown: a page for each, and their index."""

import re
from collections.abc import Iterator, Mapping

from trainshed.findings.model import Finding
from trainshed.findings.rule import Check, Rule, all_rules
from trainshed.findings.text import finding_lines

INDEX = "README.md"
# What is code already; braces, also within others; a word with something in angle brackets.
_CODE = re.compile(r"(`[^`]*`)|\{+[^{}]*(?:\{[^{}]*\}[^{}]*)*\}+|[^\s`]*<[^<>\s]+>[^\s`,;]*")
_HEAD = """# Rules

Each finding of trainshed has a rule. An error is what AWS refuses, or what makes jobs fail or hang;
a warning is what may; an info is good to know, and fails nothing. `trainshed rule ID` prints a page
of these. [Findings](../findings.md) says which command finds what.

| rule | severity | what it finds | command |
|---|---|---|---|
"""
_EXAMPLE = """
## The shortest {kind} that has it

```yaml
{example}```

What `trainshed {command}` prints of it:

```text
{found}
```
"""
_ACCEPT = """
## Accept it, or change its severity

{where}:

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
"""

_IN_CLUSTER_FILE = "in the cluster file"
# Where findings are accepted, by the command that finds them.
_ACCEPTED = {
    "check": _IN_CLUSTER_FILE,
    "preflight": _IN_CLUSTER_FILE,
    "lint": "for `trainshed lint` in the file that `--findings` names",
}


def as_markdown(text: str) -> str:
    """Mark as code what Markdown would take for HTML or for attributes, and leave out."""
    return _CODE.sub(lambda found: found[1] or f"`{found[0]}`", text)


def example_findings(rule: Rule, kind: str) -> list[Finding]:
    """Return what a rule finds in its own example of a kind of file.

    Raises:
        TrainshedError: the example cannot be judged.
    """
    judges = {
        known: judge
        for each in all_rules().values()
        for check in each.checks
        for known, judge in check.over.examples.items()
    }
    found = judges[kind](examples(rule)[kind])
    return [finding for finding in found if finding.rule == rule.id]


def examples(rule: Rule) -> dict[str, str]:
    """Return the shortest files that break the rule, by their kind."""
    return {kind: text for check in rule.checks for kind, text in check.examples.items()}


def rule_page(rule: Rule) -> str:
    """Return the page of a rule."""
    return "".join(_sections(rule))


def rule_pages() -> Mapping[str, str]:
    """Return the text of each page, by its file name; the index is `README.md`."""
    rules = all_rules().values()
    rows = (
        f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.title} "
        f"| {', '.join(rule.commands)} |\n"
        for rule in rules
    )
    pages = {f"{rule.id}.md": f"{rule_page(rule)}\n[All rules]({INDEX})\n" for rule in rules}
    return {INDEX: _HEAD + "".join(rows), **pages}


def _sections(rule: Rule) -> Iterator[str]:
    basis = f"; {rule.basis}" if rule.basis else ""
    yield f"# {rule.id}: {rule.title}\n\n**{rule.severity.capitalize()}**{basis}.\n\n"
    yield f"{rule.why}\n"
    if rule.when:
        yield f"\n## When it is checked\n\n{rule.when[0].upper()}{rule.when[1:]}.\n"
    found = {kind: example_findings(rule, kind) for kind in examples(rule)}
    for kind, findings in found.items():
        command = next(check for check in rule.checks if kind in check.examples).over.command
        yield _EXAMPLE.format(
            kind=kind,
            example=examples(rule)[kind],
            command=command.partition(",")[0],
            found="\n".join(line for each in findings for line in finding_lines(each)),
        )
    remedies = (each.remedy for findings in found.values() for each in findings if each.remedy)
    if remedy := rule.remedy or as_markdown(next(remedies, "")):
        yield f"\n## What to do\n\n{remedy[0].upper()}{remedy[1:]}.\n"
    for check in rule.checks:
        yield from _asks(check)
    if rule.is_acceptable:
        other = "info" if rule.severity == "warning" else "warning"
        places = dict.fromkeys(_ACCEPTED[each] for each in rule.commands if each in _ACCEPTED)
        where = ", or ".join(places)
        yield _ACCEPT.format(id=rule.id, other=other, where=f"{where[0].upper()}{where[1:]}")
    if rule.sources:
        yield "\n## Sources\n\n" + "".join(f"- <{source}>\n" for source in rule.sources)


def _asks(check: Check) -> Iterator[str]:
    if check.actions:
        only = " or ".join(check.orchestrators)
        where = f", with orchestrator {only}" if only else ""
        actions = "".join(f"- `{action}`\n" for action in check.actions)
        yield f"\n## IAM actions{where}\n\n{actions}"
    if check.answers:
        answered = ", ".join(check.answers)
        yield (
            "\nWith these, preflight leaves out what `trainshed check` says about it: "
            f"{answered}.\n"
        )
