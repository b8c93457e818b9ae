"""The template, its scripts and its pins fit together; nothing here needs AWS."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hcl2
import pytest
from hcl2.utils import SerializationOptions
from skips import needs

from trainshed.ami.packer_compat import PLUGINS, write_compatible
from trainshed.nodes.cells import ACCELERATORS, AGENTS
from trainshed.pins.model import Pins
from trainshed.pins.outdated import pinned_versions
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import ami_recipe, recipe_names, write_recipes

ROOT = Path(__file__).parents[2]
PACKER = ROOT / "packer"
SCRIPTS = PACKER / "scripts"
RECIPES = list(recipe_names(read_pins(PACKER / "pins.json")))

# Arguments of amazon-ebs that Packer 1.6.6 does not have and plugin 1.8 does, from a comparison of
# both specifications; all that 1.6.6 has, plugin 1.8 has, too.
NEWER_THAN_1_6 = frozenset(
    {
        "ami_org_arns",
        "ami_ou_arns",
        "capacity_reservation_group_arn",
        "capacity_reservation_id",
        "capacity_reservation_preference",
        "deprecate_at",
        "deregistration_protection",
        "enable_nitro_enclave",
        "enable_unlimited_credits",
        "fast_launch",
        "fleet_tag",
        "fleet_tags",
        "imds_support",
        "license_specifications",
        "metadata_options",
        "placement",
        "skip_ami_run_tags",
        "skip_create_ami",
        "snapshot_copy_duration_minutes",
        "spot_allocation_strategy",
        "temporary_security_group_source_public_ip",
    }
)
# Commands of the scripts whose first argument is a component.
_NAMED = re.compile(
    r"(?:\b|_)(?:pin|fetch_archive|add_repository|install_packages|require_dkms_modules?)"
    r" ([a-z][a-z0-9-]+)\b"
)
_SEVERAL = re.compile(r"\b(?:install_components +|parts\+?=\()([a-z][a-z0-9 -]+)")
_FAMILY = re.compile(r"\bcomponents ([a-z]+)\b")
# What is done only where the recipe has a component.
_GUARDED = re.compile(r"^if has_component ([a-z0-9-]+); then\n.*?^fi$", re.M | re.S)


@pytest.fixture(scope="module")
def pins() -> Pins:
    return read_pins(PACKER / "pins.json")


@pytest.fixture(scope="module")
def compatible(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compatible") / "packer"
    write_compatible(PACKER, folder)
    return folder


def parsed(path: Path) -> dict[str, Any]:
    options = SerializationOptions(
        with_comments=False, explicit_blocks=False, strip_string_quotes=True
    )
    with path.open() as file:
        document: dict[str, Any] = hcl2.load(file, serialization_options=options)
    return document


def source_arguments(folder: Path) -> set[str]:
    """Arguments and blocks of the source, dynamic ones too."""
    (source,) = parsed(folder / "source.pkr.hcl")["source"]
    block = source["amazon-ebs"]["ami"]
    dynamic = {name for entry in block.pop("dynamic", []) for name in entry}
    return {*block, *dynamic}


@cache
def locals_of_template() -> dict[str, Any]:
    (found,) = parsed(PACKER / "locals.pkr.hcl")["locals"]
    return dict(found)


@cache
def variables() -> dict[str, dict[str, Any]]:
    return {
        name: block
        for entry in parsed(PACKER / "variables.pkr.hcl")["variable"]
        for name, block in entry.items()
    }


def scripts_of(accelerator: str, orchestrator: str) -> list[str]:
    agent = orchestrator.partition("-")[0]
    return [
        name.replace("${var.accelerator}", accelerator).replace("${local.agent}", agent)
        for group in locals_of_template()["scripts"].values()
        for name in group
    ]


def shell_files() -> Iterator[Path]:
    for folder in (SCRIPTS, PACKER / "files"):
        for path in sorted(folder.rglob("*")):
            # Python may be writing bytecode.
            if "__pycache__" in path.parts or not path.is_file():
                continue
            if path.read_bytes()[:40].startswith(
                (b"#!/usr/bin/env bash", b"#!/bin/bash", b"#!/bin/sh")
            ):
                yield path


# The template.


@needs("packer")
def test_templates_are_formatted() -> None:
    done = subprocess.run(
        ["packer", "fmt", "-check", "-diff", str(PACKER)], capture_output=True, text=True
    )

    assert (done.returncode, done.stdout) == (0, "")


def test_what_is_newer_than_packer_1_6_is_fenced_and_nothing_else_is(compatible: Path) -> None:
    everywhere, below_1_7 = source_arguments(PACKER), source_arguments(compatible)

    assert below_1_7 & NEWER_THAN_1_6 == set()
    assert everywhere - below_1_7 <= NEWER_THAN_1_6
    assert {"imds_support", "metadata_options"} <= everywhere - below_1_7


def test_instances_and_images_refuse_the_first_metadata_service() -> None:
    (source,) = parsed(PACKER / "source.pkr.hcl")["source"]
    block = source["amazon-ebs"]["ami"]

    assert block["imds_support"] == "v2.0"
    assert block["metadata_options"][0]["http_tokens"] == "required"


def test_packer_opens_no_session_while_a_reboot_ends_its_connection() -> None:
    (build,) = parsed(PACKER / "build.pkr.hcl")["build"]
    steps = [block for step in build["provisioner"] for block in step.values()]
    reboots = [number for number, step in enumerate(steps) if "local.reboot" in str(step)]

    assert len(reboots) == 2
    for number in reboots:
        assert steps[number]["expect_disconnect"]
        assert steps[number]["skip_clean"]
        assert steps[number + 1]["pause_before"] == "5s"


def test_the_plugins_version_is_the_pinned_one(pins: Pins) -> None:
    (block,) = parsed(PACKER / PLUGINS)["packer"]
    (plugins,) = block["required_plugins"]

    assert plugins["amazon"]["version"] == f"= {pins.tools.plugin.version}"


def test_every_variable_says_what_it_is_for_and_has_a_type() -> None:
    for name, block in variables().items():
        assert block.get("description", "").endswith((".", "null for never.")), name
        assert "type" in block, name


def test_only_the_cell_has_to_be_given() -> None:
    assert {name for name, block in variables().items() if "default" not in block} == {
        "accelerator",
        "orchestrator",
    }


def test_each_accelerators_base_is_the_one_that_has_its_pins(pins: Pins) -> None:
    """Of Gaudi it depends on the agent, which a default cannot: see test_validate.py."""
    for accelerator in ACCELERATORS:
        bases = {pins.base_of(accelerator, agent) for agent in AGENTS}
        default = variables()[f"{accelerator}_base"]["default"]
        assert bases == {default} or (default is None and len(bases) > 1)


def test_every_agent_of_the_cells_can_be_asked_for() -> None:
    *_, last = variables()["orchestrator"]["validation"]

    for agent in AGENTS:
        assert f'"{agent}"' in last["condition"]


@pytest.mark.parametrize(("accelerator", "orchestrator", "base"), RECIPES)
def test_an_ami_has_no_more_tags_than_ec2_allows(
    pins: Pins, accelerator: str, orchestrator: str, base: str
) -> None:
    fixed = len(re.findall(r'^ +"trainshed:', (PACKER / "locals.pkr.hcl").read_text(), re.M))

    # EC2 user guide, tag restrictions.
    assert len(ami_recipe(pins, accelerator, orchestrator, base).components) + fixed + 1 <= 50


# The scripts.


def test_the_template_runs_exactly_the_scripts_that_exist() -> None:
    listed = {name for recipe in RECIPES for name in scripts_of(*recipe[:2])}

    assert listed == {path.name for path in SCRIPTS.glob("*.sh")}


@pytest.mark.parametrize(
    ("accelerator", "orchestrator"), sorted({recipe[:2] for recipe in RECIPES})
)
def test_scripts_run_in_the_order_of_their_numbers(accelerator: str, orchestrator: str) -> None:
    names = scripts_of(accelerator, orchestrator)

    assert names == sorted(names)


def test_scripts_stop_at_the_first_failure() -> None:
    for path in SCRIPTS.glob("*.sh"):
        assert "\nset -euo pipefail\n" in path.read_text(), path.name


def test_the_recipes_are_what_the_pins_say(pins: Pins, tmp_path: Path) -> None:
    write_recipes(tmp_path, pins)

    committed = {path.name: path.read_text() for path in (PACKER / "recipes").iterdir()}
    resolved = {path.name: path.read_text() for path in (tmp_path / "recipes").iterdir()}
    assert committed == resolved, "make recipes writes them"


# Scripts and pins.


def used_by(script: str, pins: Pins, recipe: tuple[str, str, str]) -> set[str]:
    """Components that a script uses for a recipe, itself or through the library."""
    library = "\n".join(path.read_text() for path in (SCRIPTS / "lib").glob("*.sh"))
    text = _GUARDED.sub(
        lambda found: found[0] if found[1] in ami_recipe(pins, *recipe).components else "",
        (SCRIPTS / script).read_text(),
    )
    functions = set(re.findall(r"^(\w+)\(\) \{", library, re.M))
    called = {name for name in functions if re.search(rf"\b{name}\b", text)}
    bodies = [
        body
        for name in called
        for body in re.findall(rf"^{name}\(\) \{{(.*?)^\}}", library, re.M | re.S)
    ]
    # Messages are in quotes, and commands in them are not.
    whole = re.sub(r'"(?![^"]*\$\()[^"]*"', "", without_comments("\n".join([text, *bodies])))
    families = tuple(f"{family}-" for family in _FAMILY.findall(whole))
    by_family = {name for name in pins.components if families and name.startswith(families)}
    several = {name for names in _SEVERAL.findall(whole) for name in names.split()}
    return {*_NAMED.findall(whole), *several, *by_family} - {"base"}


def without_comments(text: str) -> str:
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


@pytest.mark.parametrize(("accelerator", "orchestrator", "base"), RECIPES)
def test_scripts_use_the_pins_of_their_recipe_and_leave_none_out(
    pins: Pins, accelerator: str, orchestrator: str, base: str
) -> None:
    used = set()
    for script in scripts_of(accelerator, orchestrator):
        used |= used_by(script, pins, (accelerator, orchestrator, base))

    assert used == set(ami_recipe(pins, accelerator, orchestrator, base).components)


def test_no_version_is_written_anywhere_but_in_the_pins(pins: Pins) -> None:
    versions = {
        version
        for component in pins.components.values()
        for source in component.sources.values()
        for version in getattr(source, "packages", {}).values()
    }
    versions |= set(pinned_versions(pins).values())
    versions |= {text for base in pins.bases.values() for text in (base.release, base.kernel)}
    versions = {version for version in versions if len(version) > 4}
    # Three numbers in a row, unless they are an address of four.
    looks_like_one = re.compile(r"(?<![\d.])\d+\.\d+\.\d+(?![\d.]*\.\d)(?:-\d+)?\b")
    # The cells that a refusal names, and Packer itself, are no versions to install.
    templates = [path for path in PACKER.glob("*.pkr.hcl") if path.name != PLUGINS]

    for path in [*shell_files(), *templates]:
        text = without_comments(path.read_text())
        assert not [version for version in versions if version in text], path.name
        assert not looks_like_one.findall(text), path.name
