"""Have checkov judge the templates. It needs an environment of its own, because it pins boto3."""

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

from trainshed.checks.templates.basis import distributions, settings
from trainshed.checks.templates.command import answer, printed_json, started
from trainshed.checks.templates.model import Assembly
from trainshed.checks.templates.program import Judge
from trainshed.errors import Failure
from trainshed.findings import Severity
from trainshed.findings.tools import TemplateFinding

NAME = "checkov"
# Loading it takes twice as long as judging, so it loads first and then reads its arguments.
_START = (
    "import json, sys; from checkov.main import Checkov; "
    "sys.exit(Checkov(json.load(sys.stdin)).run())"
)
_SETTINGS = (".checkov.yaml", ".checkov.yml"), ("BC_", "CHECKOV_", "CKV_", "PRISMA_")
# Offline; exit code 0 with findings; each finding on few lines.
_OPTIONS = ("--framework", "cloudformation", "--skip-download", "--soft-fail", "--compact")


def missing() -> str | None:
    """Return why it cannot run, and what to do; None when it can."""
    if _python().is_file() or shutil.which(NAME):
        return None
    return (
        f"it is not installed: python3 -m venv {_environment()} && "
        f"{_environment() / 'bin' / 'pip'} install checkov"
    )


def basis() -> list[str] | None:
    """Return what its answers depend on besides the templates; None when that is not known."""
    if not _python().is_file():
        return None
    folders = _environment().glob("lib/python*/site-packages")
    return [*distributions(folders), *settings(*_SETTINGS)]


@contextmanager
def loaded(folder: Path) -> Iterator[Judge]:
    """Start to load it, and return what judges.

    Raises:
        Failure: it does not start.
    """
    if not _python().is_file():
        yield _judge
        return
    command = (str(_python()), "-c", _START)
    with ExitStack() as ended:
        waiting = [ended.enter_context(started(command, folder))]

        def judge(assembly: Assembly) -> tuple[TemplateFinding, ...]:
            # Each reads arguments once.
            process = waiting.pop() if waiting else ended.enter_context(started(command, folder))
            return _judge(assembly, process)

        yield judge


def _judge(assembly: Assembly, process: Popen[str] | None = None) -> tuple[TemplateFinding, ...]:
    """Return what it finds in the templates: a started one of its environment, or that on the path.

    Raises:
        Failure: it fails, or cannot read one.
    """
    stacks = {str(stack.file): name for name, stack in assembly.stacks.items()}
    files = [word for file in stacks for word in ("--file", file)]
    arguments = [*_OPTIONS, "--output", "json", *files]
    printed = (
        answer(process, json.dumps(arguments))
        if process
        else printed_json((NAME, *arguments), assembly.folder)
    )
    # Without anything to judge, it prints no results.
    results = printed.get("results", {})
    if unread := results.get("parsing_errors"):
        raise Failure(f"it cannot read {', '.join(map(str, unread))}")
    return tuple(_findings(results.get("failed_checks", ()), stacks, assembly))


def _findings(
    failed: list[dict[str, Any]], stacks: dict[str, str], assembly: Assembly
) -> Iterator[TemplateFinding]:
    for check in failed:
        stack = stacks[check["file_abs_path"]]
        logical_id = check["resource"].rpartition(".")[2]
        keys = ", ".join(check["check_result"].get("evaluated_keys") or ())
        yield TemplateFinding(
            rule=check["check_id"],
            # Which are the severe ones is known only to its makers' own service.
            severity=Severity.WARNING,
            message=f"{keys}: {check['check_name']}" if keys else check["check_name"],
            source=check.get("guideline"),
            stack=stack,
            path=assembly.stacks[stack].construct(logical_id),
        )


def _environment() -> Path:
    return Path(sys.prefix) / "checkov"


def _python() -> Path:
    """Return the Python of the environment inside ours, which may not be there."""
    return _environment() / "bin" / "python"
