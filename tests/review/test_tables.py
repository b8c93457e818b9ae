"""The small files of the review name what AWS has."""

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import cfnlint
import pytest

from trainshed.review import risks

FOLDER = Path(cfnlint.__file__).parent / "data" / "schemas" / "resources"
RISKS = files(risks)


def table(name: str) -> Mapping[str, Any]:
    return tomllib.loads(RISKS.joinpath(name).read_text(encoding="utf-8"))


@cache
def schemas() -> Mapping[str, Any]:
    """The published schemas, by type."""
    found = (json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json"))
    return {schema["typeName"]: schema for schema in found}


@cache
def services() -> Mapping[str, Any]:
    """The actions of IAM that cfn-lint knows, by service."""
    path = FOLDER.parents[1] / "AdditionalSpecs" / "Policies.json"
    return dict(json.loads(path.read_text(encoding="utf-8")))


def is_known(service: str, action: str) -> bool:
    return action.lower() in services().get(service, {}).get("Actions", {})


def test_every_type_of_the_overlay_is_one_of_aws_and_has_its_page() -> None:
    overlay = tomllib.loads(RISKS.joinpath("..", "resource_types.toml").read_text(encoding="utf-8"))

    pages = {kind: page for section in overlay.values() for kind, page in section.items()}

    assert pages.keys() - schemas().keys() == set()
    assert all(page.startswith("https://") for page in pages.values())


def test_every_property_that_only_grows_is_in_the_schema_and_has_its_page() -> None:
    for entry in table("refused_updates.toml")["only_grows"]:
        text = json.dumps(schemas()[entry["type"]])

        assert all(f'"{name}"' in text for name in entry["property"].split("."))
        assert entry["source"].startswith("https://")


@pytest.mark.parametrize("section", ["opens", "closes"])
def test_every_property_that_opens_is_in_a_schema(section: str) -> None:
    text = "\n".join(json.dumps(schema) for schema in schemas().values())
    exposure = table("exposure.toml")

    for entry in exposure[section]:
        assert all(f'"{name}"' in text for name in entry["property"].split("."))
        assert entry["ask"] in exposure["ask"]


def test_every_action_is_one_of_iam() -> None:
    grants = table("grants.toml")
    named = {*grants["escalating"], *grants["usual_on_some"], *grants["reading"]}
    unknown = {each for each in named if not is_known(*each.split(":"))}

    assert unknown == set()
