"""Self-test: each pinned component is there, at its version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from trainshed_node.recipe import Component, Recipe
from trainshed_node.results import FAILED, OK, Result
from trainshed_node.system import run

# What an archive of each name installs: a package of the distribution's kind, a command that prints
# its version, or a file that does.
_PACKAGE_OF_ARCHIVE = {
    "ssm-agent": "amazon-ssm-agent",
    "cloudwatch-agent": "amazon-cloudwatch-agent",
    "ecs-init": "amazon-ecs-init",
    "mountpoint-s3": "mount-s3",
    "nvidia-dcgm-exporter": "datacenter-gpu-manager-exporter",
}
_COMMAND_OF_ARCHIVE = {"aws-cli": (("aws", "--version"), r"aws-cli/(\S+)")}
_FILE_OF_ARCHIVE = {
    "efa-installer": (
        Path("/opt/amazon/efa_installed_packages"),
        r"EFA installer version:\s*(\S+)",
    )
}


def check_components(recipe: Recipe) -> Iterator[Result]:
    """Yield a result for each component."""
    for component in recipe.components.values():
        if component.packages:
            yield _packages(component, recipe.base)
        else:
            yield _archive(component, recipe.base)


def _packages(component: Component, base: str) -> Result:
    wrong = []
    for package, expected in component.packages.items():
        found = installed_versions(package, base)
        if not any(_matches(version, expected) for version in found):
            wrong.append(f"{package} is {' and '.join(found) or 'not installed'}, not {expected}")
    return Result(
        name=component.name,
        version="" if wrong else component.version,
        expected=component.version,
        state=FAILED if wrong else OK,
        detail="; ".join(wrong),
    )


def _archive(component: Component, base: str) -> Result:
    version, detail = _archive_version(component.name, base)
    # A package built from the archive adds its own revision: 1.107.0-1.
    same = version in (component.version, f"{component.version}-1")
    if same:
        return Result(component.name, component.version, component.version, OK)
    if version:
        detail = f"{version} is not {component.version}"
    return Result(component.name, version, component.version, FAILED, detail)


def _archive_version(name: str, base: str) -> tuple[str, str]:
    """The version of what an archive installed, or why that is not known."""
    if name in _PACKAGE_OF_ARCHIVE:
        package = _PACKAGE_OF_ARCHIVE[name]
        found = installed_versions(package, base)
        return (found[0], "") if found else ("", f"{package} is not installed")
    if name in _COMMAND_OF_ARCHIVE:
        command, pattern = _COMMAND_OF_ARCHIVE[name]
        done = run(*command)
        match = re.search(pattern, done.output + done.errors) if done.ok else None
        return (match[1], "") if match else ("", f"{' '.join(command)}: {done.last_line}")
    if name in _FILE_OF_ARCHIVE:
        path, pattern = _FILE_OF_ARCHIVE[name]
        match = re.search(pattern, path.read_text(encoding="utf-8")) if path.exists() else None
        return (match[1], "") if match else ("", f"{path} does not name its version")
    return "", "the self-test does not know what this archive installs; add it there"


def installed_versions(package: str, base: str) -> list[str]:
    """Return the installed versions of a package; several for kernels, none when it is absent.

    Args:
        package: name.
        base: the distribution, which says who knows.
    """
    if base.startswith("ubuntu"):
        done = run("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Version}\\n", package)
        rows = (line.split() for line in done.output.splitlines())
        return [row[1] for row in rows if len(row) == 2 and row[0][1] == "i"]
    done = run("rpm", "-q", "--queryformat", "%{EPOCHNUM}:%{VERSION}-%{RELEASE}\\n", package)
    return [line.removeprefix("0:") for line in done.output.splitlines()] if done.ok else []


def _matches(found: str, expected: str) -> bool:
    """Compare whole versions, or without the release where the pin leaves that out."""
    return expected in (found, found.partition(":")[2], found.rpartition("-")[0])
