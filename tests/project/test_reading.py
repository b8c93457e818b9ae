"""Commands read files through trainshed.files, which refuses what is no file or never ends."""

import ast
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src/trainshed"
# What the user has set for all projects, what trainshed writes itself, and parts of what it ships.
ALLOWED = {
    "ami/packer.py": 3,  # the log, written to and read while Packer runs
    "ami/building.py": 1,  # a lock
    "apply/blue_green.py": 2,  # the cloud assembly that it makes, read and written
    "checks/templates/basis.py": 1,  # settings in the home folder
    "comment/github.py": 1,  # the summary of the job, written
    "kubernetes/charts.py": 1,  # a chart, in the cache
    "kubernetes/helm.py": 1,  # the archive of a wheel
    "offline/agent.py": 1,  # the log of a stand-in, written
    "project/files.py": 1,  # shipped templates
    "project/versions.py": 1,  # shipped locks
    "region.py": 1,  # the configuration of the AWS CLI
    "rehearse/faults.py": 1,  # the mounts of a process
    "rehearse/workplace.py": 2,  # locks
    "review/remembered.py": 1,  # trainshed's own code
    "up/running.py": 1,  # the log, written while a command runs
    "stopping.py": 1,  # /dev/null, in place of a closed terminal
}
METHODS = {"open", "read_bytes", "read_text"}
# What they return is shipped.
SHIPPED = {"files", "shipped"}


def opens_a_file(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id="open"):
            return True
        # That of ConfigParser, which takes the names of files.
        case ast.Attribute(value=ast.Name(id="files"), attr="read"):
            return True
        case ast.Attribute(value=whose, attr=name):
            called = {each.func for each in ast.walk(whose) if isinstance(each, ast.Call)}
            names = {each.id for each in called if isinstance(each, ast.Name)}
            return name in METHODS and not names & SHIPPED
    return False


def test_only_trainshed_files_opens_what_users_name() -> None:
    found = Counter(
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if path != SOURCE / "files/reading.py" and "template" not in path.relative_to(SOURCE).parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and opens_a_file(node)
    )

    assert found == ALLOWED
