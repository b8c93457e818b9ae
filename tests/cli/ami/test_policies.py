"""docs/channels.md: its IAM policies allow every call that the commands make."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

ROOT = Path(__file__).parents[3]


def calls(path: Path) -> Iterator[tuple[str, str]]:
    """Yield service and operation of every `region.call` and `region.pages` of a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            words = [word.value for word in node.args[:2] if isinstance(word, ast.Constant)]
            if node.func.attr in ("call", "pages") and len(words) == 2:
                yield str(words[0]), str(words[1])


def actions(path: Path) -> set[str]:
    found = set()
    for service, operation in calls(path):
        client = boto3.client(service, region_name="us-west-2")
        found.add(f"{service}:{client.meta.method_to_api_mapping[operation]}")
    return found


@pytest.fixture(scope="module")
def policies() -> list[set[str]]:
    """The actions of each policy: build; test, publish and so on; list and prune."""
    text = (ROOT / "docs/channels.md").read_text()
    found = []
    for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL):
        listed = [statement["Action"] for statement in json.loads(block)["Statement"]]
        found.append({a for some in listed for a in ([some] if isinstance(some, str) else some)})
    return found


@pytest.mark.parametrize(
    ("number", "modules"),
    [
        pytest.param(0, ["subnets", "leftovers"], id="build"),
        pytest.param(1, ["publishing", "rollback", "trial", "subnets", "ami"], id="publish"),
        pytest.param(2, ["usage", "pruning", "ami", "listing"], id="prune"),
    ],
)
def test_a_policy_allows_what_its_commands_call(
    policies: list[set[str]], number: int, modules: list[str]
) -> None:
    needed = set().union(*(actions(ROOT / f"src/trainshed/ami/{name}.py") for name in modules))

    assert needed
    assert needed <= policies[number], sorted(needed - policies[number])


def test_channels_are_read_and_written_by_what_the_policies_allow(
    policies: list[set[str]],
) -> None:
    needed = actions(ROOT / "src/trainshed/ami/channel_store.py")

    assert "ssm:PutParameter" in needed
    assert needed <= policies[1] | policies[2]
