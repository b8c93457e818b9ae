"""Self-test: containers get the accelerator's devices by the runtime that is for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainshed_node.documents import read_object
from trainshed_node.errors import NodeError
from trainshed_node.recipe import Recipe
from trainshed_node.results import FAILED, OK, Result, verdict
from trainshed_node.system import has_command

_DOCKER = Path("/etc/docker/daemon.json")
_CONTAINERD = Path("/etc/containerd/config.toml")
_CONTAINERD_TEMPLATE = Path("/usr/local/share/eks/containerd-config.toml")
# Canonical's bootstrap writes it, as it writes containerd's configuration.
_JOINED = Path("/etc/systemd/system/containerd.service.d/10-compat-symlink.conf")
_ECS_OF_AMI = Path("/var/lib/ecs/ecs.config")
_ECS_OF_USERS = Path("/etc/ecs/ecs.config")
_GPU_SUPPORT = "ECS_ENABLE_GPU_SUPPORT=true"
# Neuron's devices are plain device nodes, which need none.
_RUNTIMES = {"habana": "habana", "nvidia": "nvidia"}


def check_runtimes(recipe: Recipe) -> Iterator[Result]:
    """Yield a result for the runtime of what runs containers, where there is one."""
    if recipe.accelerator in _RUNTIMES and not recipe.kubernetes:
        yield _docker_runtime(_RUNTIMES[recipe.accelerator])
    elif recipe.accelerator in _RUNTIMES and recipe.base.startswith("ubuntu"):
        yield _containerd_runtime(_RUNTIMES[recipe.accelerator])
    elif recipe.accelerator in _RUNTIMES:
        # nodeadm writes containerd's configuration at boot, and looks for this.
        yield verdict(
            "containerd runtime",
            has_command("nvidia-container-runtime"),
            detail="there is no nvidia-container-runtime for nodeadm to find",
        )
    if (recipe.accelerator, recipe.agent) == ("nvidia", "ecs"):
        yield _gpu_support()


def _docker_runtime(name: str) -> Result:
    try:
        settings = read_object(_DOCKER)
    except NodeError as error:
        return verdict("docker runtime", False, detail=str(error))
    chosen = settings.get("default-runtime", "runc")
    if name not in settings.get("runtimes", {}):
        wrong = f"{_DOCKER} does not say what {name} is"
    else:
        wrong = "" if chosen == name else f"{_DOCKER} makes {chosen} the default"
    return Result("docker runtime", chosen, name, FAILED if wrong else OK, wrong)


def _gpu_support() -> Result:
    """ecs-init waits for the devices only where the AMI's own file asks for GPUs."""
    own, users = (_lines(path) for path in (_ECS_OF_AMI, _ECS_OF_USERS))
    wrong = ""
    if _GPU_SUPPORT not in own:
        wrong = f"{_ECS_OF_AMI} has no {_GPU_SUPPORT}"
    elif any(line.startswith("ECS_ENABLE_GPU_SUPPORT=") for line in users):
        wrong = f"{_ECS_OF_USERS} overrides {_GPU_SUPPORT} of {_ECS_OF_AMI}"
    return verdict("ecs gpu support", not wrong, detail=wrong)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _containerd_runtime(name: str) -> Result:
    """Without a TOML parser in Python 3.9: the line itself.

    The configuration is written from the template when the node joins a cluster.
    """
    joined = _JOINED.exists()
    path = _CONTAINERD if joined else _CONTAINERD_TEMPLATE
    return verdict(
        "containerd runtime",
        f'default_runtime_name = "{name}"' in [line.strip() for line in _lines(path)],
        detail=f"{path} does not make {name} the default",
    )
