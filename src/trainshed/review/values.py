"""Values of templates as short text: `Ref Nodes`, `Data.Arn`, never a wall of JSON."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from trainshed.app.synthesis import SynthesisedStack
from trainshed.documents.sensitive_names import names_a_secret
from trainshed.review.redaction import redacted

HIDDEN = "(hidden)"
"""Stands for a value that is secret by its name."""
_LONGEST = 120
_SUBSTITUTED = re.compile(r"\$\{([\w.:]+)\}")
# Of an asset, an image or a checksum: its beginning tells two apart.
_HASH = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{56}\b")
_FUNCTION = re.compile(r'\{"(?:Ref|Fn::)')
# What the engine appends to the logical id of a replaced resource.
_REPLACED = re.compile(r" ?\(replaced\)$")
# Attributes that stand for the resource itself.
_IDENTITY = re.compile(r"\.(?:Arn|GroupId)(?= of |$)")
# In a name, as a redacted account is shown.
_IN_NAME = re.compile(r"(?<=[\w./-])\$\{AWS::(Region|AccountId)\}")
_SHOWN = {"Region": "REGION", "AccountId": "ACCOUNT"}
_PSEUDO = {"AWS::AccountId": "this account", "AWS::StackId": "this stack"}
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """How the parts of a stack are called.

    Attributes:
        resources: names by logical id.
        exports: what other stacks export, as text, by the name of the export.
        region: where the stack is deployed.
    """

    resources: Mapping[str, str]
    exports: Mapping[str, str]
    region: str

    def of(self, reference: str) -> str:
        """Return the name of a resource and its attribute, from `LogicalId.Attribute`."""
        logical_id, dot, attribute = reference.partition(".")
        plain = _REPLACED.sub("", logical_id)
        replaced = " (replaced)" if plain != logical_id else ""
        return f"{self.resources.get(plain, plain)}{dot}{attribute}{replaced}"


def names(
    stack: str, before: Mapping[str, SynthesisedStack], after: Mapping[str, SynthesisedStack]
) -> Names:
    """Return the names in a stack, of either side."""
    exports = {}
    for side in (before, after):
        for other, synthesised in side.items():
            own = Names(resources=_resources(synthesised), exports={}, region=synthesised.region)
            for output in synthesised.template.get("Outputs", {}).values():
                match output.get("Export", {}).get("Name"):
                    case str(export):
                        exports[export] = f"{text(output['Value'], own)} of {other}"
    both = [side[stack] for side in (before, after) if stack in side]
    resources = {key: name for side in both for key, name in _resources(side).items()}
    return Names(resources=resources, exports=exports, region=both[-1].region)


def _resources(stack: SynthesisedStack) -> dict[str, str]:
    return {key: stack.name(key) for key in stack.template.get("Resources", {})}


def short(value: Any, called: Names) -> str:
    """Return a value as text of one line, redacted, and cut where it is long."""
    line = " ".join(redacted(text(value, called)).split())
    said = _HASH.sub(r"\1...", line)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 3]}..."


def text(value: Any, called: Names) -> str:
    """Return a value as text, of as many lines as it has."""
    match value:
        case {"Ref": str(name)}:
            return f"Ref {called.of(name)}"
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return called.of(f"{name}.{attribute}")
        case {"Fn::GetAtt": str(reference)}:
            return called.of(reference)
        case {"Fn::ImportValue": str(export)}:
            return called.exports.get(export, f"export {export}")
        case {"Fn::Join": [str(separator), [*parts]]}:
            return separator.join(_part(part, called) for part in parts)
        case {"Fn::Sub": str(template)}:
            return _substituted(template, called)
        case {"Fn::Sub": [str(template), {**values}]}:
            given = {str(name): _part(part, called) for name, part in values.items()}
            return _substituted(template, called, given)
        case {"Fn::Base64": inner}:
            return text(inner, called)
        case {"Fn::If": [str(condition), positive, negative]}:
            return f"{text(positive, called)} if {condition}, else {text(negative, called)}"
        case {**only} if is_function(only):
            [(function, arguments)] = only.items()
            return f"{str(function).removeprefix('Fn::')} {text(arguments, called)}"
        case {**entries}:
            inside = (f"{name}: {_entry(name, entries, called)}" for name in entries)
            return f"{{{', '.join(inside)}}}"
        case [*elements]:
            return f"[{', '.join(text(element, called) for element in elements)}]"
        case str():
            return value
    return json.dumps(value)


def _entry(name: Any, entries: Mapping[Any, Any], called: Names) -> str:
    """Return an entry of an object as text, hidden if it is a secret by its name, or its key's."""
    named = [entries.get(key) for key in ("Name", "Key")] if name == "Value" else [name]
    if any(names_a_secret(str(each)) for each in named) and not is_reference(entries[name]):
        return HIDDEN
    return text(entries[name], called)


def is_function(value: Any) -> bool:
    """Return whether a value is one that CloudFormation computes."""
    match value:
        case {**entries} if len(entries) == 1:
            [name] = map(str, entries)
            return name in ("Ref", "Condition") or name.startswith("Fn::")
    return False


def is_reference(value: Any) -> bool:
    """Return whether a value names another: no secret itself, whatever it is called."""
    return is_function(value) and bool({"Ref", "Fn::GetAtt", "Fn::ImportValue"} & value.keys())


def _part(value: Any, called: Names) -> str:
    """Return a part of a joined text: what is computed stands in `${}`."""
    said = text(value, called)
    return f"${{{said.removeprefix('Ref ')}}}" if is_function(value) else said


def _substituted(
    template: str, called: Names, given: Mapping[str, str] = MappingProxyType({})
) -> str:
    return _SUBSTITUTED.sub(
        lambda found: given.get(found[1]) or f"${{{called.of(found[1])}}}", template
    )


def rendered(said: str, called: Names) -> str:
    """Return text of the engine with names in it: it writes `${LogicalId.Arn}`, or JSON.

    ARNs lose their beginning, unless that names an account or a region.
    """
    said = _without_functions(said, called).replace("${AWS::Partition}", "aws")
    named = _IN_NAME.sub(lambda found: _SHOWN[found[1]], said)
    own = re.sub(r"\$\{AWS::(Region|AccountId)\}", "", named)
    return _SUBSTITUTED.sub(partial(_bare, called), _short_arn(own, called) or named)


def _without_functions(said: str, called: Names) -> str:
    found = _FUNCTION.search(said)
    if not found:
        return said
    try:
        value, end = _DECODER.raw_decode(said, found.start())
    except ValueError:  # text that only looks like it
        return said
    part = _IDENTITY.sub("", text(value, called).removeprefix("Ref "))
    return said[: found.start()] + part + _without_functions(said[end:], called)


def _bare(called: Names, found: re.Match[str]) -> str:
    return _PSEUDO.get(found[1]) or _IDENTITY.sub("", called.of(found[1]))


def _short_arn(arn: str, called: Names) -> str | None:
    """Return what an ARN of this region and account names; None for another."""
    match arn.split(":", 5):
        case ["arn", _, service, region, "" | "aws", resource] if region in ("", called.region):
            return resource if service == "s3" else f"{service}:{resource}"
    return None
