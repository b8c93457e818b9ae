"""Pydantic's errors in the words of trainshed: what is wrong, what is allowed, what is near."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from trainshed.documents.forms import FORMS
from trainshed.documents.model import Document
from trainshed.documents.problems import Path, Problem, Where
from trainshed.errors import did_you_mean

_LONGEST_SHOWN = 60


def problems_of(
    error: ValidationError, document: type[BaseModel], where: Where
) -> tuple[Problem, ...]:
    """Return what pydantic refuses, by the fields as they stand in the file.

    Args:
        error: pydantic's.
        document: the model of the whole file.
        where: where its values stand.
    """
    return tuple(
        _problem(detail, document, where)
        for detail in error.errors(include_url=False)
        # Of a list, pydantic counts the entries that it takes; the others are refused already.
        if not (detail["type"] == "too_short" and detail["input"])
    )


def _problem(detail: ErrorDetails, document: type[BaseModel], where: Where) -> Problem:
    path = _place(detail["loc"], document)[0]
    elsewhere = None
    if detail["type"] == "extra_forbidden" and issubclass(document, Document):
        elsewhere = document.key_elsewhere(path)
    return Problem(where=where, path=path, message=elsewhere or _message(detail, document))


def value_message(error: ValidationError) -> str:
    """Say what is wrong with a value that stands in no document."""
    return _message(error.errors(include_url=False)[0], BaseModel)


def _message(detail: ErrorDetails, document: type[BaseModel]) -> str:
    """Say what is wrong with a value, what is allowed, and the nearest valid value."""
    value, context = shown(detail["input"]), detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return "is required"
        case "extra_forbidden":
            outer, key = detail["loc"][:-1], str(detail["loc"][-1])
            fields = tuple(_fields_at(outer, document))
            inside = [
                f"{name}.{key}" for name in fields if key in _fields_at((*outer, name), document)
            ]
            near = f"; did you mean {' or '.join(inside)}?" if inside else did_you_mean(key, fields)
            return f"unknown key{near} (allowed: {', '.join(fields) or 'none'})"
        case _ if detail["input"] is None and detail["loc"]:
            return empty_message(_place(detail["loc"], document)[0], document)
        case "enum" | "literal_error":
            allowed = context["expected"].replace("'", "").replace(" or ", ", ")
            near = did_you_mean(_text(detail["input"]), tuple(allowed.split(", ")))
            return f"{value} is not allowed{near} (allowed: {allowed})"
        case "string_pattern_mismatch":
            return _unlike_its_form(detail["input"], context["pattern"])
        case "string_too_short":
            return "is an empty text; give it a value, or leave the key out for its default"
        case "string_too_long":
            return f"{value} is too long; at most {context['max_length']} characters"
        case "too_short":
            return "is empty; give it at least one entry"
        case "too_long":
            return f"has {context['actual_length']} entries; at most {context['max_length']}"
        case "string_unicode":
            return f"{value} has half of a character; write the whole one"
        case "string_type":
            quotes = "" if isinstance(detail["input"], list | dict) else ": put it in quotes"
            return f"{value} is not text{quotes}"
        case "int_type" | "int_parsing":
            quoted = isinstance(detail["input"], str) and detail["input"].strip().isdecimal()
            return f"{value} is not a whole number{': leave the quotes out' if quoted else ''}"
        case "float_parsing" | "float_type" | "finite_number":
            return f"{value} is not a number"
        case "bool_type":
            return f"{value} is neither true nor false"
        case "greater_than":
            return f"{value} is not allowed; it must be more than {context['gt']}"
        case "greater_than_equal":
            return f"{value} is not allowed; the smallest allowed is {context['ge']}"
        case "multiple_of":
            return f"{value} is not allowed; it must be a multiple of {context['multiple_of']}"
        case "less_than_equal":
            return f"{value} is not allowed; the largest allowed is {context['le']}"
        case "ip_v4_network" | "ip_any_network":
            return f"{value} is not an IPv4 range{_near_network(detail['input'])}"
        case "tuple_type" | "list_type":
            return f"{value} is not a list; write it as [{detail['input']}]"
        case "dict_type":
            return f"{value} is not a mapping; write it as {{NAME: value}}"
        case "model_type" | "model_attributes_type":
            names = ", ".join(_fields_at(detail["loc"], document)) or "none"
            return f"{value} is not a mapping (its fields: {names})"
        case "value_error":
            return str(context["error"])
    return f"{value} is not allowed: {detail['msg']}"


def empty_message(path: Path, document: type[BaseModel]) -> str:
    """Say what to write in place of nothing.

    Args:
        path: the field whose key has no value.
        document: the model of the whole file.
    """
    plain = "is empty; give it a value, or leave the key out for its default"
    holder = _model(_place(path[:-1], document)[1])
    field = _fields(holder).get(str(path[-1])) if holder else None
    inner = _model(field.annotation) if field else None
    if field is None or inner is None or len(list(_choices(field.annotation))) > 2:
        return plain
    if not inner.model_fields:
        return "is empty; leave the key out"
    required = [name for name, part in inner.model_fields.items() if part.is_required()]
    least = f"give it at least {', '.join(required)}"
    fields = f"give it fields ({', '.join(inner.model_fields)})"
    if field.is_required():
        return f"is empty; {least if required else fields}"
    default = field.default
    nothing = default is None or all(part is None for _, part in default)
    out = "leave the key out for " + ("none" if nothing else "its defaults")
    if required:
        return f"is empty; {least}, or {out}"
    if field.default is None:
        return f"is empty; write {path[-1]}: {{}} for one with the defaults, or {out}"
    return f"is empty; {out}, or {fields}"


def shown(value: object) -> str:
    """Return a value as messages show it: as it is written in YAML, and not longer than a line."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _unlike_its_form(value: str, pattern: str) -> str:
    form = FORMS[pattern]
    near = form.nearest(value)
    hint = f"did you mean {near}?" if near else f"for instance {form.example}"
    return f"{shown(value)} is not allowed; {hint} (allowed: {form.words})"


