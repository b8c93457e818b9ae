"""`make test-for P=...`: the tests that depend on a path."""

import subprocess
import sys
from pathlib import Path

import pytest
import tests_for

ROOT = Path(__file__).parents[2]


def found(path: str) -> set[str]:
    return {str(file.relative_to(ROOT)) for file in tests_for.tests_for(ROOT / path)}


@pytest.mark.parametrize(
    ("path", "test"),
    [
        pytest.param("src/trainshed/lint", "tests/lint/test_rules.py", id="import"),
        pytest.param("src/trainshed/lint/judging.py", "tests/cli/test_lint.py", id="command"),
        pytest.param("src/trainshed/checks/rules", "tests/checks/test_checks.py", id="by-name"),
        pytest.param(
            "stacks/trainshed_stacks",
            "tests/offline/test_broken_clusters.py",
            id="fixture-of-a-fixture",
        ),
        pytest.param(
            "src/trainshed/pins/recipe.py", "tests/packer/test_repositories.py", id="helper"
        ),
        pytest.param("src/trainshed/spec", "tests/test_interfaces.py", id="plug-in"),
        pytest.param("stacks/trainshed_stacks", "tests/cli/test_app.py", id="app"),
        pytest.param(
            "embedded-aws/src/embedded_aws/ec2",
            "embedded-aws/tests/batch/test_job_environment.py",
            id="service",
        ),
        pytest.param(
            "embedded-aws/src/embedded_aws/gateway.py",
            "embedded-aws/tests/batch/test_job_environment.py",
            id="server",
        ),
    ],
)
def test_a_test_depends_on_what_it_reaches(path: str, test: str) -> None:
    assert test in found(path)


def test_others_do_not() -> None:
    assert "tests/plan/test_plan.py" not in found("src/trainshed/lint")


def test_what_is_no_module_is_refused() -> None:
    script = ROOT / "scripts/tests_for.py"

    done = subprocess.run(
        [sys.executable, script, "README.md"], cwd=ROOT, capture_output=True, text=True
    )

    assert done.returncode == 1
    assert done.stderr.startswith("error: README.md is no module and no package of trainshed, ")
