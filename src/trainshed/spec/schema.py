"""The JSON Schemas of `clusters/*.yaml` and `ami-pipeline.yaml`, for editors.

Made from the models, and committed: `make schema` writes docs/*.schema.json.
"""

import inspect
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trainshed.catalogue import all_types
from trainshed.documents.forms import FORMS
from trainshed.documents.model import Document
from trainshed.orchestrators import Orchestrator, traits
from trainshed.spec.models import ClusterSpec
from trainshed.spec.pipeline import AmiPipelineSpec

_CIDR: dict[str, Any] = {
    "type": "string",
    "pattern": r"^(\d{1,3}\.){3}\d{1,3}/\d{1,2}$",
    "patternErrorMessage": "an IPv4 range",
    "examples": ["10.20.0.0/16"],
}


def cluster_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a cluster file.

    It names the catalogue's instance types, so that editors complete them. The models do not: the
    planner knows which one is near a mistyped one.
    """
    schema = _schema(ClusterSpec, "Cluster")
    sections = {name: own for each in Orchestrator for name, own in traits(each).sections.items()}
    schema["allOf"] = [_of_orchestrator(schema, each, sections) for each in Orchestrator]
    for name, own in sections.items():
        # What its model says about it stands in `allOf`.
        known = ClusterSpec.model_fields.get(name)
        said = known.description if known else inspect.getdoc(own)
        schema["properties"][name] = {"description": said}
    schema["$defs"]["InstanceSpec"]["properties"]["type"]["enum"] = list(all_types())
    return schema


def _of_orchestrator(
    schema: dict[str, Any], orchestrator: Orchestrator, sections: Iterable[str]
) -> dict[str, Any]:
    """Return what a file with an orchestrator has to follow; its models go into the schema."""
    own = _schema(ClusterSpec.model_for({"orchestrator": orchestrator}), "")
    schema["$defs"] |= own["$defs"]
    condition: dict[str, Any] = {"properties": {"orchestrator": {"const": orchestrator.value}}}
    if orchestrator is not ClusterSpec.model_fields["orchestrator"].default:
        condition["required"] = ["orchestrator"]
    # A section that it does not have is refused.
    fields = {name: own["properties"].get(name, False) for name in sections}
    return {"if": condition, "then": {"properties": fields}}


def pipeline_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of an AMI pipeline's file."""
    return _schema(AmiPipelineSpec, "AMI pipeline")


def _schema(model: type[Document], title: str) -> dict[str, Any]:
    named = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**named, **_for_editors(model.model_json_schema())}


def _for_editors(node: Any) -> Any:
    """Take out what only repeats, and put in what an editor shows of a pattern."""
    if isinstance(node, list):
        return [_for_editors(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: _properties(value) if key in ("properties", "$defs") else _for_editors(value)
        for key, value in node.items()
        # A default that is a mapping repeats the defaults of its fields.
        if key != "title" and not (key == "default" and (value is None or isinstance(value, dict)))
    }
    kept = _without_null(kept)
    if kept.get("format") == "ipv4network":
        kept = {key: value for key, value in kept.items() if key != "format"}
        kept |= _CIDR
    elif form := FORMS.get(kept.get("pattern", "")):
        kept |= {"patternErrorMessage": form.words, "examples": [form.example.strip('"')]}
    return kept


def _properties(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: _for_editors(field) for name, field in fields.items()}


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    """Leave `null` out: a key without a value is better left out of the file."""
    if {"type": "null"} not in node.get("anyOf", ()):
        return node
    other: dict[str, Any] = next(entry for entry in node["anyOf"] if entry != {"type": "null"})
    return {key: value for key, value in node.items() if key != "anyOf"} | other


def schema_texts() -> dict[str, str]:
    """Return the schemas as the committed files hold them, by file name."""
    schemas = {"cluster": cluster_schema(), "ami-pipeline": pipeline_schema()}
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2) + "\n"
        for name, schema in schemas.items()
    }


if __name__ == "__main__":
    for name, text in schema_texts().items():
        Path("docs", name).write_text(text, encoding="utf-8")
