"""What becomes of tests that this machine cannot run: a pytest plugin, and marks.

An ordinary user without the Debian packages of `make tools` skips them; CI runs as root what it
skipped before, and there a skip is a failure, wherever it is: each test runs somewhere.
"""

import os
import shutil
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import pytest

from embedded_aws.hosts.network import namespaces_unavailable

_LISTED = "TRAINSHED_SKIPPED_TESTS"
_Report = TypeVar("_Report", pytest.TestReport, pytest.CollectReport)


def _lack(programs: tuple[str, ...], root: str, networks: bool) -> str:
    if root and os.geteuid() != 0:
        return f"needs root, for instance by sudo: {root}"
    missing = ", ".join(name for name in programs if shutil.which(name) is None)
    if missing:
        return f"needs {missing}: run `make tools` as root on Debian or Ubuntu"
    return (networks and namespaces_unavailable()) or ""


def needs(*programs: str, root: str = "", networks: bool = False) -> pytest.MarkDecorator:
    """Mark tests as skipped where they lack something.

    Args:
        programs: that they need.
        root: why they need root; by default they do not.
        networks: hosts in them have networks of their own.
    """
    return pytest.mark.needs(*programs, root=root, networks=networks)


def unless(*programs: str, root: str = "", networks: bool = False) -> None:
    """Skip what uses a fixture where it lacks something; the arguments are as of `needs`."""
    if lack := _lack(programs, root, networks):
        pytest.skip(lack)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers", "needs(*programs, root, networks): skipped where these are not there"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that lacks something, before its fixtures."""
    for mark in item.iter_markers("needs"):
        if lack := _lack(mark.args, **mark.kwargs):
            raise pytest.skip.Exception(lack, _use_item_location=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that root skips in CI."""
    report = yield
    # pytest reports what is expected to fail as skipped.
    return report if hasattr(report, "wasxfail") else _failed_if_skipped(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a module that root skips in CI."""
    return _failed_if_skipped((yield))


def _failed_if_skipped(report: _Report) -> _Report:
    if report.skipped and os.geteuid() == 0 and os.environ.get("CI"):
        assert isinstance(report.longrepr, tuple)
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid}: in CI root skips nothing. {report.longrepr[2]}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the ids of skipped tests to the file that the environment names.

    Files of few tests come first: their tests take longest, and none of them should begin last.
    """
    if listed := os.environ.get(_LISTED):
        ids = [report.nodeid for report in terminalreporter.stats.get("skipped", [])]
        tests = Counter(_file(each) for each in ids)
        ids.sort(key=lambda each: tests[_file(each)])
        Path(listed).write_text("".join(f"{each}\n" for each in ids))


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]
