"""Have cfn-lint judge the templates, each in its region."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from trainshed.checks.templates.basis import distributions, settings
from trainshed.checks.templates.command import printed_json
from trainshed.checks.templates.model import Assembly
from trainshed.checks.templates.program import Judge
from trainshed.findings import Severity
from trainshed.findings.tools import TemplateFinding

NAME = "cfn-lint"
_MODULE = "cfnlint"
# What its own script does; that script breaks where the path of Python has a space.
_START = f"import sys; from {_MODULE}.runner import main; sys.exit(main())"
_SETTINGS = (".cfnlintrc", ".cfnlintrc.yaml", ".cfnlintrc.yml")
_SEVERITIES = {"Error": Severity.ERROR, "Warning": Severity.WARNING}


def missing() -> str | None:
    """Return why it cannot run, and what to do; None when it can."""
    if find_spec(_MODULE):
        return None
    return "it is not installed: pip install cfn-lint, or trainshed[offline]"


def basis() -> list[str]:
    """Return what its answers depend on besides the templates."""
    return [*distributions(map(Path, sys.path)), *settings(_SETTINGS)]


@contextmanager
def loaded(folder: Path) -> Iterator[Judge]:
    """Return what judges; one that loads is for one region only, so none does."""
    yield _judge


def _judge(assembly: Assembly) -> tuple[TemplateFinding, ...]:
    stacks = sorted(assembly.stacks, key=lambda name: (assembly.stacks[name].region, name))
    found: list[TemplateFinding] = []
    for region, names in groupby(stacks, key=lambda name: assembly.stacks[name].region):
        files = {str(assembly.stacks[name].file): name for name in names}
        # Of a stack that is for no certain region, it judges the region that is its own default.
        regions = ("--regions", region) if "unknown" not in region else ()
        command = (sys.executable, "-c", _START, "--format", "json", *regions, "--template", *files)
        for match in printed_json(command, assembly.folder):
            found.append(_finding(match, files[match["Filename"]], assembly))
    return tuple(found)


def _finding(match: dict[str, Any], stack: str, assembly: Assembly) -> TemplateFinding:
    way = match["Location"].get("Path") or []
    construct = assembly.stacks[stack].path
    match way:
        case ["Resources", str(logical_id), *_]:
            construct = assembly.stacks[stack].construct(logical_id)
    field = "/".join(map(str, way))
    return TemplateFinding(
        rule=match["Rule"]["Id"],
        severity=_SEVERITIES.get(match["Level"], Severity.INFO),
        message=f"{field}: {match['Message']}" if field else match["Message"],
        source=match["Rule"].get("Source") or None,
        stack=stack,
        path=construct,
    )
