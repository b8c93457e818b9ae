"""Self-test: the pinned kernel runs, stays, and has all its modules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainshed_node.dkms import modules
from trainshed_node.lustre_efa import KEFALND
from trainshed_node.recipe import Recipe
from trainshed_node.results import FAILED, OK, Result, unchecked, verdict
from trainshed_node.system import run


def check_kernel(recipe: Recipe) -> Iterator[Result]:
    """Yield results for the kernel, its hold, its dkms modules and the Lustre module."""
    running = run("uname", "-r").output.strip()
    yield Result(
        "running kernel",
        running,
        recipe.kernel,
        OK if running == recipe.kernel else FAILED,
        "" if running == recipe.kernel else "another kernel was booted",
    )
    yield _hold(recipe)
    yield from _dkms(recipe.kernel)
    yield _lustre(recipe.kernel)
    yield _lustre_over_efa(recipe.kernel)


def _hold(recipe: Recipe) -> Result:
    """An update of the kernel would leave the drivers behind."""
    if "kernel" not in recipe.components:
        return unchecked("kernel hold", "no kernel packages are pinned")
    packages = recipe.components["kernel"].packages
    if recipe.base.startswith("ubuntu"):
        held = set(run("apt-mark", "showhold").output.split())
        loose = [package for package in packages if package not in held]
    else:
        locked = run("dnf", "versionlock", "list", timeout=120).output
        # NAME-EPOCH:VERSION-RELEASE.*
        held = set(re.findall(r"^(\S+?)-\d+:", locked, re.MULTILINE))
        loose = [package for package in packages if package not in held]
    return verdict("kernel hold", not loose, detail=f"not held: {', '.join(loose)}")


def _dkms(kernel: str) -> Iterator[Result]:
    for module in modules(kernel):
        yield verdict(
            f"dkms {module.name}",
            module.state == "installed",
            version=module.version,
            detail=f"{module.state} for {kernel}",
        )


def _lustre(kernel: str) -> Result:
    done = run("modinfo", "-k", kernel, "lustre")
    if not done.ok:
        return verdict("lustre module", False, detail=f"none for {kernel}: {done.last_line}")
    versions = [line.split()[1] for line in done.output.splitlines() if line.startswith("version:")]
    return verdict("lustre module", True, version=versions[0] if versions else "")


def _lustre_over_efa(kernel: str) -> Result:
    """LNet's driver for EFA, which few clusters use: without it nothing fails."""
    done = run("modinfo", "--field", "version", "-k", kernel, KEFALND)
    if not done.ok:
        return unchecked(
            "lustre over efa", f"no module {KEFALND}: nodes with storage.lustre.efa refuse to boot"
        )
    return verdict("lustre over efa", True, version=done.output.strip())
