"""The drawing of the architecture, the import contracts and the tests go by trainshed's rooms."""

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Folders of tests of what is not in src/trainshed, by what they test.
OTHER_TESTS = {
    "browser": "pages in a browser",
    "constructs": "the functions of custom resources",
    "guests": "nodes that boot in a namespace",
    "ladder": "AMIs that are baked",
    "launch": "trainshed-launch and the job scope of a node",
    "packer": "what an AMI has",
    "packaging": "the distributions",
    "snapshot": "whole templates",
    "support": "what tests share",
    "template": "constructs and stacks",
    "third_orchestrator": "what another orchestrator needs",
}

ROOMS = {
    path.stem
    for path in (ROOT / "src/trainshed").iterdir()
    if path.suffix == ".py" or (path / "__init__.py").exists()
} - {"__init__"}


def test_every_room_is_in_the_drawing() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    drawings = " ".join(re.findall(r"^```\n(.*?)^```$", page, re.M | re.S)[:2])

    assert {"plan", "spec"} <= ROOMS
    assert ROOMS - set(re.findall(r"\w+", drawings)) == set()


def test_every_room_is_in_a_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = json.dumps(settings["tool"]["importlinter"]["contracts"])

    assert ROOMS - set(re.findall(r"trainshed\.(\w+)", contracts)) == set()


def test_a_folder_of_tests_has_the_name_of_its_room() -> None:
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")}

    assert folders - ROOMS == OTHER_TESTS.keys()
    assert {"lint", "plan", "review"} <= folders
