"""Stub packages of NVIDIA: drivers that compile, daemons that want a device, the toolkit."""

from vendors.modules import dkms_driver
from vendors.package import Contents, Recipe, bare, program, tool
from vendors.services import daemon, unit


def _nvidia_driver(version: str) -> Contents:
    """The kernel modules, open or proprietary: both are called the same."""
    modules = ("nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-drm", "nvidia-peermem")
    return dkms_driver("nvidia", bare(version), modules)


def _nvidia_smi(version: str) -> Contents:
    """nvidia-smi, which finds no driver to talk to, as on a build instance without a GPU."""
    return Contents(
        files={
            "/usr/bin/nvidia-smi": tool(
                f"NVIDIA-SMI version  : {bare(version)}",
                otherwise="NVIDIA-SMI could not communicate with the NVIDIA driver",
                code=9,
            )
        }
    )


def _nvidia_persistence(version: str) -> Contents:
    """The persistence daemon, which needs a device."""
    return Contents(
        files={
            "/usr/bin/nvidia-persistenced": daemon(
                f"nvidia-persistenced: version {bare(version)}", check="[ -e /dev/nvidia0 ]"
            ),
            "/usr/lib/systemd/system/nvidia-persistenced.service": unit(
                "NVIDIA Persistence Daemon", "/usr/bin/nvidia-persistenced"
            ),
        }
    )


def _nvidia_fabric_manager(version: str) -> Contents:
    """The fabric manager, which needs an NVSwitch."""
    return Contents(
        files={
            "/usr/bin/nv-fabricmanager": daemon(
                f"Fabric Manager version is : {bare(version)}",
                check="[ -e /dev/nvidia-nvswitchctl ]",
            ),
            "/usr/lib/systemd/system/nvidia-fabricmanager.service": unit(
                "NVIDIA fabric manager service", "/usr/bin/nv-fabricmanager"
            ),
        }
    )


# `nvidia-ctk runtime configure` for Docker and containerd, as far as their files show it.
_NVIDIA_CTK = """\
import json
import sys
from pathlib import Path

arguments = sys.argv[1:]
if arguments == ["--version"]:
    print("NVIDIA Container Toolkit CLI version @VERSION@")
    sys.exit()
if arguments[:2] == ["cdi", "generate"]:
    sys.exit("nvidia-ctk: no device found")
if arguments[:2] != ["runtime", "configure"]:
    sys.exit(f"nvidia-ctk: unknown command {arguments}")
options = dict(part.lstrip("-").partition("=")[::2] for part in arguments[2:])
runtime = options["runtime"]
default = options.get("set-as-default", options.get("nvidia-set-as-default")) not in (None, "false")
if runtime == "docker":
    path = Path(options.get("config", "/etc/docker/daemon.json"))
    settings = json.loads(path.read_text()) if path.exists() else {}
    settings.setdefault("runtimes", {})["nvidia"] = {"args": [], "path": "nvidia-container-runtime"}
    if default:
        settings["default-runtime"] = "nvidia"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings, indent=4))
elif runtime == "containerd":
    path = Path(options.get("config", "/etc/containerd/config.toml"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write("# nvidia runtime\\n")
else:
    sys.exit(f"nvidia-ctk: unknown runtime {runtime}")
"""


def _nvidia_toolkit(version: str) -> Contents:
    return Contents(
        files={
            "/usr/bin/nvidia-ctk": program(
                _NVIDIA_CTK.replace("@VERSION@", bare(version)), interpreter="/usr/bin/python3"
            ),
            "/usr/bin/nvidia-container-runtime": program('exec runc "$@"\n'),
            "/usr/bin/nvidia-container-runtime-hook": program("exit 0\n"),
        }
    )


NVIDIA: dict[str, Recipe] = {
    "kmod-nvidia-open-dkms": _nvidia_driver,
    "kmod-nvidia-latest-dkms": _nvidia_driver,
    "nvidia-driver-cuda": _nvidia_smi,
    "nvidia-persistenced": _nvidia_persistence,
    "nvidia-fabricmanager": _nvidia_fabric_manager,
    "nvidia-container-toolkit": _nvidia_toolkit,
}
