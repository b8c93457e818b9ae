"""The rules over an account as Markdown: a page for each, and their index."""

from pathlib import Path

from trainshed.checks.pages import INDEX, write_pages
from trainshed.preflight.rule import AccountRule, account_rules

_FOLDER = Path("docs/account-rules")
_HEAD = """# Rules of `trainshed preflight`

What only the account knows of a cluster. An error is what AWS refuses, or what makes jobs fail or
wait for ever; a warning is what may; an info is good to know, and fails nothing. Each rule has a
page. [Preflight](../preflight.md) says how they are asked. Made from the rules by `make schema`.

| rule | severity | what it finds |
|---|---|---|
"""
_PAGE = """# {id}: {title}

**{severity}**; {basis}. [All rules](README.md)

{why}

## When it is checked

{when}.{answers}

## IAM actions

{actions}

## Accept it, or change its severity

In the cluster file:

```yaml
findings:
  accept: {{{id}: why it is fine for this cluster}}
```

It is still shown, with the reason, and fails nothing. Or give it another severity, `error`,
`warning` or `info`, under `severity`.

## Sources

{sources}
"""


def account_rule_pages() -> dict[str, str]:
    """Return the text of each page, by its file name; the index is `README.md`."""
    rules = account_rules().values()
    rows = (f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.title} |\n" for rule in rules)
    return {INDEX: _HEAD + "".join(rows), **{f"{rule.id}.md": _page(rule) for rule in rules}}


def _page(rule: AccountRule) -> str:
    actions = "\n".join(f"- `{action}`" for action in rule.actions)
    return _PAGE.format(
        id=rule.id,
        title=rule.title,
        severity=rule.severity.capitalize(),
        basis=rule.basis,
        why=rule.why,
        when=f"{rule.when[:1].upper()}{rule.when[1:]}",
        answers=_answers(rule),
        actions=actions or "None of its own.",
        sources="\n".join(f"- <{source}>" for source in rule.sources),
    )


def _answers(rule: AccountRule) -> str:
    if not rule.answers:
        return ""
    links = ", ".join(f"[{each}](../rules/{each}.md)" for each in rule.answers)
    return f" Then preflight leaves out what `trainshed check` says of it: {links}."


if __name__ == "__main__":
    write_pages(account_rule_pages(), _FOLDER)
