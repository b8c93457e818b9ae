"""The drawing of the architecture and the import contracts have every room of trainshed."""

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


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
