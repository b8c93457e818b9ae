"""Chains of deployments: read from templates, with times that are known and others that are not."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainshed.deployment import (
    ResourceGraph,
    Span,
    deployment,
    observed_time,
    resource_graph,
    storage_and_compute,
)
from trainshed.errors import TrainshedError
from trainshed.synthesis import read_assembly

NAT, FSX, GROUP = "AWS::EC2::NatGateway", "AWS::FSx::FileSystem", "AWS::EC2::SecurityGroup"
Template = Mapping[str, Any]


def resource(kind: str, after: object = None, **properties: object) -> dict[str, object]:
    depends_on = {} if after is None else {"DependsOn": after}
    return {"Type": kind, "Properties": properties, **depends_on}


def assembly(
    folder: Path, templates: Mapping[str, Template], order: Mapping[str, list[str]]
) -> ResourceGraph:
    """Write a cloud assembly as CDK does, and read it."""
    artifacts: dict[str, Any] = {}
    for name, template in templates.items():
        (folder / f"{name}.template.json").write_text(json.dumps(template), encoding="utf-8")
        artifacts[f"{name}.assets"] = {"type": "cdk:asset-manifest"}
        artifacts[name] = {
            "type": "aws:cloudformation:stack",
            "environment": "aws://unknown-account/us-west-2",
            "properties": {"templateFile": f"{name}.template.json"},
            "dependencies": [f"{name}.assets", *order.get(name, [])],
        }
    manifest = {"version": "48.0.0", "artifacts": artifacts}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return resource_graph(read_assembly(folder))


def chain(found: ResourceGraph, stack: str) -> list[str]:
    return [link.resource.name for link in deployment(found, stack).chain]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"Ref": "First"}, id="ref"),
        pytest.param({"Fn::GetAtt": ["First", "Arn"]}, id="getatt"),
        pytest.param({"Fn::GetAtt": "First.Arn"}, id="getatt-text"),
        pytest.param({"Fn::Sub": "arn:${AWS::Region}:${First}"}, id="sub"),
        pytest.param({"Fn::Sub": "${First.Arn}/x"}, id="sub-attribute"),
        pytest.param({"Fn::Sub": ["${A}", {"A": {"Ref": "First"}}]}, id="sub-variable"),
        pytest.param({"Fn::Join": ["", ["a", {"Ref": "First"}]]}, id="nested"),
    ],
)
def test_a_resource_waits_for_what_its_properties_name(tmp_path: Path, value: object) -> None:
    resources = {"First": resource(GROUP), "Second": resource(GROUP, Value=value)}

    found = assembly(tmp_path, {"S": {"Resources": resources}}, {})

    assert found.resources["S", "Second"].waits_for == {("S", "First")}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"Ref": "AWS::Region"}, id="pseudo"),
        pytest.param({"Ref": "Parameter"}, id="parameter"),
        pytest.param({"Fn::Sub": ["${First}", {"First": "text"}]}, id="sub-own-variable"),
        pytest.param({"Fn::Sub": "${!First}"}, id="sub-literal"),
        pytest.param("First", id="text"),
    ],
)
def test_a_resource_waits_for_nothing_else(tmp_path: Path, value: object) -> None:
    resources = {"First": resource(GROUP), "Second": resource(GROUP, Value=value)}

    found = assembly(tmp_path, {"S": {"Resources": resources}}, {})

    assert found.resources["S", "Second"].waits_for == frozenset()


@pytest.mark.parametrize("after", ["First", ["First"]])
def test_a_resource_waits_for_what_it_depends_on(tmp_path: Path, after: object) -> None:
    resources = {"First": resource(GROUP), "Second": resource(GROUP, after)}

    found = assembly(tmp_path, {"S": {"Resources": resources}}, {})

    assert found.resources["S", "Second"].waits_for == {("S", "First")}


def test_an_import_waits_for_the_resource_behind_the_export(tmp_path: Path) -> None:
    found = assembly(
        tmp_path,
        {
            "One": {
                "Resources": {"Vpc": resource(GROUP)},
                "Outputs": {"Out": {"Value": {"Ref": "Vpc"}, "Export": {"Name": "One:Vpc"}}},
            },
            "Two": {"Resources": {"Net": resource(GROUP, V={"Fn::ImportValue": "One:Vpc"})}},
            "Three": {"Resources": {"Net": resource(GROUP, V={"Fn::ImportValue": "One:Other"})}},
        },
        {"Two": ["One"]},
    )

    assert found.resources["Two", "Net"].waits_for == {("One", "Vpc")}
    assert found.resources["Three", "Net"].waits_for == frozenset()
    assert [(a.name, b.name) for a, b in found.waiting("Two", "One")] == [("Net", "Vpc")]
    assert found.waiting("One", "Two") == ()


def test_waiting_goes_over_any_number_of_steps_and_not_by_the_order_of_stacks(
    tmp_path: Path,
) -> None:
    found = assembly(
        tmp_path,
        {
            "Data": {
                "Resources": {"Files": resource(FSX)},
                "Outputs": {"Out": {"Value": {"Ref": "Files"}, "Export": {"Name": "files"}}},
            },
            "Jobs": {
                "Resources": {
                    "Mount": resource(GROUP, V={"Fn::ImportValue": "files"}),
                    "Queue": resource(GROUP, "Mount"),
                }
            },
            "Apart": {"Resources": {"Queue": resource(GROUP)}},
        },
        {"Jobs": ["Data"], "Apart": ["Data"]},
    )

    assert {a.name for a, _ in found.waiting("Jobs", "Data")} == {"Mount", "Queue"}
    assert storage_and_compute(found, "Data", "Jobs") == (
        "Mount of Jobs waits for Files of Data",
        "Queue of Jobs waits for Files of Data",
    )
    assert "by the order of the stacks only" in storage_and_compute(found, "Data", "Apart")[0]
    assert storage_and_compute(found, "Jobs", "Apart") == (
        "no resource of Jobs waits for one of Apart, or the reverse",
    )
    assert found.waiting("Apart", "Data") == ()
    assert "Data" in found.all_before("Apart")


def test_the_longest_chain_is_that_with_the_most_time(tmp_path: Path) -> None:
    resources = {
        "Slow": resource(FSX),
        "AfterSlow": resource(GROUP, "Slow"),
        **{f"Many{n}": resource(GROUP, f"Many{n - 1}" if n else None) for n in range(5)},
    }

    found = assembly(tmp_path, {"S": {"Resources": resources}}, {})

    assert chain(found, "S") == ["Slow", "AfterSlow"]
    assert deployment(found, "S").longest == Span(low_seconds=600, high_seconds=1200, unknown=1)


def test_of_chains_of_unknown_time_the_one_with_more_resources_is_the_longest(
    tmp_path: Path,
) -> None:
    resources = {"A": resource(GROUP), "B": resource(GROUP, "A"), "C": resource(GROUP)}

    found = assembly(tmp_path, {"S": {"Resources": resources}}, {})

    assert chain(found, "S") == ["A", "B"]
    assert deployment(found, "S").longest == Span(unknown=2)


def test_a_stack_begins_when_the_slowest_that_it_comes_after_is_complete(tmp_path: Path) -> None:
    found = assembly(
        tmp_path,
        {
            "Network": {"Resources": {"Nat": resource(NAT)}},
            "Storage": {"Resources": {"Files": resource(FSX)}},
            "Images": {"Resources": {"Repository": resource(GROUP)}},
            "Jobs": {"Resources": {"Queue": resource(GROUP)}},
            "Other": {"Resources": {"Files": resource(FSX)}},
        },
        {"Storage": ["Network"], "Jobs": ["Network", "Storage", "Images"]},
    )

    made = deployment(found, "Jobs")

    assert [(link.resource.name, link.waits_for) for link in made.chain] == [
        ("Nat", ""),
        ("Files", "the stack Network"),
        ("Queue", "the stack Storage"),
    ]
    assert made.longest == Span(low_seconds=685, high_seconds=1325, unknown=1)
    assert made.one_by_one == Span(low_seconds=685, high_seconds=1325, unknown=2)
    stacks = {stack.name: stack for stack in made.stacks}
    assert [stack.name for stack in made.stacks] == ["Images", "Network", "Storage", "Jobs"]
    assert stacks["Storage"].after == ("Network",)
    assert stacks["Storage"].beside == ("Images",)
    assert stacks["Jobs"].beside == ()
    assert stacks["Images"].span == Span(unknown=1)


def test_stacks_of_a_stage_come_after_each_other_by_their_names(tmp_path: Path) -> None:
    stage = tmp_path / "assembly-Stage"
    stage.mkdir()
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": {}}), encoding="utf-8")
    (stage / "one.json").write_text(
        json.dumps(
            {
                "Resources": {
                    "Id1": {"Metadata": {"aws:cdk:path": "Stage/One/Vpc/Resource"}, "Type": GROUP}
                }
            }
        ),
        encoding="utf-8",
    )
    artifacts = {
        f"Stage{name}1234": {
            "type": "aws:cloudformation:stack",
            "environment": "aws://unknown-account/us-west-2",
            "displayName": f"Stage/{name} (Stage-{name})",
            "properties": {"stackName": f"Stage-{name}", "templateFile": "one.json"},
            "dependencies": after,
        }
        for name, after in (("One", []), ("Two", ["StageOne1234"]))
    }
    (stage / "manifest.json").write_text(json.dumps({"artifacts": artifacts}), encoding="utf-8")

    found = resource_graph(read_assembly(tmp_path))

    assert found.stack_order == {"Stage-One": frozenset(), "Stage-Two": {"Stage-One"}}
    assert found.resources["Stage-One", "Id1"].name == "Vpc"


def test_a_stack_that_the_app_does_not_make_is_refused(tmp_path: Path) -> None:
    found = assembly(tmp_path, {"S": {"Resources": {}}}, {})

    with pytest.raises(TrainshedError, match="the app makes no stack T"):
        deployment(found, "T")


def test_only_interface_endpoints_have_a_published_time() -> None:
    kind = "AWS::EC2::VPCEndpoint"

    found = observed_time(kind, {"VpcEndpointType": "Interface", "ServiceName": "x"})

    assert found and (found.low_seconds, found.high_seconds) == (120, 180)
    assert observed_time(kind, {"VpcEndpointType": "Gateway"}) is None
    assert observed_time("AWS::IAM::Role", {}) is None
