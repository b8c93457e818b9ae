"""Print the test files that depend on a path: `scripts/tests_for.py src/trainshed/lint`.

A test depends on the modules that its file imports, or the fixtures and helpers that it uses, with
all that those import in turn; on the module of each command that it calls; and on what app.py
imports, if it names that. Who imports a package depends on all that is in it, because modules of
rules are loaded by their names.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp

from embedded_aws.service_folders import service_folders
from trainshed.cli import GROUPS

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "trainshed": ROOT / "src",
    "trainshed_constructs": ROOT / "constructs",
    "trainshed_stacks": ROOT / "stacks",
    "embedded_aws": ROOT / "embedded-aws/src",
}
_TESTS = (ROOT / "tests", ROOT / "embedded-aws/tests")
_COMMANDS = "trainshed.cli"
_Node = ast.Import | ast.ImportFrom | ast.Name | ast.arg | ast.Constant


def tests_for(path: Path) -> list[Path]:
    """Return the files of tests that depend on a module or a package.

    Raises:
        SystemExit: the path is neither.
    """
    graph = _graph()
    changed = _module(path.resolve())
    if changed not in graph.modules:
        sys.exit(f"error: {path} is no module and no package of {', '.join(PACKAGES)}")
    changes = {each for each in graph.modules if f"{each}.".startswith(f"{changed}.")}
    changes |= graph.find_downstream_modules(changed, as_package=True)
    while (changed := changed.rpartition(".")[0]) not in ("", *PACKAGES):
        changes |= {changed, *graph.find_downstream_modules(changed)}
    return [
        file
        for folder in _TESTS
        for file in sorted(folder.rglob("test_*.py"))
        if changes & _used(file)
    ]


def _graph() -> grimp.ImportGraph:
    """Return who imports whom, with what the embedded AWS starts and loads by name."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    graph.add_import(importer="embedded_aws.process", imported="embedded_aws.server")
    for folder in service_folders():
        for module in (folder.__name__, *graph.find_descendants(folder.__name__)):
            graph.add_import(importer="embedded_aws.services", imported=module)
    return graph


def _module(path: Path) -> str:
    for root in PACKAGES.values():
        if path.is_relative_to(root):
            names = path.relative_to(root).with_suffix("").parts
            return ".".join(names[:-1] if names[-1:] == ("__init__",) else names)
    return ""


@cache
def _used(file: Path) -> set[str]:
    """Return the modules that a file of tests imports, and those of the fixtures that it uses."""
    tree = _tree(file)
    names, found = _names(tree), _imported(tree)
    fixtures = [
        (each, around)
        for folder in file.parents
        if (conftest := folder / "conftest.py").is_file()
        for around in (_tree(conftest), *_plugins(conftest))
        for each in around.body
        if isinstance(each, ast.FunctionDef)
    ]
    # Fixtures use others, which stand before or after them.
    while used := [each for each in fixtures if each[0].name in names]:
        fixtures = [each for each in fixtures if each not in used]
        for fixture, around in used:
            names |= _names(fixture)
            found |= _imported(fixture) | _imported(around, of=_names(fixture))
    for helper in _helpers(found):
        found |= _imported(_tree(helper))
    if "trainshed" in names or _COMMANDS in found:
        found |= {f"{_COMMANDS}.{name}" for name in _texts(tree).intersection(GROUPS)}
    if "app.py" in _texts(tree):
        found |= _imported(_tree(ROOT / "app.py"))
    return found


def _plugins(conftest: Path) -> Iterator[ast.Module]:
    """Yield the plug-ins of pytest among the helpers that a conftest names."""
    for word in _texts(_tree(conftest)):
        for folder in _TESTS:
            if (file := folder / "support" / f"{word}.py").is_file():
                yield _tree(file)


def _helpers(modules: set[str]) -> set[Path]:
    """Return the files of the helpers of tests among modules, and of those that they need."""
    found: set[Path] = set()
    while modules:
        files = {
            file
            for module in modules
            for folder in _TESTS
            if (file := folder / "support" / f"{module.replace('.', '/')}.py").is_file()
        } - found
        found |= files
        modules = {module for file in files for module in _imported(_tree(file))}
    return found


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _nodes(tree: ast.AST) -> list[_Node]:
    """Return what is looked at; a walk over a program takes longer than all else here."""
    return [each for each in ast.walk(tree) if isinstance(each, _Node)]


def _names(tree: ast.AST) -> set[str]:
    return {
        each.arg if isinstance(each, ast.arg) else each.id
        for each in _nodes(tree)
        if isinstance(each, ast.arg | ast.Name)
    }


def _texts(tree: ast.AST) -> set[str]:
    """Return the words in the texts of a program."""
    texts = (each.value for each in _nodes(tree) if isinstance(each, ast.Constant))
    return {word for text in texts if isinstance(text, str) for word in text.split()}


def _imported(tree: ast.AST, of: set[str] | None = None) -> set[str]:
    """Return the modules that are imported, and what is imported of them; by certain names only."""
    found = set()
    for each in _nodes(tree):
        if isinstance(each, ast.Import | ast.ImportFrom):
            source = [each.module] if isinstance(each, ast.ImportFrom) and each.module else []
            for alias in each.names:
                if of is None or (alias.asname or alias.name) in of:
                    found |= {*source, ".".join((*source, alias.name))}
    return found


if __name__ == "__main__":
    sys.stdout.writelines(f"{file.relative_to(ROOT)}\n" for file in tests_for(Path(sys.argv[1])))
