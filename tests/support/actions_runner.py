"""A runner for the jobs of a workflow of GitHub Actions, as far as its documents promise.

Each job has a machine of its own: a new workspace and new variables. What a step writes into the
files of GITHUB_ENV and GITHUB_PATH counts for the steps after it.
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

from ruamel.yaml import YAML

# As the documents say about `shell: bash`, and nearly so without it.
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Runs jobs.

    Attributes:
        folder: for the machines of jobs, and for artifacts.
        branches: what the repository has, by branch; an empty name is the pull request's.
        environment: variables of every step.
        values: of expressions.
    """

    folder: Path
    branches: Mapping[str, Path]
    environment: Mapping[str, str]
    values: Mapping[str, str]

    def run(self, name: str, job: Any) -> list[subprocess.CompletedProcess[str]]:
        """Run a job; return what came of each of its commands."""
        machine = self.folder / name
        machine.mkdir()
        return _Machine(self, machine).steps(job["steps"])

    @property
    def artifacts(self) -> Path:
        """Where artifacts are, by their names."""
        return self.folder / "artifacts"


class _Machine:
    def __init__(self, runner: Runner, folder: Path) -> None:
        self._runner, self._workspace, self._temporary = runner, folder / "work", folder / "temp"
        self._temporary.mkdir()
        self._files = {
            name: folder / name for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT")
        }
        for file in self._files.values():
            file.touch()
        self._outputs: dict[str, str] = {"runner.temp": str(self._temporary)}

    def steps(
        self, steps: list[Any], inputs: Mapping[str, str] | None = None
    ) -> list[subprocess.CompletedProcess[str]]:
        done: list[subprocess.CompletedProcess[str]] = []
        for step in steps:
            failed = any(each.returncode for each in done)
            if not failed or "cancelled()" in step.get("if", ""):
                done += self._step(step, inputs or {})
        return done

    def _step(self, step: Any, inputs: Mapping[str, str]) -> list[subprocess.CompletedProcess[str]]:
        given = {key: self._filled(str(text), inputs) for key, text in step.get("with", {}).items()}
        match step.get("uses", "").partition("@")[0]:
            case "":
                return [self._command(step, inputs)]
            case "actions/checkout":
                copytree(self._runner.branches[given.get("ref", "")], self._workspace)
            case "actions/setup-python":
                pass
            case "actions/upload-artifact":
                copytree(given["path"], self._runner.artifacts / given["name"], symlinks=True)
            case "actions/download-artifact":
                if (kept := self._runner.artifacts / given["name"]).exists():
                    copytree(kept, given["path"], symlinks=True)
                elif not step.get("continue-on-error"):
                    return [subprocess.CompletedProcess("download", 1, "", "no such artifact")]
            case local:
                action = YAML(typ="safe").load(self._workspace / local / "action.yml")
                defaults = {key: each["default"] for key, each in action["inputs"].items()}
                return self.steps(action["runs"]["steps"], defaults | given)
        return []

    def _command(self, step: Any, inputs: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        own = {key: self._filled(text, inputs) for key, text in step.get("env", {}).items()}
        lines = self._files["GITHUB_ENV"].read_text().splitlines()
        environment = {
            **self._runner.environment,
            **{name: str(file) for name, file in self._files.items()},
            "RUNNER_TEMP": str(self._temporary),
            **dict(line.split("=", 1) for line in lines),
            **own,
        }
        added = reversed(self._files["GITHUB_PATH"].read_text().splitlines())
        environment["PATH"] = ":".join([*added, environment["PATH"]])
        done = subprocess.run(
            [*BASH, step["run"]],
            cwd=self._workspace / self._filled(step.get("working-directory", "."), inputs),
            env=environment,
            capture_output=True,
            text=True,
        )
        for line in self._files["GITHUB_OUTPUT"].read_text().splitlines():
            key, _, value = line.partition("=")
            self._outputs[f"steps.{step.get('id')}.outputs.{key}"] = value
        return done

    def _filled(self, text: str, inputs: Mapping[str, str]) -> str:
        values = {
            **self._runner.values,
            **self._outputs,
            **{f"inputs.{key}": value for key, value in inputs.items()},
        }
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: values.get(found[1], ""), text)
