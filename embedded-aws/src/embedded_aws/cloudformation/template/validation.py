"""Properties against the published schema, with CloudFormation's coercions and words."""

from collections.abc import Iterator, Mapping, Sized
from typing import Any, Final

import regex
from jsonschema import Draft7Validator, ValidationError, validators

from embedded_aws.cloudformation.failures import InvalidProperties
from embedded_aws.cloudformation.resource import Properties
from embedded_aws.cloudformation.schema import Schema, resolved, values_at
from embedded_aws.cloudformation.template.scope import text

_TYPE_NAMES: Final = {
    dict: "JSONObject",
    list: "JSONArray",
    str: "String",
    bool: "Boolean",
    int: "Integer",
    float: "Number",
    type(None): "Null",
}


def valid_properties(properties: Properties, *, schema: Schema, logical_id: str) -> dict[str, Any]:
    """Return the properties with scalars brought to the types that the schema asks for.

    As on AWS, `"true"` is a boolean and `"5"` an integer where one is wanted, and a number is
    text where text is wanted.

    Raises:
        InvalidProperties: the schema does not allow them; the message names each place.
    """
    coerced: dict[str, Any] = _coerce(dict(properties), schema.document, schema.document)
    problems = [
        f"#: extraneous key [{'/'.join(path)}] is not permitted, it is read-only"
        for path in schema.paths("readOnlyProperties")
        if "*" not in path and any(True for _ in values_at(coerced, path))
    ]
    for error in _Validator(schema.document).iter_errors(coerced):
        problems += _messages(error)
    if problems:
        raise InvalidProperties(
            f"Properties validation failed for resource {logical_id} with message: "
            + "\n".join(dict.fromkeys(problems))
        )
    return coerced


def _messages(error: ValidationError) -> Iterator[str]:
    where = _pointer(error.absolute_path)
    if error.validator in ("anyOf", "oneOf", "allOf") and error.context:
        yield f"{where}: #: no subschema matched out of {len(error.validator_value)}"
        for inner in error.context:
            yield from _messages(inner)
        return
    yield f"{where}: {_words(error)}"


def _pointer(path: Any) -> str:
    return "/".join(["#", *map(str, path)])


def _words(error: ValidationError) -> str:
    if error.validator == "type":
        return _wrong_type(error)
    words = _WORDS.get(str(error.validator), "failed validation constraint for keyword [{keyword}]")
    size = len(error.instance) if isinstance(error.instance, Sized) else 0
    return words.format(
        message=error.message,
        keyword=error.validator,
        limit=error.validator_value,
        value=error.instance,
        size=size,
    )


def _wrong_type(error: ValidationError) -> str:
    wanted = error.validator_value
    names = [str(name).capitalize() for name in (wanted if isinstance(wanted, list) else [wanted])]
    return f"expected type: {' or '.join(names)}, found: {_TYPE_NAMES[type(error.instance)]}"


# The wording is that of the validator that AWS's resource providers are built with.
_WORDS: Final[Mapping[str, str]] = {
    "additionalProperties": "{message}",
    "const": "{value} is not a valid enum value",
    "enum": "{value} is not a valid enum value",
    "enumCaseInsensitive": "{value} is not a valid enum value",
    "maxItems": "expected maximum item count: {limit}, found: {size}",
    "maxLength": "expected maxLength: {limit}, actual: {size}",
    "maximum": "{value} is not less or equal to {limit}",
    "minItems": "expected minimum item count: {limit}, found: {size}",
    "minLength": "expected minLength: {limit}, actual: {size}",
    "minimum": "{value} is not greater or equal to {limit}",
    "required": "{message}",
    "uniqueItems": "array items are not unique",
}


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    # The schemas' patterns are ECMA and Java ones (\p{L}), which Python's `re` refuses.
    if isinstance(instance, str) and not regex.search(pattern, instance):
        yield ValidationError("pattern")


def _required(_: Any, names: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in names:
            if name not in instance:
                yield ValidationError(f"required key [{name}] not found")


def _additional(
    validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    patterns = schema.get("patternProperties", {})
    for key, value in instance.items():
        if key in schema.get("properties", {}) or any(regex.search(p, key) for p in patterns):
            continue
        if allowed is False:
            yield ValidationError(f"extraneous key [{key}] is not permitted")
        elif isinstance(allowed, dict):
            yield from validator.descend(value, allowed, path=key)


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _: Any
) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, inner in patterns.items():
            for key, value in instance.items():
                if regex.search(pattern, key):
                    yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _enum_any_case(_: Any, allowed: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if str(instance).lower() not in {str(value).lower() for value in allowed}:
        yield ValidationError("enum")


def _excluded(_: Any, excluded: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    """Cfn-lint's keyword: a property that forbids others."""
    if isinstance(instance, dict):
        for name, others in excluded.items():
            if name in instance and any(other in instance for other in others):
                yield ValidationError("dependentExcluded")


def _some_of(_: Any, names: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    """Cfn-lint's keyword: at least one of these properties."""
    if isinstance(instance, dict) and not any(name in instance for name in names):
        yield ValidationError("requiredOr")


def _one_of(_: Any, names: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    """Cfn-lint's keyword: exactly one of these properties."""
    if isinstance(instance, dict) and sum(name in instance for name in names) != 1:
        yield ValidationError("requiredXor")


_Validator = validators.extend(
    Draft7Validator,
    {
        "additionalProperties": _additional,
        "dependentExcluded": _excluded,
        "enumCaseInsensitive": _enum_any_case,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "required": _required,
        "requiredOr": _some_of,
        "requiredXor": _one_of,
    },
)


def _coerce(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    schema = resolved(schema, root)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        value = {
            key: _coerce(item, properties[key], root) if key in properties else item
            for key, item in value.items()
        }
        for pattern, inner in schema.get("patternProperties", {}).items():
            value = {
                key: _coerce(item, inner, root) if regex.search(pattern, key) else item
                for key, item in value.items()
            }
    elif isinstance(value, list):
        items = schema.get("items", {})
        value = [_coerce(item, items, root) for item in value]
    elif isinstance(schema.get("type"), str):
        value = _scalar(value, schema["type"])
    for keyword in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(keyword, ()):
            value = _coerce(value, part, root)
    return value


def _scalar(value: Any, wanted: str) -> Any:
    if wanted == "string":
        return text(value)
    if not isinstance(value, str):
        return value
    if wanted == "boolean" and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if wanted == "integer" and regex.fullmatch(r"[+-]?\d+", value):
        return int(value)
    if wanted == "number" and regex.fullmatch(r"[+-]?\d+(\.\d+)?", value):
        return float(value) if "." in value else int(value)
    return value
