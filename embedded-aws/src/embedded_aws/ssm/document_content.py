"""The content of a document of type Command: its parameters and its steps.

Systems Manager user guide, "SSM document syntax", "Data elements and parameters", "Command document
plugin reference": schema versions 1.2, 2.0 and 2.2; types of parameters; `{{ name }}` stands for a
parameter; a step's time-out is 3600 seconds unless it says otherwise. amazon-ssm-agent, pluginutil:
a time-out that is not within 5 and 172800 seconds is 3600. Documented: cdk-preflight's rule
pf-ssm-document-content: names of steps. From memory: the words of the other refusals. Inferred:
aliases in YAML are refused. Of the plugins only aws:runShellScript runs here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from embedded_aws.actions import Refusal
from embedded_aws.plain_yaml import PlainLoader

SHELL = "aws:runShellScript"
_TYPES = ("Boolean", "Integer", "MapList", "String", "StringList", "StringMap")
_VERSIONS = ("1.2", "2.0", "2.2")
_STEP_NAME = re.compile(r"[A-Za-z0-9_]+")
_REFERENCE = re.compile(r"\{\{\s*([\w-]+(?::[\w./-]+)?)\s*\}\}")
_SECONDS = 3600
_SHORTEST, _LONGEST = 5, 172_800
_INPUTS = frozenset({"id", "runCommand", "timeoutSeconds", "workingDirectory"})
_PLATFORM = {"StringEquals": ["platformType", "Linux"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step as it runs.

    Attributes:
        name: of the step; of the plugin in a document of schema 1.2.
        lines: of its script.
        seconds: that it may take.
        folder: its working directory; None for the default one.
    """

    name: str
    lines: Sequence[str]
    seconds: int
    folder: str | None


