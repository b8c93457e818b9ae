"""Tags of the shipped stacks: who carries which, and what a new owner changes."""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from trainshed.plan import Fleet, plan_fleet
from trainshed.plan.pipeline import load_ami_pipeline
from trainshed.spec import read_spec
from trainshed_stacks.ami_pipeline_stack import add_ami_pipeline
from trainshed_stacks.owned_stack import REPLACED_FOR_TAGS

ROOT = Path(__file__).parents[2]
Templates = Mapping[str, dict[str, Any]]


@cache
def schema(resource_type: str) -> dict[str, Any]:
    """The schema that AWS publishes, as cfn-lint ships it."""
    found: dict[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema(
        "us-west-2", resource_type
    ).schema
    return found


@cache
def cdk_data() -> dict[str, Any]:
    """What the CDK CLI's `diff` goes by."""
    packed = (ROOT / "node_modules/aws-cdk/db.json.gz").read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(packed))["schema"]
    return found


@cache
def cdk_types(kind: str, key: str) -> dict[str, dict[str, Any]]:
    return {entity[key]: entity for entity in cdk_data()[kind]["entities"]}


def replacing(resource_type: str) -> set[str]:
    """The paths of properties whose change replaces a resource, by any source."""
    pointers = schema(resource_type).get("createOnlyProperties", [])
    paths = {pointer.removeprefix("/properties/") for pointer in pointers}
    properties = cdk_types("resource", "cloudFormationType")[resource_type]["properties"]
    paths |= set(replacing_by_cdk(properties, ""))
    return paths | ({"Tags"} if resource_type in REPLACED_FOR_TAGS else set())


def replacing_by_cdk(properties: dict[str, Any], above: str) -> Iterator[str]:
    for name, entry in properties.items():
        if entry.get("causesReplacement") == "yes":
            yield above + name
        kind = entry["type"]
        if kind["type"] == "ref" and not above:
            inner = cdk_types("typeDefinition", "$id")[kind["reference"]["$ref"]]
            yield from replacing_by_cdk(inner["properties"], f"{name}/")


def tags_replace(resource_type: str) -> bool:
    return bool({"Tags", "TagSpecifications"} & replacing(resource_type))


@pytest.fixture(scope="module")
def synthesised(
    synthesise: Callable[[Fleet], Path], context: dict[str, Any], tmp_path_factory: Any
) -> Callable[[str], Templates]:
    """Every shipped stack, that of the AMI pipeline's example with them, of one owner."""

    def run(owner: str) -> Templates:
        readings = [read_spec(path) for path in sorted((ROOT / "clusters").glob("*.yaml"))]
        specs = [each.spec.model_copy(update={"owner": owner}) for each in readings if each.spec]
        folders = [synthesise(plan_fleet(specs)), tmp_path_factory.mktemp("pipeline")]
        app = cdk.App(context=context, outdir=str(folders[1]))
        plan = load_ami_pipeline(
            ROOT / "examples/ami-pipeline.yaml", pins=ROOT / "packer/pins.json"
        )
        spec = plan.spec.model_copy(update={"owner": owner})
        add_ami_pipeline(app, replace(plan, spec=spec))
        app.synth()
        return {
            path.name.split(".")[0]: json.loads(path.read_text())
            for folder in folders
            for path in folder.glob("*.template.json")
        }

    return run


@pytest.fixture(scope="module")
def first(synthesised: Callable[[str], Templates]) -> Templates:
    return synthesised("one")


@pytest.fixture(scope="module")
def second(synthesised: Callable[[str], Templates]) -> Templates:
    return synthesised("two")


def resources(templates: Templates) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every resource of AWS's own, with its place."""
    for stack_name, template in templates.items():
        for name, resource in template.get("Resources", {}).items():
            if resource["Type"].startswith("AWS::"):
                yield f"{stack_name}/{name}", resource


def changed(before: Any, after: Any, above: str = "") -> Iterator[str]:
    """The paths of what differs, through mappings."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        if before != after:
            yield above.removesuffix("/")
        return
    for name in before.keys() | after.keys():
        yield from changed(before.get(name), after.get(name), f"{above}{name}/")


def test_a_new_owner_replaces_nothing_by_any_source(first: Templates, second: Templates) -> None:
    after = dict(resources(second))
    changes = {
        (place, resource["Type"], path)
        for place, resource in resources(first)
        for path in changed(resource["Properties"], after[place]["Properties"])
    }

    replaced = [
        (place, path)
        for place, kind, path in changes
        for fixed in replacing(kind)
        if f"{path}/".startswith(f"{fixed}/") or f"{fixed}/".startswith(f"{path}/")
    ]

    assert {path.split("/")[0] for *_, path in changes} >= {"Tags", "LaunchTemplateData"}
    assert not replaced


def test_types_that_a_change_of_tags_replaces_are_known(first: Templates) -> None:
    """A new release of CDK or of AWS's schemas may add one."""
    found = {kind for _, each in resources(first) if tags_replace(kind := each["Type"])}

    assert found == set(REPLACED_FOR_TAGS)


def tags_of(resource: Mapping[str, Any]) -> dict[str, str] | None:
    tags = resource.get("Properties", {}).get("Tags")
    return {each["Key"]: each["Value"] for each in tags} if isinstance(tags, list) else tags


def test_every_taggable_resource_carries_cluster_and_owner_unless_an_owner_would_replace_it(
    first: Templates,
) -> None:
    wrong = []

    for place, resource in resources(first):
        tags = tags_of(resource)
        if tags is None or place.startswith("AmiPipeline/"):
            continue
        wanted = {"trainshed:cluster"}
        wanted |= set() if resource["Type"] in REPLACED_FOR_TAGS else {"owner"}
        if not wanted <= set(tags) <= wanted | {"Name", "trainshed:lustre"}:
            wrong.append(place)

    assert not wrong


def test_a_compute_environment_carries_no_tags_and_its_instances_do(first: Templates) -> None:
    found = [
        each["Properties"]
        for _, each in resources(first)
        if each["Type"] == "AWS::Batch::ComputeEnvironment"
    ]

    assert found
    for environment in found:
        assert "Tags" not in environment
        assert environment["ComputeResources"]["Tags"].keys() == {"owner", "trainshed:cluster"}
