"""The picture of what runs where says what the plan says."""

from pathlib import Path
from xml.etree import ElementTree

from eks_picture import EXAMPLE, PICTURE, draw

from trainshed.plan import load_fleet

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
[PLAN] = load_fleet([ROOT / EXAMPLE]).clusters


def test_the_committed_picture_is_up_to_date() -> None:
    assert (ROOT / PICTURE).read_text(encoding="utf-8") == draw(PLAN), "make schema writes it"


def test_it_names_each_stack_that_runs_something_and_stays_within_its_page() -> None:
    root = ElementTree.fromstring(draw(PLAN))

    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    words = " ".join("".join(each.itertext()) for each in root.iter(f"{SVG}text"))
    assert PLAN.lustre
    for stack in (PLAN.name, PLAN.network.stack_name, PLAN.lustre.stack_name, "TrainControlPlane"):
        assert stack in words
    assert "DaemonSet trainshed-train-gaudi" in words
    for each in root.iter(f"{SVG}rect"):
        place = {name: int(each.get(name, 0)) for name in ("x", "y", "width", "height")}
        assert place["x"] + place["width"] <= width
        assert place["y"] + place["height"] <= height
