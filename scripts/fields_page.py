"""The fields of the files that users edit as a Markdown page, made from the JSON Schemas.

`make schema` writes docs/spec.md.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainshed.findings.pages import as_markdown
from trainshed.spec.schema import cluster_schema, pipeline_schema

_HEAD = """# The cluster file

Each cluster has a file in `clusters/`. Made from the models by `make schema`; editors read the same
from [`cluster.schema.json`](cluster.schema.json). A key that is not listed is an error.

"""
_PIPELINE_HEAD = """
# The AMI pipeline's file

`ami-pipeline.yaml`, beside `clusters/`; see [the AMI pipeline](ami-pipeline.md). Editors read
[`ami-pipeline.schema.json`](ami-pipeline.schema.json).

"""
_COLUMNS = """| field | takes | default | what it is |
|---|---|---|---|
"""
_MOST_LISTED = 20
# The schema of one field: JSON enters here.
Node = dict[str, Any]


def reference_text() -> str:
    """Return the page as the committed file holds it."""
    return _HEAD + _table(cluster_schema()) + _PIPELINE_HEAD + _table(pipeline_schema())


def _table(schema: Node) -> str:
    return _COLUMNS + "".join(_rows(schema, schema["$defs"], ""))


def _rows(model: Node, definitions: Node, prefix: str) -> Iterator[str]:
    for name, field in model["properties"].items():
        if conditions := [
            (each["if"]["properties"], each["then"]["properties"][name])
            for each in model.get("allOf", ())
            if each["then"]["properties"].get(name)
        ]:
            yield from _conditional_rows(conditions, definitions, f"{prefix}{name}.")
            continue
        target = _target(field, definitions)
        if "properties" in target:
            yield from _rows(target, definitions, f"{prefix}{name}.")
            continue
        required = name in model.get("required", ())
        cells = (
            f"`{prefix}{name}`",
            _takes(field, definitions),
            "required" if required else _code(field.get("default")),
            _what(target | field),
        )
        yield "| " + " | ".join(cells) + " |\n"
        inner = f"{prefix}{name}[]." if "items" in field else f"{prefix}{name}."
        for choice in field.get("oneOf", field.get("anyOf", [field.get("items", {})])):
            if "properties" in (option := _target(choice, definitions)):
                yield from _rows(option, definitions, inner)


def _conditional_rows(
    conditions: list[tuple[Node, Node]], definitions: Node, prefix: str
) -> Iterator[str]:
    """Yield the rows of a field whose fields another field decides, each once."""
    words: dict[str, list[str]] = {}
    for deciding, field in conditions:
        [(name, value)] = deciding.items()
        for row in _rows(_target(field, definitions), definitions, prefix):
            words.setdefault(row, []).append(f"{name} {_code(value['const'])}")
    for row, values in words.items():
        note = "" if len(values) == len(conditions) else f" (with {', '.join(values)})"
        yield row.removesuffix(" |\n") + f"{note} |\n"


def _target(field: Node, definitions: Node) -> Node:
    return definitions[field["$ref"].rsplit("/", 1)[1]] if "$ref" in field else field


def _takes(field: Node, definitions: Node) -> str:
    target = _target(field, definitions)
    for choices in (target.get("oneOf"), target.get("anyOf")):
        if choices:
            words: list[str] = []
            for choice in choices:
                model = _target(choice, definitions)
                # Where no field must be given, any of them alone chooses the model.
                if "properties" in model and "required" not in model:
                    words += [f"`{{{each}: ...}}`" for each in model["properties"]]
                else:
                    words.append(_takes(choice, definitions))
            return ", or ".join(words)
    if len(target.get("enum", ())) > _MOST_LISTED:
        return "one that `trainshed catalogue list` prints"
    if "const" in target:
        return _code(target["const"])
    if "enum" in target:
        return ", ".join(_code(value) for value in target["enum"])
    if "properties" in target:
        return f"`{{{next(iter(target['properties']))}: ...}}`"
    if "items" in target:
        return f"a list of {_takes(target['items'], definitions)}"
    if "examples" in target:
        return f"{target['patternErrorMessage']}, such as {_code(target['examples'][0])}"
    low, high = target.get("minimum"), target.get("maximum")
    if low is not None:
        return f"a number from {low}" + (f" to {high}" if high is not None else "")
    if (above := target.get("exclusiveMinimum")) is not None:
        return f"a number above {above}"
    if target.get("type") == "object":
        return "a mapping of text to text"
    return {"integer": "a number", "boolean": "`true` or `false`", "string": "text"}[target["type"]]


def _what(field: Node) -> str:
    return as_markdown(" ".join(field.get("description", "").split()).rstrip("."))


def _code(value: object) -> str:
    if value in (None, "", [], {}):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    Path("docs/spec.md").write_text(reference_text(), encoding="utf-8")
