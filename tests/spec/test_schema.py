"""The committed JSON Schema: that of the models, and of use in an editor."""

from pathlib import Path
from typing import Any

import pytest
from fields_page import reference_text
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from trainshed.spec.schema import cluster_schema, pipeline_schema, schema_texts

ROOT = Path(__file__).parents[2]
GOOD: dict[str, Any] = {"name": "Cluster1", "instance": {"type": "trn1.32xlarge"}}


def errors(cluster: dict[str, Any]) -> list[str]:
    validator = Draft202012Validator(cluster_schema())
    return [".".join(map(str, error.absolute_path)) for error in validator.iter_errors(cluster)]


def test_the_committed_schema_is_that_of_the_models() -> None:
    for name, text in schema_texts().items():
        committed = (ROOT / "docs" / name).read_text(encoding="utf-8")

        assert committed == text, "run: make schema"


def test_the_committed_reference_is_that_of_the_models() -> None:
    committed = (ROOT / "docs/spec.md").read_text(encoding="utf-8")

    assert committed == reference_text(), "run: make schema"


def test_the_reference_has_every_field_with_its_meaning() -> None:
    rows = [line.split(" | ") for line in reference_text().splitlines() if line.startswith("| `")]

    names = [row[0].strip("| `") for row in rows]
    pipeline = names.index("name", 1)
    clusters, pipelines = names[:pipeline], names[pipeline:]
    assert {"name", "instance.nodes.max", "capacity.capacity_block", "job.attempts"} <= set(
        clusters
    )
    assert {"name", "repository", "cells", "schedule"} <= set(pipelines)
    for each in (clusters, pipelines):
        assert len(set(each)) == len(each)
    assert all(row[1] and row[3].strip(" |") for row in rows)


def test_the_reference_has_every_form_of_capacity() -> None:
    [row] = [line for line in reference_text().splitlines() if line.startswith("| `capacity` |")]

    kinds = ("reservation", "capacity_block", "spot", "instance_types", "calendar")
    forms = ["`on-demand`", *(f"`{{{each}: ...}}`" for each in kinds)]
    assert row.split(" | ")[1] == ", or ".join(forms)


def test_they_are_valid_schemas() -> None:
    Draft202012Validator.check_schema(cluster_schema())
    Draft202012Validator.check_schema(pipeline_schema())


def test_the_example_of_a_pipeline_follows_its_schema() -> None:
    text = (ROOT / "examples/ami-pipeline.yaml").read_text(encoding="utf-8")

    Draft202012Validator(pipeline_schema()).validate(YAML(typ="safe", pure=True).load(text))


@pytest.mark.parametrize("path", sorted((ROOT / "clusters").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_shipped_cluster_follows_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert errors(YAML(typ="safe", pure=True).load(text)) == []
    assert text.startswith("# yaml-language-server: $schema=../docs/cluster.schema.json\n")


def test_every_field_is_described_and_every_form_is_in_words() -> None:
    schemas = (cluster_schema(), pipeline_schema())
    models = [model for schema in schemas for model in (schema, *schema["$defs"].values())]
    fields = [field for model in models for field in model.get("properties", {}).items()]

    assert len(fields) > 30
    assert all(model["description"] for model in models)
    # A field whose words are those of its model leaves them to it.
    assert [name for name, field in fields if not {"description", "$ref"} & field.keys()] == []
    forms = [field for _, field in fields if "pattern" in field]
    assert len(forms) > 10
    assert all(field["patternErrorMessage"] and field["examples"] for field in forms)


@pytest.mark.parametrize(
    "capacity",
    [
        "on-demand",
        {"reservation": "cr-01234567"},
        {"reservation": "cr-01234567", "placement_group": "pg"},
        {"capacity_block": "cr-01234567"},
    ],
)
def test_every_kind_of_capacity_follows_it(capacity: object) -> None:
    assert errors(GOOD | {"capacity": capacity}) == []


@pytest.mark.parametrize(
    ("added", "where"),
    [
        ({"storag": {}}, ""),
        ({"capacity": "ondemand"}, "capacity"),
        ({"capacity": {"reservation": "cr-01234567", "capacity_block": "cr-01234567"}}, "capacity"),
        ({"capacity": {"block": "cr-01234567"}}, "capacity"),
        ({"network": {"cidr": "10.0.0.0"}}, "network.cidr"),
        ({"network": {"cidr": 10}}, "network.cidr"),
        ({"network": {"endpoints": ["s3"]}}, "network.endpoints.0"),
        ({"job": {"attempts": 0}}, "job.attempts"),
        ({"job": {"attempts": "3"}}, "job.attempts"),
        ({"storage": {"lustre": {"efa": "yes"}}}, "storage.lustre.efa"),
        ({"storage": {"lustre": {"deployment": "scratch"}}}, "storage.lustre.deployment"),
        ({"storage": {"lustre": None}}, "storage.lustre"),
        ({"storage": {"lustre": {"mount": "/etc"}}}, "storage.lustre.mount"),
        ({"storage": {"lustre": {"mount": "/fsx/.."}}}, "storage.lustre.mount"),
        ({"capacity": "spot"}, "capacity"),
        ({"instance": {"type": "trn1.32xl"}}, "instance.type"),
        ({"account": 123456789012}, "account"),
        ({"image": {"tag": 2.9}}, "image.tag"),
        ({"orchestrator": "ec2", "job": {"attempts": 2}}, "job"),
        ({"orchestrator": "ec2", "image": {"tag": "v2"}}, "image"),
        ({"owner": None}, "owner"),
    ],
)
def test_an_editor_marks_what_the_reader_refuses(added: dict[str, Any], where: str) -> None:
    assert errors(GOOD | added) == [where]


def test_a_cidr_of_the_right_form_follows_it() -> None:
    assert errors(GOOD | {"network": {"cidr": "10.0.0.0/16"}}) == []
