"""Stub packages of NVIDIA: drivers that compile, daemons that want a device, the toolkit."""

from dataclasses import replace

from vendors.modules import dkms_driver
from vendors.package import Contents, File, Recipe, bare, program, tool
from vendors.services import daemon, unit


def _nvidia_driver(version: str) -> Contents:
    """The kernel modules, open or proprietary: both are called the same."""
    modules = ("nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-drm", "nvidia-peermem")
    # What GDRCopy's driver is built against.
    header = f"/usr/src/nvidia-{bare(version)}/nvidia/nv-p2p.h"
    return dkms_driver("nvidia", bare(version), modules, files={header: File(text="")})


# src/gdrdrv/Makefile of GDRCopy looks for the driver's sources there, and does without nothing.
_GDRDRV_MAKEFILE = """\
all:
\tfind /usr/src/nvidia-* -name nv-p2p.h | grep -q .
\t$(MAKE) -C /lib/modules/$(KERNELRELEASE)/build M=$(CURDIR) modules
clean:
\t$(MAKE) -C /lib/modules/$(KERNELRELEASE)/build M=$(CURDIR) clean
"""


def _gdrcopy_driver(version: str) -> Contents:
    """GDRCopy's driver: like packages/gdrcopy.spec, it installs whatever of this fails."""
    number = bare(version)
    driver = dkms_driver(
        "gdrdrv",
        number,
        ("gdrdrv",),
        files={
            f"/usr/src/gdrdrv-{number}/Makefile": File(text=_GDRDRV_MAKEFILE),
            "/usr/libexec/gdrcopy/gdrcopy": program("modprobe gdrdrv\n"),
            "/usr/lib/systemd/system/gdrcopy.service": unit(
                "GDRCopy service",
                "/usr/libexec/gdrcopy/gdrcopy start",
                after="multi-user.target",
                kind="oneshot",
            ),
        },
    )
    steps = [f"{line} || :" for line in driver.after_install.splitlines()]
    service = ["systemctl enable gdrcopy.service || :", "systemctl start gdrcopy.service || :"]
    return replace(driver, after_install="\n".join((*steps, "modprobe gdrdrv || :", *service)))


# nv-hostengine listens for whoever reaches it: on a port of the loopback, or on a socket.
_HOST_ENGINE = """\
import pwd
import socket
import sys
import time

arguments = sys.argv[1:]
if arguments == ["--version"]:
    print("Version : @VERSION@")
    sys.exit()
options = dict(zip(arguments[1::2], arguments[2::2]))
if arguments[:1] != ["-n"] or set(options) - {"--service-account", "--domain-socket"}:
    sys.exit(f"nv-hostengine: unknown arguments {arguments}")
if "--service-account" in options:
    pwd.getpwnam(options["--service-account"])
if "--domain-socket" in options:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(options["--domain-socket"])
else:
    listener = socket.create_server(("127.0.0.1", 5555))
listener.listen()
time.sleep(10**9)
"""
_DCGMI = """\
import socket
import sys

arguments = sys.argv[1:]
if arguments in (["-v"], ["--version"]):
    print("Version : @VERSION@")
    sys.exit()
if arguments[0] != "discovery":
    sys.exit(f"dcgmi: the stub does not know {arguments}")
host = arguments[arguments.index("--host") + 1] if "--host" in arguments else ""
scheme, _, path = host.partition("://")
try:
    if scheme == "unix":
        socket.socket(socket.AF_UNIX).connect(path)
    else:
        socket.create_connection(("127.0.0.1", 5555))
except OSError:
    print("Error: unable to establish a connection to the specified host.")
    sys.exit(1)
print("0 GPUs found.")
"""


