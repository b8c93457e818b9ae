"""Resolve CloudFormation's intrinsic functions as far as the template alone allows."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainshed.documents.messages import shown
from trainshed.documents.problems import Path
from trainshed.documents.yaml import Value
from trainshed.lint import scalars
from trainshed.lint.model import Given, Known, Unknown
from trainshed.lint.parameters import reference_to_parameter
from trainshed.lint.symbol import Symbol

_VARIABLE = re.compile(r"\$\{([^!{}][^{}]*)\}")
_DYNAMIC = re.compile(r"\{\{resolve:")
_NO_VALUE = "AWS::NoValue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What references are resolved by.

    Attributes:
        sections: the template's `Parameters`, `Mappings`, `Conditions` and `Resources`.
        assumed: what some parameters are in this case, by name.
        conditions: whether each condition holds in this case.
    """

    sections: Mapping[str, Mapping[str, Value]]
    assumed: Mapping[str, Given[Any]]
    conditions: Mapping[str, bool | Unknown]

    def resolve(self, value: Value, path: Path) -> Given[Value]:
        """Resolve functions until a plain value is found; what is inside it stays as it is.

        Returns:
            The value, with the path at which it stands; Unknown when the template does not decide
            it; None for no value.
        """
        if isinstance(value, dict) and len(value) == 1:
            ((name, argument),) = value.items()
            if function := _FUNCTIONS.get(name):
                given = function(self, argument, (*path, name))
                # The function's own argument is of no interest to people.
                return replace(given, path=path) if given and given.path == (*path, name) else given
            if name.startswith("Fn::"):
                return Unknown(why=f"{name} is not resolved here", path=path)
        if isinstance(value, str) and _DYNAMIC.search(value):
            return Known(value=Symbol(value), path=path)
        return None if value is None else Known(value=value, path=path)

    def text(self, value: Value, path: Path) -> Given[str]:
        """Resolve to a text, which may be a symbol."""
        given = self.resolve(value, path)
        if not isinstance(given, Known):
            return given
        if isinstance(given.value, Symbol):
            return Known(value=given.value, path=given.path, defaults=given.defaults)
        found = scalars.text(given.value, given.path)
        return _with_defaults(found, given.defaults)

    def texts(self, value: Value, path: Path) -> Given[tuple[str, ...]]:
        """Resolve to a list of texts, without those that are no value."""
        given = self.resolve(value, path)
        if not isinstance(given, Known):
            return given
        if not isinstance(given.value, list):
            return Unknown(why=f"{shown(given.value)} is not a list", path=given.path)
        entries, defaults = [], given.defaults
        for index, each in enumerate(given.value):
            entry = self.text(each, (*given.path, index))
            if isinstance(entry, Unknown):
                return entry
            if entry:
                entries.append(entry.value)
                defaults += entry.defaults
        return Known(value=tuple(entries), path=given.path, defaults=defaults)


def _with_defaults(given: Given[str], defaults: tuple[str, ...]) -> Given[str]:
    if isinstance(given, Known):
        return Known(value=given.value, path=given.path, defaults=defaults + given.defaults)
    return given


def _malformed(name: str, path: Path) -> Unknown:
    return Unknown(why=f"{name} does not have the form that CloudFormation documents", path=path)


def _ref(scope: Scope, name: Value, path: Path) -> Given[Value]:
    if not isinstance(name, str):
        return _malformed("Ref", path)
    if name == _NO_VALUE:
        return None
    if name in scope.assumed:
        given = scope.assumed[name]
        return replace(given, path=path) if given else None
    if name in scope.sections["Parameters"]:
        return reference_to_parameter(name, scope.sections["Parameters"][name], path)
    if name.startswith("AWS::"):
        return Known(value=Symbol(f"${{{name}}}"), path=path)
    if name in scope.sections["Resources"]:
        return Known(value=Symbol(f"${{{name}}}", name), path=path)
    return Unknown(why=f"{name}, which the template does not have", path=path)


def _get_att(scope: Scope, argument: Value, path: Path) -> Given[Value]:
    parts = argument.split(".", 1) if isinstance(argument, str) else argument
    match parts:
        case [str(name), str(attribute)] if name in scope.sections["Resources"]:
            return Known(value=Symbol(f"${{{name}.{attribute}}}", name), path=path)
        case [str(name), str()]:
            return Unknown(why=f"{name}, which the template does not have", path=path)
        case [str(name), _]:
            return Unknown(why=f"an attribute of {name}", path=path)
    return _malformed("Fn::GetAtt", path)


def _if(scope: Scope, argument: Value, path: Path) -> Given[Value]:
    match argument:
        case [str(condition), yes, no]:
            holds = scope.conditions.get(condition)
            if isinstance(holds, bool):
                return scope.resolve(yes if holds else no, (*path, 1 if holds else 2))
            why = holds.why if holds else f"condition {condition}, which the template does not have"
            return Unknown(why=why, path=path)
    return _malformed("Fn::If", path)


def _sub(scope: Scope, argument: Value, path: Path) -> Given[Value]:
    match argument:
        case str(text):
            variables: Mapping[str, Value] = {}
        case [str(text), dict(variables)]:
            pass
        case _:
            return _malformed("Fn::Sub", path)
    parts: list[Given[str]] = []
    end = 0
    for found in _VARIABLE.finditer(text):
        name = found[1].strip()
        parts.append(Known(value=text[end : found.start()], path=path))
        if name in variables:
            parts.append(scope.text(variables[name], (*path, 1, name)))
        elif "." in name:
            parts.append(scope.text({"Fn::GetAtt": name}, path))
        else:
            parts.append(scope.text({"Ref": name}, path))
        end = found.end()
    parts.append(Known(value=text[end:], path=path))
    return _joined("", parts, path)


