"""Whether each kernel module that dkms builds is there for the kernel of the AMI."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainshed_node.system import run

_SOURCES = Path("/usr/src")
# `efa/2.13.0, 6.8.0-1063-aws, x86_64: installed`; before dkms 3, `efa, 2.13.0, 6.8.0...`.
_LINE = re.compile(
    r"^(?P<module>[^/,]+)[/,]\s*(?P<version>[^,:]+)(?:,\s*(?P<kernel>[^,:]+))?[^:]*:"
)
_SETTING = re.compile(r'^\s*(PACKAGE_NAME|PACKAGE_VERSION)=["\']?([^"\'\s#]+)', re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """One source of kernel modules.

    Attributes:
        name: as dkms calls it, for instance `habanalabs`.
        version: of the source.
        state: what dkms says about it for the kernel: `installed`, `built`, `added` or `missing`.
    """

    name: str
    version: str
    state: str


def modules(kernel: str) -> Iterator[Module]:
    """Yield every module whose source is on this machine, with its state for a kernel.

    dkms does not list a source that was never added, so the sources themselves are looked at, too.
    """
    states: dict[tuple[str, str], str] = {}
    for line in run("dkms", "status").output.splitlines():
        found = _LINE.match(line)
        if not found:
            continue
        module = (found["module"].strip(), found["version"].strip())
        states.setdefault(module, "missing")
        if (found["kernel"] or "").strip() == kernel:
            states[module] = line[found.end() :].split()[0]
    for module in _sources():
        states.setdefault(module, "missing")
    for (name, version), state in sorted(states.items()):
        yield Module(name=name, version=version, state=state)


def _sources() -> Iterator[tuple[str, str]]:
    for configuration in sorted(_SOURCES.glob("*/dkms.conf")):
        settings = dict(
            _SETTING.findall(configuration.read_text(encoding="utf-8", errors="replace"))
        )
        if "PACKAGE_NAME" in settings and "PACKAGE_VERSION" in settings:
            yield settings["PACKAGE_NAME"], settings["PACKAGE_VERSION"]
