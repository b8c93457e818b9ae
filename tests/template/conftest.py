"""Synthesis of the shipped clusters, once for each test process."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks

from trainshed.plan import Fleet, load_fleet
from trainshed_stacks import add_fleet

ROOT = Path(__file__).parents[2]
# What each stack of an app says, by stack name.
Templates = Mapping[str, dict[str, Any]]


@pytest.fixture(scope="session")
def context() -> dict[str, Any]:
    """The feature flags of cdk.json."""
    found: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return found


@pytest.fixture(scope="session")
def synthesise(
    context: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Fleet], cdk.cx_api.CloudAssembly]:
    """Synthesise a fleet as app.py does, cdk-nag included."""

    def run(fleet: Fleet) -> cdk.cx_api.CloudAssembly:
        app = cdk.App(context=context, outdir=str(tmp_path_factory.mktemp("assembly")))
        cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        add_fleet(app, fleet)
        return app.synth()

    return run


@pytest.fixture(scope="session")
def assembly(
    synthesise: Callable[[Fleet], cdk.cx_api.CloudAssembly],
) -> cdk.cx_api.CloudAssembly:
    """Every shipped cluster, as `cdk synth` makes it."""
    return synthesise(load_fleet(sorted((ROOT / "clusters").glob("*.yaml"))))


@pytest.fixture(scope="session")
def templates(assembly: cdk.cx_api.CloudAssembly) -> Templates:
    """The templates of the shipped clusters."""
    return read(assembly)


def read(assembly: cdk.cx_api.CloudAssembly) -> Templates:
    """Read the templates of an assembly."""
    return {
        path.name.split(".")[0]: json.loads(path.read_text())
        for path in Path(assembly.directory).glob("*.template.json")
    }
