"""Self-test: containers get the accelerator's devices by the runtime that is for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainshed_image.documents import read_object
from trainshed_image.errors import ImageError
from trainshed_image.pins import Cell
from trainshed_image.results import FAILED, OK, Result, fact
from trainshed_image.system import has_command

_DOCKER = Path("/etc/docker/daemon.json")
_CONTAINERD = Path("/etc/containerd/config.toml")
# Neuron's devices are plain device nodes, which need none.
_RUNTIMES = {"habana": "habana", "nvidia": "nvidia"}


def check_runtimes(cell: Cell) -> Iterator[Result]:
    """Yield a result for the runtime of what runs containers, where there is one."""
    if cell.accelerator in _RUNTIMES and cell.orchestrator != "eks":
        yield _docker_runtime(_RUNTIMES[cell.accelerator])
    elif cell.accelerator == "nvidia":
        # nodeadm writes containerd's configuration at boot, and looks for this.
        yield fact(
            "containerd runtime",
            has_command("nvidia-container-runtime"),
            detail="there is no nvidia-container-runtime for nodeadm to find",
        )
    elif cell.accelerator == "habana":
        yield _containerd_runtime("habana")


def _docker_runtime(name: str) -> Result:
    try:
        settings = read_object(_DOCKER)
    except ImageError as error:
        return fact("docker runtime", False, detail=str(error))
    chosen = settings.get("default-runtime", "runc")
    if name not in settings.get("runtimes", {}):
        wrong = f"{_DOCKER} does not say what {name} is"
    else:
        wrong = "" if chosen == name else f"{_DOCKER} makes {chosen} the default"
    return Result("docker runtime", chosen, name, FAILED if wrong else OK, wrong)


def _containerd_runtime(name: str) -> Result:
    """Without a TOML parser in Python 3.9: the line itself."""
    written = _CONTAINERD.read_text(encoding="utf-8") if _CONTAINERD.exists() else ""
    return fact(
        "containerd runtime",
        f'default_runtime_name = "{name}"' in written,
        detail=f"{_CONTAINERD} does not make {name} the default",
    )
