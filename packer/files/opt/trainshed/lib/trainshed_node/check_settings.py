"""Self-test: locked memory, huge pages and the kernel's settings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from trainshed_node.pci import Card
from trainshed_node.recipe import Recipe
from trainshed_node.results import BAKE, FAILED, OK, Result, unchecked, verdict
from trainshed_node.system import run

_SYSCTL = Path("/etc/sysctl.d")
_LIMITS = Path("/etc/security/limits.d")
_HUGE_PAGES_RULES = Path("/etc/udev/rules.d/60-trainshed-huge-pages.rules")
_HUGE_PAGES_RULE = re.compile(
    r'ATTR\{vendor\}=="(?P<vendor>\w+)"(?:, ATTR\{device\}=="(?P<device>[\w*]+)")?'
    r"[^#]*?-ge (?P<pages>\d+)"
)
_UNLIMITED = ("unlimited", "infinity", "-1", str(2**64 - 1))


def check_settings(recipe: Recipe, stage: str) -> Iterator[Result]:
    """Yield results for the settings of the system."""
    yield _locked_memory()
    yield from _locked_memory_of_services(recipe)
    yield _huge_pages()
    for key, value in sorted(_own_sysctls().items()):
        yield _sysctl(key, value, stage)


def _locked_memory() -> Result:
    """EFA and the accelerators pin memory; each login must be allowed to."""
    kinds: set[str] = set()
    for path in sorted(_LIMITS.glob("*.conf")):
        for line in path.read_text(encoding="utf-8").splitlines():
            fields = line.partition("#")[0].split()
            if len(fields) == 4 and fields[0] == "*" and fields[2] == "memlock":
                unlimited = fields[3] in _UNLIMITED
                both = {"soft", "hard"} if fields[1] == "-" else {fields[1]}
                kinds = kinds | both if unlimited else kinds - both
    missing = sorted({"soft", "hard"} - kinds)
    return verdict("memlock", not missing, detail=f"{' and '.join(missing)} limit is not unlimited")


def _locked_memory_of_services(recipe: Recipe) -> Iterator[Result]:
    """Services are not logins; what runs containers hands its limits on to them."""
    runner = "containerd" if recipe.kubernetes else "docker"
    for name, arguments in (
        ("memlock of services", ("--property=DefaultLimitMEMLOCK",)),
        (f"memlock of {runner}", ("--property=LimitMEMLOCK", f"{runner}.service")),
    ):
        limit = run("systemctl", "show", "--value", *arguments).output.strip()
        yield verdict(name, limit in _UNLIMITED, detail=f"is {limit or 'unknown'}, not unlimited")


def _own_sysctls() -> dict[str, str]:
    """What the files of the AMI set; a later file wins, as for systemd-sysctl."""
    found = {}
    for path in sorted(_SYSCTL.glob("*trainshed*.conf")):
        for line in path.read_text(encoding="utf-8").splitlines():
            key, equals, value = line.partition("=")
            if equals and not key.lstrip().startswith(("#", ";")):
                found[key.strip().lstrip("-").replace("/", ".")] = " ".join(value.split())
    return found


def _sysctl(key: str, expected: str, stage: str) -> Result:
    path = Path("/proc/sys") / key.replace(".", "/")
    if not path.exists():
        return unchecked(key, "this kernel does not have it", expected=expected)
    value = " ".join(path.read_text(encoding="utf-8").split())
    if value == expected:
        return Result(key, value, expected, OK)
    if os.statvfs("/proc/sys").f_flag & os.ST_RDONLY:
        return unchecked(key, "kernel settings are read-only in a container", expected=expected)
    if stage == BAKE:
        return unchecked(key, f"is {value} until the next boot", expected=expected)
    return Result(key, value, expected, FAILED, f"is {value}, not {expected}")


def _huge_pages() -> Result:
    """The rules of the AMI reserve them where a card is that needs them."""
    if not _HUGE_PAGES_RULES.exists():
        return verdict("huge pages", False, detail=f"there is no {_HUGE_PAGES_RULES}")
    needed = [
        int(rule["pages"])
        for rule in _HUGE_PAGES_RULE.finditer(_HUGE_PAGES_RULES.read_text(encoding="utf-8"))
        if Card(rule["vendor"], rule["device"] or "*").count()
    ]
    if not needed:
        return unchecked("huge pages", "this machine has no card that needs them")
    pages = max(needed)
    reserved = int(Path("/proc/sys/vm/nr_hugepages").read_text(encoding="ascii"))
    if reserved >= pages:
        return Result("huge pages", str(reserved), str(pages), OK)
    why = f"{reserved} of {pages}: memory was taken before they were reserved"
    return Result("huge pages", str(reserved), str(pages), FAILED, why)
