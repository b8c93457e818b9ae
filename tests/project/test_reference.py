"""The pages made from the code leave out nothing that a package exports."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENTRIES = {
    name
    for page in (ROOT / "docs/reference").glob("*.md")
    for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.M)
}
PACKAGES = [
    "trainshed.catalogue",
    "trainshed.explain",
    "trainshed.plan",
    "trainshed.spec",
    "trainshed_constructs",
    "trainshed_stacks",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_an_export_with_the_name_of_its_module_has_an_entry_of_its_own(package: str) -> None:
    module = import_module(package)
    folder = Path(str(module.__file__)).parent

    # mkdocstrings takes such a name for the module, and leaves it out without a word.
    hidden = [name for name in module.__all__ if (folder / f"{name}.py").is_file()]

    assert package in ENTRIES
    assert [name for name in hidden if f"{package}.{name}.{name}" not in ENTRIES] == []
