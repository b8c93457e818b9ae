"""No two classes of trainshed, its constructs and its stacks share a name."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src/trainshed", "constructs/trainshed_constructs", "stacks/trainshed_stacks")


def classes(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def test_no_two_classes_share_a_name() -> None:
    modules = defaultdict(list)
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        for name in classes(path):
            modules[name].append(str(path.relative_to(ROOT)))

    assert {"AmiRecipe", "EfaSecurityGroup", "TrainClusterStack"} <= modules.keys()
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}
