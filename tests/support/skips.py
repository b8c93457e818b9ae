"""What becomes of tests that this machine cannot run.

An ordinary user without the Debian packages of `make tools` skips them; CI runs as root what it
skipped before, and there a skip is a failure: each test runs somewhere.
"""

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

_LISTED = "TRAINSHED_SKIPPED_TESTS"


def _lack(programs: tuple[str, ...], root: str) -> str:
    if root and os.geteuid() != 0:
        return f"needs root, for instance by sudo: {root}"
    missing = ", ".join(name for name in programs if shutil.which(name) is None)
    return missing and f"needs {missing}: run `make tools` as root on Debian or Ubuntu"


def needs(*programs: str, root: str = "") -> pytest.MarkDecorator:
    """Mark tests as skipped where a program is missing, or, given a reason, for all but root."""
    lack = _lack(programs, root)
    return pytest.mark.skipif(bool(lack), reason=lack)


def unless(*programs: str, root: str = "") -> None:
    """Skip what uses a fixture where a program is missing, or, given a reason, for all but root."""
    if lack := _lack(programs, root):
        pytest.skip(lack)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail what root skips in CI for lack of something."""
    report = yield
    if report.skipped and call.when == "setup" and os.geteuid() == 0 and os.environ.get("CI"):
        assert isinstance(report.longrepr, tuple)
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: in CI root skips nothing. {report.longrepr[2]}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the ids of skipped tests to the file that the environment names."""
    if listed := os.environ.get(_LISTED):
        skipped = terminalreporter.stats.get("skipped", [])
        Path(listed).write_text("".join(f"{report.nodeid}\n" for report in skipped))
