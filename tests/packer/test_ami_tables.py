"""docs/amis.md says what the pins and the template say."""

from pathlib import Path

import pytest
from ami_tables import with_tables

from trainshed.errors import TrainshedError
from trainshed.nodes.cells import ACCELERATORS, Cell
from trainshed.pins.model import Pins
from trainshed.pins.outdated import pinned_versions
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import ami_recipe

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "amis.md").read_text()
VARIABLES = (ROOT / "packer" / "variables.pkr.hcl").read_text()


@pytest.fixture(scope="module")
def pins() -> Pins:
    return read_pins(ROOT / "packer" / "pins.json")


def test_the_page_on_the_first_bake_names_the_pinned_tools(pins: Pins) -> None:
    page = (ROOT / "docs" / "first-bake.md").read_text(encoding="utf-8")

    for name in ("packer", "packer-plugin-amazon", "session-manager-plugin"):
        assert pinned_versions(pins)[f"tool/{name}"] in page, name


def test_the_tables_are_up_to_date(pins: Pins) -> None:
    assert with_tables(PAGE, pins, VARIABLES) == PAGE, "make schema writes them"


def test_every_cell_variable_and_component_has_a_row(pins: Pins) -> None:
    rows = {
        name
        for line in PAGE.splitlines()
        if line.startswith("| ")
        for name in line.split("|")[1].strip(" `").split("<br>")
    }

    assert set(Cell) <= rows
    assert {"accelerator", "ssh_cidrs", "encrypt_boot", "output"} <= rows
    assert {
        name for each in ACCELERATORS for name in ami_recipe(pins, each, "ecs").components
    } <= rows


def test_components_that_are_alike_share_a_row() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith(("| habana-", "| neuron-"))]

    assert [row.split("|")[1].strip().split("<br>") for row in rows] == [
        [
            *("habana-driver", "habana-firmware", "habana-firmware-tools", "habana-thunk"),
            "habana-container-runtime",
        ],
        ["neuron-dkms"],
        ["neuron-runtime", "neuron-collectives"],
        ["neuron-tools"],
    ]


def test_a_page_without_a_place_for_a_table_is_refused(pins: Pins) -> None:
    with pytest.raises(TrainshedError, match="cells: begin"):
        with_tables("# AMIs\n", pins, VARIABLES)
