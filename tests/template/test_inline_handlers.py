"""Code that templates carry inline for Lambda."""

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainshed.plan import Fleet, load_fleet
from trainshed_constructs import custom_resources

ROOT = Path(__file__).parents[2]
# CloudFormation, AWS::Lambda::Function Code, ZipFile.
LONGEST = 4096
ADOPTING = """
name: AdoptingCluster
region: us-west-2
instance: {type: trn1.32xlarge}
storage: {lustre: {existing: fs-0123456789abcdef0}}
"""


@pytest.fixture(scope="module")
def inline(
    synthesise: Callable[[Fleet], Path], tmp_path_factory: pytest.TempPathFactory
) -> set[str]:
    """The inline Python of every shipped cluster and example, and of a file system that exists."""
    adopting = tmp_path_factory.mktemp("adopting") / "adopting.yaml"
    adopting.write_text(ADOPTING)
    shipped = sorted((ROOT / "clusters").glob("*.yaml"))
    files = [*shipped, ROOT / "examples/existing-network.yaml", adopting]
    return {
        resource["Properties"]["Code"]["ZipFile"]
        for path in synthesise(load_fleet(files)).glob("*.template.json")
        for resource in json.loads(path.read_text()).get("Resources", {}).values()
        if resource["Type"] == "AWS::Lambda::Function"
    }


def imports(code: str, module: str) -> list[str]:
    """The lines that import a module, in whatever way."""

    def named(node: Any) -> bool:
        return module in [alias.name for alias in node.names] or (
            isinstance(node, ast.ImportFrom) and node.module == module
        )

    found = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, (ast.Import, ast.ImportFrom)) and named(node)
    ]
    return [code.splitlines()[node.lineno - 1] for node in found]


def test_every_handler_is_rendered(inline: set[str]) -> None:
    [folder] = custom_resources.__path__

    assert inline == {path.read_text() for path in Path(folder).glob("*/handler.py")}


def test_cfnresponse_is_imported_on_a_line_of_its_own(inline: set[str]) -> None:
    answering = [code for code in inline if "cfnresponse" in code]

    assert len(answering) > len(inline) / 2
    for code in answering:
        assert imports(code, "cfnresponse") == ["import cfnresponse"]


def test_inline_code_is_short_enough(inline: set[str]) -> None:
    assert max(map(len, inline)) <= LONGEST


def test_handlers_wait_for_a_new_role_in_one_way(inline: set[str]) -> None:
    # Each is a file of its own for Lambda, so that they cannot share the function.
    waiting = [
        ast.get_source_segment(code, node)
        for code in inline
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.FunctionDef) and node.name == "_patiently"
    ]

    assert len(waiting) > 1
    assert len(set(waiting)) == 1
    # What keeps trying after other errors, too, is not for roles alone.
    others = [code for code in inline if "time.sleep" in code and "def _patiently" not in code]
    assert len(others) == 1 and "_until_done" in others[0]
