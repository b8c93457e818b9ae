"""Have checkov judge the templates. It needs an environment of its own, because it pins boto3."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainshed.checks.templates.command import printed_json
from trainshed.checks.templates.model import Assembly, TemplateFinding
from trainshed.errors import Failure
from trainshed.findings import Severity

NAME = "checkov"
# Offline; exit code 0 with findings; each finding on few lines.
_OPTIONS = ("--framework", "cloudformation", "--skip-download", "--soft-fail", "--compact")


def missing() -> str | None:
    """Return why it cannot run, and what to do; None when it can."""
    if _command():
        return None
    return (
        f"it is not installed: python3 -m venv {_environment()} && "
        f"{_environment() / 'bin' / 'pip'} install checkov"
    )


def judge(assembly: Assembly) -> tuple[TemplateFinding, ...]:
    """Return what it finds in the templates.

    Raises:
        Failure: it fails, or cannot read one.
    """
    stacks = {str(stack.file): name for name, stack in assembly.stacks.items()}
    files = [word for file in stacks for word in ("--file", file)]
    command = (*_command(), *_OPTIONS, "--output", "json", *files)
    printed = printed_json(command, assembly.folder)
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


def _command() -> tuple[str, ...]:
    """Return what starts it: of the environment inside ours, or else on the path."""
    # As a module: the first line of its program does not bear a space in the path.
    if (python := _environment() / "bin" / "python").is_file():
        return (str(python), "-m", "checkov.main")
    found = shutil.which(NAME)
    return (found,) if found else ()
