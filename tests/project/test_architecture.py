"""The drawing of the architecture has every package and module of trainshed."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_room_is_in_the_drawing() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    drawings = " ".join(re.findall(r"^```\n(.*?)^```$", page, re.M | re.S)[:2])
    rooms = {
        path.stem
        for path in (ROOT / "src/trainshed").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    } - {"__init__"}

    assert {"plan", "spec"} <= rooms
    assert rooms - set(re.findall(r"\w+", drawings)) == set()
