"""Marks for what a test costs, put on by what it and its fixtures call: a pytest plugin.

`synth` synthesises with CDK, `server` uses an embedded AWS of its own process, and `root` needs
root. Tests that do so only in processes of their own have the mark in their file.
"""

import sys
from collections.abc import Iterator
from functools import cache
from types import FunctionType
from typing import Any

import job_bench
import pytest

from embedded_aws.lifecycle import Project
from embedded_aws.process import start

_FIXTURES = {
    "server": {"embedded_aws", "_private_aws", "guests"},
    "synth": {"synthesise_anew"},
    "root": {"namespaces_aws", "guests"},
}
_STARTERS = (job_bench, job_bench.job_aws, Project, start)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks."""
    for name, what in {
        "synth": "synthesises with CDK",
        "server": "uses a server of the embedded AWS",
        "root": "needs root, and is skipped for others",
    }.items():
        config.addinivalue_line("markers", f"{name}: {what}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the marks on; before tests are selected by them."""
    for item in items:
        if isinstance(item, pytest.Function):
            for cost in sorted(set(_costs(item))):
                item.add_marker(cost)


def _costs(item: pytest.Function) -> Iterator[str]:
    fixtures = item._fixtureinfo.name2fixturedefs
    for cost, names in _FIXTURES.items():
        if names & fixtures.keys():
            yield cost
    functions = (each.func for found in fixtures.values() for each in found)
    for function in (item.function, *functions):
        yield from _called(function)
    if any(mark.kwargs["root"] for mark in item.iter_markers("needs")):
        yield "root"


@cache
def _called(function: Any) -> frozenset[str]:
    """Return the costs of what a function calls by a name of its module."""
    if not isinstance(function, FunctionType):
        return frozenset()
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    costs = set()
    if any(each is starter for each in named for starter in _STARTERS):
        costs.add("server")
    # Loaded by the tests that use it, because loading it takes a second.
    cdk = sys.modules.get("aws_cdk")
    if cdk and any(each is cdk for each in named):
        costs.add("synth")
    return frozenset(costs)
