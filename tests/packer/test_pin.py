"""What provisioning scripts read of the pins, by the image's own program."""

import ast
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from node_root import FILES, RECIPES

from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import ami_recipe, recipe_names
from trainshed_node.recipe import read_recipe

PINS = read_pins(FILES.parent / "pins.json")
PROGRAMS = FILES / "opt" / "trainshed"
RECIPE: dict[str, Any] = {
    **{"accelerator": "nvidia", "orchestrator": "ecs", "base": "amazon-linux-2023"},
    **{"kernel": "6.18.1", "release": "2023.1"},
    "components": {
        "installer": {"version": "1.2", "kind": "archive", "url": "https://1.2.gz"},
        "driver": {
            "version": "580-1",
            "kind": "dnf",
            "packages": {
                "kmod-nvidia-open-dkms": "580-1",
                "kmod-nvidia-latest-dkms": "580-1",
                "tools": "3",
            },
            "basis": ["version: documented", "fingerprint: inferred"],
        },
    },
}


class Home:
    """A directory that stands for /opt/trainshed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "lib").symlink_to(PROGRAMS / "lib")
        (path / "pin").write_bytes((PROGRAMS / "pin").read_bytes())
        (path / "pin").chmod(0o755)
        self.write("recipe.json", RECIPE)
        self.write("ami.json", {"nvidia_driver": "open"})

    def write(self, name: str, document: object) -> None:
        (self.path / name).write_text(json.dumps(document))

    def take(self, recipe: str) -> None:
        """Be an AMI of a recipe of ours."""
        self.write("recipe.json", json.loads((RECIPES / f"{recipe}.json").read_text()))

    def pin(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([str(self.path / "pin"), *arguments], capture_output=True, text=True)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_fact_is_one_line(home: Home) -> None:
    assert home.pin("installer", "url").stdout == "https://1.2.gz\n"
    assert home.pin("driver", "basis").stdout == "version: documented; fingerprint: inferred\n"


def test_a_field_that_a_source_does_not_have_is_an_empty_line(home: Home) -> None:
    assert home.pin("installer", "sha256").stdout == "\n"
    assert home.pin("installer", "signature").stdout == "\n"


@pytest.mark.parametrize(
    ("driver", "kept"),
    [("open", "kmod-nvidia-open-dkms"), ("proprietary", "kmod-nvidia-latest-dkms")],
)
def test_packages_are_one_a_line_and_only_those_of_the_chosen_driver(
    home: Home, driver: str, kept: str
) -> None:
    home.write("ami.json", {"nvidia_driver": driver})

    assert home.pin("driver", "packages").stdout == f"{kept} 580-1\ntools 3\n"


@pytest.mark.parametrize(
    ("driver", "releases"), [("open", {"cuda13"}), ("proprietary", {"cuda12", "cuda13"})]
)
def test_dcgm_has_the_parts_for_cuda_12_only_where_v100_may_be(
    home: Home, driver: str, releases: set[str]
) -> None:
    home.write("ami.json", {"nvidia_driver": driver})
    home.take("nvidia-ecs-amazon-linux-2023")

    names = {line.split()[0] for line in home.pin("nvidia-dcgm", "packages").stdout.splitlines()}

    prefix = "datacenter-gpu-manager-4-"
    parts = {"core", "proprietary", *releases, *(f"proprietary-{each}" for each in releases)}
    assert names == {f"{prefix}{part}" for part in parts}


@pytest.mark.parametrize(
    ("driver", "kept"),
    [
        ("open", ["nvidia-dkms-580-open", "nvidia-kernel-source-580-open"]),
        ("proprietary", ["nvidia-dkms-580", "nvidia-kernel-source-580"]),
    ],
)
def test_ubuntus_packages_are_those_of_the_chosen_driver(
    home: Home, driver: str, kept: list[str]
) -> None:
    home.take("nvidia-ec2-ubuntu-24.04")
    home.write("ami.json", {"nvidia_driver": driver})

    lines = home.pin("nvidia-driver", "packages").stdout.splitlines()

    names = [line.split()[0] for line in lines]
    modules = ("nvidia-dkms-", "nvidia-kernel-source-")
    assert [name for name in names if name.startswith(modules)] == kept
    assert {"nvidia-utils-580", "nvidia-kernel-common-580"} <= set(names)
    assert home.pin("nvidia-driver", "suite").stdout == "/\n"
    assert home.pin("docker", "suite").stdout == "noble\n"


def test_the_base_has_a_kernel(home: Home) -> None:
    assert home.pin("base", "kernel").stdout == "6.18.1\n"


def test_the_components_of_the_recipe_are_listed(home: Home) -> None:
    assert home.pin("--list").stdout == "installer\ndriver\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("missing", "url"),
            "missing: is not a component of nvidia/ecs on amazon-linux-2023; these are: installer",
        ),
        (("installer", "color"), "installer: has no field 'color'; these are: version, kind"),
        (("base", "color"), "base: has no field 'color'; these are: release, suite, k"),
    ],
)
def test_what_is_not_pinned_stops_the_bake_with_one_line(
    home: Home, arguments: tuple[str, ...], message: str
) -> None:
    done = home.pin(*arguments)

    assert done.returncode == 1
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith(f"trainshed: ERROR: {message}")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("ami.json", None, "ami.json: is missing"),
        ("ami.json", "[]", "ami.json: is not a JSON object"),
        ("recipe.json", "{", "recipe.json: is not JSON"),
        ("recipe.json", '{"accelerator": "nvidia"}', "orchestrator must be a text"),
    ],
)
def test_documents_that_cannot_be_read_are_reported_without_a_traceback(
    home: Home, name: str, content: str | None, message: str
) -> None:
    if content is None:
        (home.path / name).unlink()
    else:
        (home.path / name).write_text(content)

    done = home.pin("installer", "url")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert message in line


@pytest.mark.parametrize(("accelerator", "orchestrator", "base"), list(recipe_names(PINS)))
def test_every_component_of_every_recipe_can_be_read(
    home: Home, accelerator: str, orchestrator: str, base: str
) -> None:
    home.take(f"{accelerator}-{orchestrator}-{base}")

    recipe = read_recipe(home.path)

    for component in recipe.components.values():
        assert component.field("kind") == "archive" or component.packages, component.name
        assert "{" not in str(component.field("suite")), component.name
    asked = ami_recipe(PINS, accelerator, orchestrator, base)
    assert {each.name: each.version for each in recipe.components.values()} == {
        name: pin.version for name, pin in asked.components.items()
    }


@pytest.mark.parametrize(
    "path",
    # Python may be writing bytecode there.
    [
        path
        for path in sorted(PROGRAMS.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ],
    ids=lambda path: str(path.relative_to(PROGRAMS)),
)
def test_the_programs_are_written_for_the_python_of_amazon_linux(path: Path) -> None:
    source = path.read_text()

    ast.parse(source, feature_version=(3, 9))
    if path.parent == PROGRAMS:
        assert source.startswith("#!/usr/bin/python3 -IB\n")
        assert path.stat().st_mode & 0o111
