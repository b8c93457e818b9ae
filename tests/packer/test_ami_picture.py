"""The picture of an AMI says what the pins say."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from ami_picture import PICTURE, draw_ami

from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import ami_recipe, recipe_names

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
PINS = read_pins(ROOT / "packer" / "pins.json")


def test_the_committed_picture_is_up_to_date() -> None:
    drawn = draw_ami(ami_recipe(PINS, "neuron", "ecs"))

    assert (ROOT / PICTURE).read_text(encoding="utf-8") == drawn, "make schema writes it"


@pytest.mark.parametrize(("accelerator", "orchestrator", "base"), [*recipe_names(PINS)])
def test_every_component_has_a_box_with_version_and_proof(
    accelerator: str, orchestrator: str, base: str
) -> None:
    recipe = ami_recipe(PINS, accelerator, orchestrator, base)

    root = ElementTree.fromstring(draw_ami(recipe))

    height = int(root.attrib["height"])
    texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    boxes = [each for each in root.iter(f"{SVG}rect") if each.get("class") == "card"]
    assert len(boxes) == len(recipe.components)
    assert all(int(each.attrib["y"]) + int(each.attrib["height"]) < height for each in boxes)
    for name, pin in recipe.components.items():
        proof = texts[texts.index(f"{name} {pin.version}") + 1]
        assert "signed by" in proof or "sha256" in proof