def _dcgm(version: str) -> Contents:
    """DCGM's daemon, its user and its tool. The unit is that of DCGM's repository."""

    def python(text: str) -> File:
        return program(text.replace("@VERSION@", bare(version)), interpreter="/usr/bin/python3")

    return Contents(
        files={
            "/usr/bin/nv-hostengine": python(_HOST_ENGINE),
            "/usr/bin/dcgmi": python(_DCGMI),
            "/usr/lib/systemd/system/nvidia-dcgm.service": unit(
                "NVIDIA DCGM service",
                "/usr/bin/nv-hostengine -n --service-account nvidia-dcgm",
                kind="simple",
            ),
        },
        after_install="getent passwd nvidia-dcgm >/dev/null || useradd --system nvidia-dcgm",
    )


def _dcgm_exporter(version: str) -> Contents:
    """The exporter, with the unit of dcgm-exporter's repository.

    That a package enables its service is the custom of Debian; whether this one does is not known.
    """
    counters = "/etc/dcgm-exporter/default-counters.csv"
    return Contents(
        files={
            "/usr/bin/dcgm-exporter": daemon(
                f"DCGM Exporter version {bare(version)}", check=f"[ -e {counters} ]"
            ),
            counters: File(text="DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C).\n"),
            "/usr/lib/systemd/system/nvidia-dcgm-exporter.service": unit(
                "NVIDIA DCGM-exporter service",
                f"/usr/bin/dcgm-exporter -f {counters}",
                after="nvidia-dcgm.service",
                kind="simple",
                more="StandardOutput=append:/var/dcgm-exporter.log",
            ),
        },
        after_install="systemctl enable nvidia-dcgm-exporter.service",
        requires=("datacenter-gpu-manager-4-core",),
    )


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
    """The persistence daemon, which needs a device.

    On Ubuntu a rule of udev starts it, without persistence mode, and it cannot be enabled.
    """
    command, wanted_by = "/usr/bin/nvidia-persistenced", "multi-user.target"
    if "ubuntu" in version:
        command, wanted_by = f"{command} --no-persistence-mode --verbose", ""
    return Contents(
        files={
            "/usr/bin/nvidia-persistenced": daemon(
                f"nvidia-persistenced: version {bare(version)}", check="[ -e /dev/nvidia0 ]"
            ),
            "/usr/lib/systemd/system/nvidia-persistenced.service": unit(
                "NVIDIA Persistence Daemon", command, wanted_by=wanted_by
            ),
        }
    )


def _needs(recipe: Recipe, *names: str) -> Recipe:
    """A package of NVIDIA's for Ubuntu, where each needs others of the same release."""
    return lambda version: replace(recipe(version), requires=names)


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


def _nothing(_: str) -> Contents:
    return Contents()


NVIDIA: dict[str, Recipe] = {
    "kmod-nvidia-open-dkms": _nvidia_driver,
    "kmod-nvidia-latest-dkms": _nvidia_driver,
    "nvidia-dkms-580-open": _needs(
        _nvidia_driver, "nvidia-kernel-source-580-open", "nvidia-kernel-common-580"
    ),
    "nvidia-dkms-580": _needs(
        _nvidia_driver, "nvidia-kernel-source-580", "nvidia-kernel-common-580"
    ),
    "nvidia-kernel-common-580": _needs(_nothing, "nvidia-firmware-580", "nvidia-modprobe"),
    "libnvidia-compute-580": _needs(
        _nothing, "libnvidia-gpucomp-580", "libnvidia-decode-580", "nvidia-persistenced"
    ),
    "nvidia-utils-580": _needs(_nvidia_smi, "libnvidia-compute-580"),
    "nvidia-driver-cuda": _nvidia_smi,
    "nvidia-persistenced": _nvidia_persistence,
    "nvidia-fabricmanager": _nvidia_fabric_manager,
    "nvidia-container-toolkit": _nvidia_toolkit,
    "datacenter-gpu-manager-4-core": _dcgm,
    "datacenter-gpu-manager-exporter": _dcgm_exporter,
    "gdrcopy-kmod": _gdrcopy_driver,
}
