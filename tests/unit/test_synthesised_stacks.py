"""What a cloud assembly says of its stacks."""

import json
from pathlib import Path

from trainshed.synthesis import read_assembly


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
