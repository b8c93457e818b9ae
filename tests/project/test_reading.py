"""Commands read files through trainshed.files, which refuses what is no file or never ends."""

import ast
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src/trainshed"
# What trainshed ships, what the user has set for all projects, and what trainshed writes itself.
ALLOWED = {
    "ami/packer.py": 3,  # the log, written to and read while Packer runs
    "ami/building.py": 1,  # a lock
    "catalogue/lookup.py": 1,
    "checks/templates/accepted.py": 1,
    "checks/templates/basis.py": 1,  # settings in the home folder
    "collectives/published.py": 1,
    "comment/github.py": 1,  # the summary of the job, written
    "deployment/times.py": 1,
    "estimate/published.py": 1,
    "prices/lookup.py": 1,  # shipped prices
    "project/files.py": 5,
    "project/versions.py": 1,
    "region.py": 1,  # the configuration of the AWS CLI
    "rehearse/workplace.py": 2,  # locks
    "review/engine.py": 1,
    "review/remembered.py": 1,  # trainshed's own code
}
# `read` with arguments is that of ConfigParser, which takes the names of files.
METHODS = {"open", "read_bytes", "read_text"}


def opens_a_file(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id="open"):
            return True
        case ast.Attribute(value=ast.Name(id="files"), attr="read"):
            return True
        case ast.Attribute(attr=name):
            return name in METHODS
    return False


def test_only_trainshed_files_opens_what_users_name() -> None:
    found = Counter(
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if path != SOURCE / "files.py" and "template" not in path.relative_to(SOURCE).parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and opens_a_file(node)
    )

    assert found == ALLOWED
