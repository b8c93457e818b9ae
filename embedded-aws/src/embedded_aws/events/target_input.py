"""What the target of a rule gets in place of the event.

EventBridge API reference, Target: a text, what a path leads to, or a template with variables.
EventBridge user guide, "Input transformation" and its common issues: a variable whose path leads
nowhere does not appear; outside of quotes, a text gets some; within quotes nothing is escaped, and
objects and lists lose their own. So what is sent may be no JSON. Inferred: what a path with a
wildcard leads to is a list; outside of quotes, a variable whose path leads nowhere is an empty
text; and an InputPath that leads nowhere gives null.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_PATH = re.compile(r"\$(\.[\w/*-]+|\[(\d+|\*)\])*")
_STEP = re.compile(r"[\w/*-]+")
_PART = re.compile(r'\\.|"|<(?P<name>[\w.-]+)>')


def target_input(target: Mapping[str, Any], rule: Any, event: Mapping[str, Any]) -> str:
    """Return the text that a target gets.

    Args:
        target: of the rule, as PutTargets has it.
        rule: moto's.
        event: that the rule matches.
    """
    if "Input" in target:
        return str(target["Input"])
    if "InputPath" in target:
        return json.dumps(next(_found(target["InputPath"], event), None))
    if "InputTransformer" not in target:
        return json.dumps(event)
    transformer = target["InputTransformer"]
    paths = transformer.get("InputPathsMap", {})
    values = {
        "aws.events.rule-arn": rule.arn,
        "aws.events.rule-name": rule.name,
        "aws.events.event": {key: value for key, value in event.items() if key != "detail"},
        "aws.events.event.json": event,
        "aws.events.event.ingestion-time": event["time"],
        **{name: next(_found(path, event), "") for name, path in paths.items()},
    }
    return _filled(transformer["InputTemplate"], values)


def _filled(template: str, values: Mapping[str, Any]) -> str:
    within_quotes = False

    def put(part: re.Match[str]) -> str:
        nonlocal within_quotes
        if part[0] == '"':
            within_quotes = not within_quotes
        if part["name"] not in values:
            return part[0]
        value = values[part["name"]]
        if not within_quotes:
            return json.dumps(value)
        return value if isinstance(value, str) else json.dumps(value).replace('"', "")

    return _PART.sub(put, template)


def _found(path: str, event: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what a JSON path leads to, if that is something."""
    if not _PATH.fullmatch(path):
        return
    found: list[Any] = [event]
    for step in _STEP.findall(path):
        found = [inner for each in found for inner in _inner(each, step)]
    if "*" in path:
        yield found
    else:
        yield from found


def _inner(value: Any, step: str) -> Iterable[Any]:
    match value:
        case dict():
            return value.values() if step == "*" else [value[step]] if step in value else []
        case list():
            return value if step == "*" else value[int(step) :][:1] if step.isdecimal() else []
    return []
