"""The Dockerfiles and their scripts, as the pins see them; `make lint` has the linters."""

import re
from pathlib import Path

import pytest

from trainshed.containers.building import build_arguments, build_context, parse_arguments
from trainshed.containers.pins import read_container
from trainshed.errors import UnknownName

ROOT = Path(__file__).parents[2]
NAMES = ("cpu", "habana", "neuron", "nvidia")
DOCKERFILES = [ROOT / "containers" / name / "Dockerfile" for name in NAMES]


def test_there_are_no_other_dockerfiles() -> None:
    assert sorted((ROOT / "containers").glob("*/Dockerfile")) == DOCKERFILES


@pytest.mark.parametrize("name", NAMES)
def test_a_dockerfile_has_no_version_and_labels_all_that_it_installs(name: str) -> None:
    text = (ROOT / "containers" / name / "Dockerfile").read_text()

    assert re.findall(r"\d+\.\d+", text) == []
    (installed,) = re.findall(r"/opt/trainshed/install((?:[\s\\]+[a-z-]+)+)", text)
    components = set(installed.replace("\\", "").split())
    assert components == set(re.findall(r"trainshed\.version\.([a-z-]+)=", text))
    pins = read_container(ROOT / "packer/pins.json", name)
    assert set(pins.drivers) == set(re.findall(r"trainshed\.driver\.([a-z-]+)=", text))


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_has_a_value_and_a_given_one_wins(name: str) -> None:
    text = (ROOT / "containers" / name / "Dockerfile").read_text()
    pins = read_container(ROOT / "packer/pins.json", name)

    arguments = build_arguments(text, pins, {"BASE": "other"})

    assert arguments["BASE"] == "other"
    assert all(arguments.values())
    assert set(arguments) == set(re.findall(r"^ARG (\w+)", text, re.MULTILINE))


def test_an_argument_that_is_not_declared_is_reported_with_the_nearest() -> None:
    pins = read_container(ROOT / "packer/pins.json", "cpu")
    text = (ROOT / "containers/cpu/Dockerfile").read_text()

    with pytest.raises(UnknownName, match="did you mean BASE"):
        build_arguments(text, pins, parse_arguments(["BAS=other"]))


def test_a_repository_has_the_suite_of_the_base_images_distribution() -> None:
    recipe = read_container(ROOT / "packer/pins.json", "neuron").recipe

    assert recipe.base == "ubuntu-24.04"
    assert recipe.components["neuron-runtime"].suite == "noble"


def test_a_context_holds_only_what_the_image_takes() -> None:
    pins = read_container(ROOT / "packer/pins.json", "cpu")

    with build_context(ROOT / "packer", ROOT / "containers", pins, ["openmpi"]) as context:
        versions = (context / "trainshed/recipe.json").read_text()
        files = {path.name for path in context.iterdir()}

    assert files == {"Dockerfile", "trainshed"}
    assert "openmpi" in versions
    assert "efa-installer" not in versions
    assert not context.exists()
