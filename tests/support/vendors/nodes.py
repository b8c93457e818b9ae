"""Stub packages of what runs containers: Docker, containerd, the ECS agent, the EKS node."""

from vendors.package import Contents, File, Recipe, bare, program
from vendors.services import daemon, unit

# Like the real one, it does not start with settings that are no JSON or name no known runtime.
_DOCKERD_CHECK = """\
python3 - <<'END'
import json, pathlib, shutil, sys
path = pathlib.Path("/etc/docker/daemon.json")
settings = json.loads(path.read_text()) if path.exists() else {}
runtimes = settings.get("runtimes", {})
default = settings.get("default-runtime", "runc")
if default != "runc" and default not in runtimes:
    sys.exit(f"default runtime {default} is not among {sorted(runtimes)}")
for name, runtime in runtimes.items():
    if not shutil.which(runtime["path"]):
        sys.exit(f"runtime {name}: there is no {runtime['path']}")
END
"""

_DOCKER = """\
import json
import sys
from pathlib import Path

path = Path("/etc/docker/daemon.json")
settings = json.loads(path.read_text()) if path.exists() else {}
match sys.argv[1:]:
    case ["--version" | "-v"]:
        print("Docker version @VERSION@, build stub")
    case ["version", *_]:
        print("@VERSION@")
    case ["info", *rest] if any("DefaultRuntime" in part for part in rest):
        print(settings.get("default-runtime", "runc"))
    case ["info", *_]:
        print("Server Version: @VERSION@")
        print("Default Runtime:", settings.get("default-runtime", "runc"))
    case unknown:
        sys.exit(f"docker: the stub does not know {unknown}")
"""


def _engine(version: str) -> Contents:
    number = bare(version)
    return Contents(
        files={
            "/usr/bin/dockerd": daemon(
                f"Docker version {number}, build stub", check=_DOCKERD_CHECK
            ),
            "/usr/lib/systemd/system/docker.service": unit(
                "Docker Application Container Engine",
                "/usr/bin/dockerd",
                after="network-online.target containerd.service",
            ),
        },
        after_install="getent group docker >/dev/null || groupadd --system docker",
    )


def _client(version: str) -> Contents:
    return Contents(
        files={
            "/usr/bin/docker": program(
                _DOCKER.replace("@VERSION@", bare(version)), interpreter="/usr/bin/python3"
            )
        }
    )


def _both(version: str) -> Contents:
    engine, client = _engine(version), _client(version)
    return Contents(files={**engine.files, **client.files}, after_install=engine.after_install)


def _containerd(version: str) -> Contents:
    number = bare(version)
    return Contents(
        files={
            "/usr/bin/containerd": daemon(f"containerd stub {number} stub"),
            "/usr/bin/ctr": program(f"echo 'ctr stub {number}'\n"),
            "/usr/lib/systemd/system/containerd.service": unit(
                "containerd container runtime", "/usr/bin/containerd", after="network.target"
            ),
        }
    )


def _runc(version: str) -> Contents:
    return Contents(files={"/usr/sbin/runc": program(f"echo 'runc version {bare(version)}'\n")})


def ecs_agent(version: str) -> Contents:
    """ecs-init: the service that runs the ECS agent in a container."""
    return Contents(
        files={
            "/usr/libexec/amazon-ecs-init": daemon(
                f"amazon-ecs-init version {bare(version)}", check="[ -e /etc/ecs/ecs.config ]"
            ),
            "/usr/lib/systemd/system/ecs.service": unit(
                "Amazon Elastic Container Service - container agent",
                "/usr/libexec/amazon-ecs-init start",
                after="docker.service cloud-final.service",
                requires="docker.service",
                more="EnvironmentFile=-/var/lib/ecs/ecs.config\nEnvironmentFile=-/etc/ecs/ecs.config",
            ),
            "/etc/ecs/ecs.config": File(text=""),
        },
        folders=("/var/lib/ecs/data", "/var/log/ecs"),
    )


def kubelet(version: str) -> Contents:
    """The kubelet's program and unit; who configures it enables it."""
    return Contents(
        files={
            "/usr/bin/kubelet": daemon(
                f"Kubernetes v{bare(version)}", check="[ -e /etc/kubernetes/kubelet/config.json ]"
            ),
            "/etc/systemd/system/kubelet.service": unit(
                "Kubernetes Kubelet", "/usr/bin/kubelet", after="containerd.service"
            ),
        },
        folders=("/etc/kubernetes/kubelet",),
    )


def canonical_kubelet(version: str) -> Contents:
    """What Canonical's EKS image has: the kubelet of a snap, and a script that configures it."""
    return Contents(
        files={
            "/snap/bin/kubelet-eks.daemon": daemon(f"Kubernetes v{bare(version)}"),
            "/etc/systemd/system/snap.kubelet-eks.daemon.service": unit(
                "Service for snap application kubelet-eks.daemon",
                "/snap/bin/kubelet-eks.daemon",
                after="containerd.service",
            ),
            "/etc/eks/bootstrap.sh": program("systemctl enable --now snap.kubelet-eks.daemon\n"),
        }
    )


def nodeadm(version: str) -> Contents:
    """The program that configures an EKS node at boot, with its two units."""
    return Contents(
        files={
            "/usr/bin/nodeadm": program(
                "set -euo pipefail\n"
                f"case ${{1:-}} in version|--version) echo '{bare(version)}'; exit 0;; esac\n"
                # `init --skip run` writes the configuration, `init --skip config` starts the rest.
                "case $3 in\n"
                "run) echo '{}' > /etc/kubernetes/kubelet/config.json ;;\n"
                "config) systemctl start containerd kubelet ;;\n"
                "esac\n"
            ),
            "/etc/systemd/system/nodeadm-config.service": unit(
                "EKS Nodeadm Config", "/usr/bin/nodeadm init --skip run", kind="oneshot"
            ),
            "/etc/systemd/system/nodeadm-run.service": unit(
                "EKS Nodeadm Run",
                "/usr/bin/nodeadm init --skip config",
                kind="oneshot",
                after="nodeadm-config.service cloud-final.service",
            ),
        }
    )


NODES: dict[str, Recipe] = {
    "docker-ce": _engine,
    "docker-ce-cli": _client,
    "docker.io": _both,
    "docker": _both,
    "containerd": _containerd,
    "containerd.io": _containerd,
    "runc": _runc,
    "ecs-init": ecs_agent,
    "amazon-ecs-init": ecs_agent,
}
