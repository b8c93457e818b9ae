"""What a cloud assembly says about its stacks."""

import json
from pathlib import Path

from trainshed.app.synthesis import read_assembly


def test_an_assembly_says_where_stacks_go_and_which_are_protected(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text("{}")
    artifacts = {
        name: {
            "type": "aws:cloudformation:stack",
            "environment": "aws://123456789012/us-west-2",
            "properties": {"templateFile": "one.json", **properties},
        }
        for name, properties in (("Compute", {}), ("Storage", {"terminationProtection": True}))
    }
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))

    found = read_assembly(tmp_path)

    assert {each.account for each in found.values()} == {"123456789012"}
    assert {each.region for each in found.values()} == {"us-west-2"}
    assert {name: each.protected for name, each in found.items()} == {
        "Compute": False,
        "Storage": True,
    }


def test_stacks_of_a_stage_have_their_own_names_and_come_after_each_other(tmp_path: Path) -> None:
    stage = tmp_path / "assembly-Stage"
    stage.mkdir()
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": {}}))
    vpc = {"Metadata": {"aws:cdk:path": "Stage/One/Vpc/Resource"}, "Type": "AWS::EC2::VPC"}
    (stage / "one.json").write_text(json.dumps({"Resources": {"Id1": vpc}}))
    artifacts = {
        f"Stage{name}1234": {
            "type": "aws:cloudformation:stack",
            "environment": "aws://unknown-account/us-west-2",
            "displayName": f"Stage/{name} (Stage-{name})",
            "properties": {"stackName": f"Stage-{name}", "templateFile": "one.json"},
            "dependencies": [f"Stage{other}1234" for other in after],
        }
        for name, after in (("One", []), ("Two", ["One"]))
    }
    (stage / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))

    found = read_assembly(tmp_path)

    assert {name: set(each.after) for name, each in found.items()} == {
        "Stage-One": set(),
        "Stage-Two": {"Stage-One"},
    }
    assert found["Stage-One"].name("Id1") == "Vpc"
