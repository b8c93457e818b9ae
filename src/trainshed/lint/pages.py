"""The rules of `check` and `lint` as Markdown: a page for each, and their index, in docs/rules."""

from pathlib import Path

from trainshed.checks import all_rules
from trainshed.checks.pages import INDEX, as_markdown, rule_page, write_pages
from trainshed.checks.rule import RuleFacts
from trainshed.checks.text import finding_lines
from trainshed.findings import Finding
from trainshed.lint.judging import lint_documents
from trainshed.lint.model import FileKind
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import parse_content
from trainshed.lint.rule import LintRule, lint_rules

_FOLDER = Path("docs/rules")
_FILES = {
    FileKind.CLOUDFORMATION: "template.yaml",
    FileKind.EKSCTL: "cluster.yaml",
    FileKind.PARALLELCLUSTER: "config.yaml",
}
_HEAD = """# Rules of `trainshed check` and `trainshed lint`

What may be wrong with a cluster that can be planned (`check`), and with a CloudFormation template,
an eksctl cluster file or a ParallelCluster configuration (`lint`), found without an account. An
error is what AWS refuses, or what makes jobs fail or hang; a warning is what may; an info is good
to know, and fails no check. Each rule has a page: why, the shortest file that has it, what to do,
and where it is documented. What other commands find is listed among the
[findings](../findings.md). Made from the rules by `make schema`.

| rule | severity | what it finds | command |
|---|---|---|---|
"""
_PAGE = """# {id}: {title}

**{severity}**; {basis}. [All rules](README.md)

{why}
{examples}{remedy}
## Sources

{sources}
"""
_EXAMPLE = """
## {intro}

```yaml
{example}```

What `trainshed lint` prints of it:

```text
{found}
```
"""


def rule_pages() -> dict[str, str]:
    """Return the text of each page, by its file name; the index is `README.md`."""
    pages = {f"{rule.id}.md": rule_page(rule) for rule in all_rules().values()}
    for name, rule in lint_rules().items():
        shared = pages.get(f"{name}.md")
        pages[f"{name}.md"] = shared + _examples(rule) if shared else _page(rule)
    facts: dict[str, RuleFacts] = {name: rule.facts for name, rule in lint_rules().items()}
    rows = (_row(rule) for _, rule in sorted((facts | all_rules()).items()))
    return {INDEX: _HEAD + "".join(rows), **dict(sorted(pages.items()))}


def _row(rule: RuleFacts) -> str:
    commands = [
        command
        for command, rules in (("check", all_rules()), ("lint", lint_rules()))
        if rule.id in rules
    ]
    return (
        f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.title} | {', '.join(commands)} |\n"
    )


def example_findings(rule: LintRule, kind: FileKind) -> list[Finding]:
    """Return what a rule finds in its own example of a kind."""
    content = parse_content(rule.examples[kind], _FILES[kind])
    found = lint_documents(read_documents(content))
    return [finding for finding in found if finding.rule == rule.facts.id]


def _page(rule: LintRule) -> str:
    facts = rule.facts
    remedies = (
        finding.remedy
        for kind in rule.examples
        for finding in example_findings(rule, kind)
        if finding.remedy
    )
    remedy = as_markdown(next(remedies, ""))
    return _PAGE.format(
        id=facts.id,
        title=facts.title,
        severity=facts.severity.capitalize(),
        basis=facts.basis,
        why=facts.why,
        examples=_examples(rule),
        remedy=f"\n## What to do\n\n{remedy[0].upper()}{remedy[1:]}.\n" if remedy else "",
        sources="\n".join(f"- <{source}>" for source in facts.sources),
    )


def _examples(rule: LintRule) -> str:
    return "".join(
        _EXAMPLE.format(
            intro=f"The shortest {kind} that has it",
            example=example,
            found="\n".join(
                line for each in example_findings(rule, kind) for line in finding_lines(each)
            ),
        )
        for kind, example in rule.examples.items()
    )


if __name__ == "__main__":
    write_pages(rule_pages(), _FOLDER)