def _joined(separator: str, parts: list[Given[str]], path: Path) -> Given[Value]:
    """Return the text of some texts; a symbol when one of them is."""
    texts: list[str] = []
    defaults: tuple[str, ...] = ()
    for part in parts:
        if isinstance(part, Unknown):
            return Unknown(why=part.why, path=path)
        if part:
            texts.append(part.value)
            defaults += part.defaults
    symbols = [text for text in texts if isinstance(text, Symbol)]
    whole = separator.join(texts).replace("${!", "${")
    if symbols:
        only = symbols[0] if whole == symbols[0] else None
        whole = Symbol(whole, only.logical_id if only is not None else None)
    elif _DYNAMIC.search(whole):
        whole = Symbol(whole)
    return Known(value=whole, path=path, defaults=tuple(dict.fromkeys(defaults)))


def _join(scope: Scope, argument: Value, path: Path) -> Given[Value]:
    match argument:
        case [str(separator), items]:
            entries = scope.texts(items, (*path, 1))
            if not isinstance(entries, Known):
                return Unknown(why=entries.why, path=path) if entries else _malformed("Join", path)
            parts: list[Given[str]] = [
                Known(value=entry, path=path, defaults=entries.defaults) for entry in entries.value
            ]
            return _joined(separator, parts, path)
    return _malformed("Fn::Join", path)


def _split(scope: Scope, argument: Value, path: Path) -> Given[Value]:
    match argument:
        case [str(separator), source] if separator:
            text = scope.text(source, (*path, 1))
            if isinstance(text, Known) and not isinstance(text.value, Symbol):
                parts: list[Value] = [*text.value.split(separator)]
                return Known(value=parts, path=path, defaults=text.defaults)
            why = text.why if isinstance(text, Unknown) else "what Fn::Split splits"
            return Unknown(why=why, path=path)
    return _malformed("Fn::Split", path)


def _select(scope: Scope, argument: Value, path: Path) -> Given[Value]:
    match argument:
        case [index, {"Fn::GetAZs": _}] if not isinstance(index, dict | list):
            return Known(value=Symbol(f"zone {index} of the region"), path=path)
        case [index, items]:
            number = _number(scope, index, (*path, 0))
            entries = scope.resolve(items, (*path, 1))
            if isinstance(entries, Unknown):
                return Unknown(why=entries.why, path=path)
            if isinstance(number, int) and entries and isinstance(entries.value, list):
                if 0 <= number < len(entries.value):
                    found = scope.resolve(entries.value[number], (*entries.path, number))
                    if isinstance(found, Known):
                        defaults = entries.defaults + found.defaults
                        return Known(value=found.value, path=found.path, defaults=defaults)
                    return found
                return Unknown(why=f"entry {number} of a list that has none", path=path)
    return _malformed("Fn::Select", path)


def _number(scope: Scope, value: Value, path: Path) -> int | None:
    text = scope.text(value, path)
    if isinstance(text, Known) and text.value.isdecimal():
        return int(text.value)
    return None


def _find_in_map(scope: Scope, argument: Value, path: Path) -> Given[Value]:
    if not isinstance(argument, list) or not 3 <= len(argument) <= 4:
        return _malformed("Fn::FindInMap", path)
    options = argument[3] if len(argument) > 3 else None
    found: Any = scope.sections["Mappings"]
    keys: list[str] = []
    defaults: tuple[str, ...] = ()
    for index, each in enumerate(argument[:3]):
        key = scope.text(each, (*path, index))
        if isinstance(key, Unknown):
            return Unknown(why=key.why, path=path)
        if key is None:
            return _malformed("Fn::FindInMap", path)
        if isinstance(key.value, Symbol):
            return Unknown(
                why=f"{key.value}, a key of mapping {keys[0] if keys else '?'}", path=path
            )
        keys.append(key.value)
        defaults += key.defaults
        found = found.get(key.value) if isinstance(found, dict) else None
    if found is None and isinstance(options, dict) and "DefaultValue" in options:
        return scope.resolve(options["DefaultValue"], (*path, 3, "DefaultValue"))
    if found is None:
        return Unknown(why=f"mapping {keys[0]} has no {'.'.join(keys[1:])}", path=path)
    return Known(value=found, path=("Mappings", *keys), defaults=defaults)


def _base64(scope: Scope, argument: Value, path: Path) -> Given[Value]:
    """Return the text that is encoded: whoever reads it decodes it."""
    return scope.text(argument, path)


def _import_value(scope: Scope, argument: Value, path: Path) -> Given[Value]:
    name = scope.text(argument, path)
    if isinstance(name, Known):
        return Known(value=Symbol(f"the export {name.value}"), path=path)
    return Unknown(why="the export of another stack", path=path)


def _zones(scope: Scope, argument: Value, path: Path) -> Given[Value]:
    return Unknown(why="the zones of the region", path=path)


_Function = Callable[[Scope, Value, Path], Given[Value]]
_FUNCTIONS: dict[str, _Function] = {
    "Ref": _ref,
    "Fn::Base64": _base64,
    "Fn::FindInMap": _find_in_map,
    "Fn::GetAZs": _zones,
    "Fn::GetAtt": _get_att,
    "Fn::If": _if,
    "Fn::ImportValue": _import_value,
    "Fn::Join": _join,
    "Fn::Select": _select,
    "Fn::Split": _split,
    "Fn::Sub": _sub,
}
