"""`trainshed rule`: what a rule finds, why, and what to do."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, print_records, say
from trainshed.errors import UnknownName
from trainshed.findings import Rule
from trainshed.findings.pages import example_findings, examples, rule_page
from trainshed.findings.rule import all_rules

app = typer.Typer(add_completion=False)


@app.command(name="rule")
def show_rule(
    rule_id: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="As findings show it, for instance TS-NET-001; without it, all are listed.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Explain a rule: why it exists, the shortest file that breaks it, what to do, the sources.

    The text is Markdown.
    """
    rules = all_rules()
    if rule_id is None:
        print_records(
            [
                {"rule": rule.id, "severity": rule.severity, "title": rule.title}
                for rule in rules.values()
            ],
            columns=("rule", "severity", "title"),
            headings={"title": "what it finds"},
            as_json=as_json,
        )
        return
    if rule_id not in rules:
        raise UnknownName("rule", rule_id, rules, listed_by="trainshed rule")
    if as_json:
        print_json(_record(rules[rule_id]))
    else:
        say(*rule_page(rules[rule_id]).splitlines())


def _record(rule: Rule) -> dict[str, Any]:
    said = asdict(rule)
    # One of `commands`.
    del said["command"]
    return {
        **said,
        "commands": rule.commands,
        "orchestrators": sorted({name for each in rule.checks for name in each.orchestrators}),
        "actions": [action for each in rule.checks for action in each.actions],
        "answers": [answer for each in rule.checks for answer in each.answers],
        "examples": [
            {"kind": kind, "text": text, "findings": [*map(asdict, example_findings(rule, kind))]}
            for kind, text in examples(rule).items()
        ],
    }