def _near_network(value: object) -> str:
    try:
        return f"; did you mean {IPv4Network(str(value), strict=False)}?"
    except ValueError:
        return "; for instance 10.20.0.0/16"


def _fields_at(loc: tuple[str | int, ...], document: type[BaseModel]) -> Iterator[str]:
    """Name the fields of the model at an error's location."""
    if model := _model(_place(loc, document)[1]):
        yield from _fields(model)


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a model by their names in the file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _place(loc: tuple[str | int, ...], document: type[BaseModel]) -> tuple[Path, Any]:
    """Return the path in the file of an error's location, and the type that is expected there."""
    path: list[str | int] = []
    expected: Any = document
    for key in loc:
        tagged = {
            part.tag: get_args(entry)[0]
            for entry in _choices(expected)
            for part in get_args(entry)
            if isinstance(part, Tag)
        }
        if key in tagged:  # pydantic's name of a member of a union, which the file does not have
            expected = tagged[str(key)]
        elif key != "[key]":
            path.append(key)
            expected = _inside(expected, key)
    return tuple(path), expected


def _inside(expected: Any, key: str | int) -> Any:
    """Return the type of what a field, a key or an index holds."""
    if model := _model(expected):
        field = _fields(model).get(str(key))
        return field.annotation if field else None
    for choice in _choices(expected):
        if arguments := get_args(choice):
            return arguments[1 if get_origin(choice) is dict else 0]
    return None


def _model(expected: Any) -> type[BaseModel] | None:
    """Return the model among the types that are allowed."""
    for choice in _choices(expected):
        plain = get_args(choice)[0] if get_origin(choice) is Annotated else choice
        if isinstance(plain, type) and issubclass(plain, BaseModel):
            return plain
    return None


def _choices(expected: Any) -> Iterator[Any]:
    """Yield the members of a union, with their tags, or the type itself when it is not a union."""
    origin, (first, *_) = get_origin(expected), get_args(expected) or (None,)
    if origin in (Union, UnionType):
        for member in get_args(expected):
            yield from _choices(member)
    elif origin is Annotated and get_origin(first) in (Union, UnionType):
        yield from _choices(first)
    else:
        yield expected
