"""Code that templates carry inline for Lambda."""

import ast
import json
import subprocess
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
instance: {type: trn1.32xlarge, nodes: {min: 1}}
storage: {lustre: {existing: fs-0123456789abcdef0}, efs: {existing: fs-0123456789abcdef1}}
guard: {expires: "2126-12-31T18:00Z", idle: {action: scale-down}}
"""
KUBE = """
name: KubeCluster
region: us-west-2
orchestrator: eks
instance: {type: trn1.32xlarge}
kubernetes: {version: "1.35"}
"""


@pytest.fixture(scope="module")
def inline(
    synthesise: Callable[[Fleet], Path], tmp_path_factory: pytest.TempPathFactory
) -> set[str]:
    """The inline Python of every shipped cluster and example, and of clusters with the rest."""
    folder = tmp_path_factory.mktemp("clusters")
    others = {folder / "adopting.yaml": ADOPTING, folder / "kube.yaml": KUBE}
    for path, text in others.items():
        path.write_text(text)
    shipped = sorted((ROOT / "clusters").glob("*.yaml"))
    files = [*shipped, ROOT / "examples/existing-network.yaml", *others]
    return {
        resource["Properties"]["Code"]["ZipFile"]
        for path in synthesise(load_fleet(files)).glob("*.template.json")
        for resource in json.loads(path.read_text()).get("Resources", {}).values()
        if resource["Type"] == "AWS::Lambda::Function"
    }


def subject(code: str) -> str:
    """What a file says that it is."""
    return ast.get_docstring(ast.parse(code)) or ""


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
    handlers = [path.read_text() for path in Path(folder).glob("*/handler.py")]

    assert sorted(map(subject, inline)) == sorted(map(subject, handlers))


def test_cfnresponse_is_imported_on_a_line_of_its_own(inline: set[str]) -> None:
    answering = [code for code in inline if "cfnresponse" in code]

    assert len(answering) > len(inline) / 2
    for code in answering:
        assert imports(code, "cfnresponse") == ["import cfnresponse"]


def test_inline_code_is_short_enough(inline: set[str]) -> None:
    assert max(map(len, inline)) <= LONGEST


def test_inline_code_needs_nothing_that_lambda_lacks(inline: set[str]) -> None:
    assert not [code for code in inline if "trainshed_constructs" in code]
    for code in inline:
        # Names that are not defined, and imports that are of no use.
        command = ["ruff", "check", "--isolated", "--select", "F", "-"]
        checked = subprocess.run(command, input=code, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout


def test_handlers_that_wait_for_a_new_role_have_the_function_inline(inline: set[str]) -> None:
    waiting = [code for code in inline if "patiently(" in code]

    assert len(waiting) > len(inline) / 2
    assert all("\ndef patiently(call: Any" in code for code in waiting)