class DocumentContent:
    """The content of a document of type Command.

    Args:
        text: as the document has it.
        form: `JSON` or `YAML`.

    Raises:
        Refusal: there can be no such document.
    """

    def __init__(self, text: str, form: str) -> None:
        content = _parsed(text, form)
        self.version = str(content.get("schemaVersion", ""))
        if self.version not in _VERSIONS:
            raise Refusal(
                "InvalidDocumentSchemaVersion",
                "The version of the document schema isn't supported.",
            )
        self.parameters: Mapping[str, Any] = content.get("parameters") or {}
        self._steps = _steps(content, self.version)
        _check_steps(self._steps)
        for name, parameter in self.parameters.items():
            _check_parameter(name, parameter)
        used = set(_references(self._steps))
        if unknown := sorted(name for name in used - set(self.parameters) if ":" not in name):
            raise _invalid(f"Parameter(s) in use but not defined: {', '.join(unknown)}.")

    def values(self, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the values of the parameters of a command.

        Raises:
            Refusal: one is missing, unknown or not allowed.
        """
        if unknown := sorted(set(given) - set(self.parameters)):
            raise _refused(f"The document has no parameters called {', '.join(unknown)}.")
        values = {}
        for name, parameter in self.parameters.items():
            if name in given:
                values[name] = _value(name, parameter, given[name])
            elif "default" in parameter:
                values[name] = parameter["default"]
            else:
                raise _refused(f"The parameter {name} has no value, and no default.")
        return values

    def steps(self, values: Mapping[str, Any]) -> list[Step]:
        """Return the steps with the values of the parameters.

        Raises:
            NotImplementedError: a step cannot be run here.
        """
        return [_step(step, values) for step in self._steps]


def _parsed(text: str, form: str) -> dict[str, Any]:
    try:
        content = json.loads(text) if form == "JSON" else yaml.load(text, PlainLoader)
    except (RecursionError, ValueError, yaml.YAMLError) as error:
        raise _invalid(f"{form} not well-formed. {error}") from error
    if not isinstance(content, dict):
        raise _invalid(f"{form} not well-formed.")
    return content


def _steps(content: Mapping[str, Any], version: str) -> list[dict[str, Any]]:
    """Return the steps of any schema as those of 2.2."""
    if version != "1.2":
        return list(content.get("mainSteps") or [])
    return [
        {"action": plugin, "name": plugin, "inputs": inputs}
        for plugin, configured in (content.get("runtimeConfig") or {}).items()
        for inputs in configured.get("properties", [])
    ]


def _check_steps(steps: Sequence[Any]) -> None:
    if not steps:
        raise _invalid("The document has no steps.")
    for step in steps:
        if not (isinstance(step, dict) and step.get("action") and step.get("name")):
            raise _invalid("Each step has an action and a name.")
        # In schema 1.2 a step has the name of its plugin.
        if step["name"] != step["action"] and not _STEP_NAME.fullmatch(str(step["name"])):
            raise _invalid(f"StepName: {step['name']} is invalid.")
        if not isinstance(step.get("inputs"), dict):
            raise _invalid(f"The step {step['name']} has no inputs.")
        if step["action"] == SHELL and "runCommand" not in step["inputs"]:
            raise _invalid(f"The step {step['name']} has no runCommand.")
    names = [step["name"] for step in steps]
    if len(set(names)) < len(names):
        raise _invalid("The names of the steps are not unique.")


def _check_parameter(name: str, parameter: Any) -> None:
    if not isinstance(parameter, dict) or parameter.get("type") not in _TYPES:
        raise _invalid(f"The type of the parameter {name} must be one of {', '.join(_TYPES)}.")
    try:
        re.compile(parameter.get("allowedPattern", ""))
    except re.error as error:
        raise _invalid(f"The allowedPattern of the parameter {name}: {error}.") from error
    if "default" in parameter and (problem := _problem(parameter, parameter["default"])):
        raise _invalid(f"The default of the parameter {name} {problem}.")


def _value(name: str, parameter: Mapping[str, Any], given: Sequence[str]) -> Any:
    """Return the value of a parameter, which a command gives as a list of texts."""
    if any(":" in reference for reference in _references(given)):
        raise NotImplementedError(f"a value of the parameter {name} that names another parameter")
    value: Any = list(given)
    if parameter["type"] != "StringList":
        if len(given) != 1:
            raise _refused(f"The parameter {name} takes one value, not {len(given)}.")
        value = given[0]
        if parameter["type"] != "String":
            try:
                value = json.loads(value)
            except ValueError as error:
                text = f"The value of {name} is no {parameter['type']}: {value}."
                raise _refused(text) from error
    if problem := _problem(parameter, value):
        raise _refused(f"The value of the parameter {name} {problem}.")
    return value


def _problem(parameter: Mapping[str, Any], value: Any) -> str | None:
    """Return what is wrong with the value of a parameter, or None."""
    kinds = {"Boolean": bool, "Integer": int, "String": str, "StringMap": dict}
    if not isinstance(value, kinds.get(parameter["type"], list)):
        return f"is no {parameter['type']}"
    texts = [text for text in (value if isinstance(value, list) else [value]) if text != ""]
    allowed = parameter.get("allowedValues")
    for text in texts:
        if allowed is not None and text not in allowed:
            return f"is {text}, which is none of {', '.join(map(str, allowed))}"
        pattern = parameter.get("allowedPattern")
        if pattern and not re.fullmatch(f"(?:{pattern})", str(text)):
            return f"does not match the allowed pattern {pattern}"
    if isinstance(value, list | str):
        what = "Items" if isinstance(value, list) else "Chars"
        if len(value) < int(parameter.get(f"min{what}", 0)):
            return f"has fewer than {parameter[f'min{what}']} {what.lower()}"
        if len(value) > int(parameter.get(f"max{what}", len(value))):
            return f"has more than {parameter[f'max{what}']} {what.lower()}"
    return None


def _step(step: Mapping[str, Any], values: Mapping[str, Any]) -> Step:
    name, inputs = step["name"], step["inputs"]
    if step["action"] != SHELL:
        raise NotImplementedError(f"the plugin {step['action']} of step {name}; it runs {SHELL}")
    if step.get("precondition", _PLATFORM) != _PLATFORM:
        raise NotImplementedError(f"the precondition of step {name}")
    others = {*step, *inputs} - {"action", "inputs", "name", "precondition", *_INPUTS}
    if others or any(":" in reference for reference in _references(step)):
        what = ", ".join(sorted(others)) or "references to Parameter Store"
        raise NotImplementedError(f"{what} in step {name}")
    filled = {key: _filled(part, values) for key, part in inputs.items()}
    lines = filled["runCommand"]
    try:
        seconds = int(filled.get("timeoutSeconds", _SECONDS))
    except ValueError:
        seconds = 0
    return Step(
        name=name,
        lines=[str(line) for line in (lines if isinstance(lines, list) else [lines])],
        seconds=seconds if _SHORTEST <= seconds <= _LONGEST else _SECONDS,
        folder=filled.get("workingDirectory") or None,
    )


def _filled(part: Any, values: Mapping[str, Any]) -> Any:
    """Return a part of a step with values in place of the parameters' names."""
    if isinstance(part, list):
        return [_filled(each, values) for each in part]
    if not isinstance(part, str):
        return part
    if whole := _REFERENCE.fullmatch(part.strip()):
        return values[whole[1]]
    return _REFERENCE.sub(lambda found: _text(values[found[1]]), part)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _references(part: Any) -> Iterator[str]:
    """Yield the names between braces anywhere within."""
    if isinstance(part, Mapping):
        part = list(part.values())
    if isinstance(part, str):
        yield from _REFERENCE.findall(part)
    elif isinstance(part, Sequence):
        for each in part:
            yield from _references(each)


def _invalid(message: str) -> Refusal:
    return Refusal("InvalidDocumentContent", message)


def _refused(message: str) -> Refusal:
    return Refusal("InvalidParameters", message)
