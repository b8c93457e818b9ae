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


# What LoadEnvVars of ecs-init/docker/docker.go makes of the two files: first the image's own, where
# GPU support counts only with devices, then the one that user data appends to; the last value wins.
_AGENT_SETTINGS = """\
[ -e /etc/ecs/ecs.config ]
python3 - <<'END'
from pathlib import Path

def settings(path):
    lines = Path(path).read_text().splitlines() if Path(path).exists() else []
    return dict(line.strip().split("=", 1) for line in lines if "=" in line)

own = settings("/var/lib/ecs/ecs.config")
if not list(Path("/dev").glob("nvidia*")):
    own.pop("ECS_ENABLE_GPU_SUPPORT", None)
effective = own | settings("/etc/ecs/ecs.config")
text = "".join(f"{name}={value}\\n" for name, value in sorted(effective.items()))
Path("/run/ecs-agent.env").write_text(text)
END
"""


def ecs_agent(version: str) -> Contents:
    """ecs-init: the service that runs the ECS agent in a container.

    The settings that the agent's container gets are in /run/ecs-agent.env.
    """
    return Contents(
        files={
            "/usr/libexec/amazon-ecs-init": daemon(
                f"amazon-ecs-init version {bare(version)}", check=_AGENT_SETTINGS
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


# Before it is filled in. The names are those of the bootstrap script in Canonical's image.
_CONTAINERD_TEMPLATE = """\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "SANDBOX_IMAGE"

[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/opt/cni/bin"
conf_dir = "/etc/cni/net.d"
"""
# Of each type, the pods that a node takes; Gaudi's is not there, and left EC2 in July 2026.
_MAX_PODS = "# Pods by instance type\nm6i.xlarge 58\ntrn1.32xlarge 247\n"
# What Canonical's script does with its arguments and to a node, in its order: a type that is not in
# the file of pods ends it; the kubelet is stopped, containerd's configuration is written from the
# template, the kubelet is refreshed, set to a cgroup driver and started. Inferred: since 24.04 that
# is systemd's (canonical/ubuntu-cloud-docs#389). A guest has no metadata service: it is a dl1.
_CANONICAL_BOOTSTRAP = """\
set -euo pipefail
positional=()
while (($#)); do
  case $1 in
    -h|--help) exit 1 ;;
    --apiserver-endpoint) endpoint=$2; shift ;;
    --b64-cluster-ca) authority=$2; shift ;;
    --kubelet-extra-args) arguments=$2; shift ;;
    --use-max-pods|--dns-cluster-ip|--ip-family|--container-runtime) shift ;;
    *) positional+=("$1") ;;
  esac
  shift
done
[[ -n ${positional[0]:-} ]] || { echo 'CLUSTER_NAME is not defined'; exit 1; }
snap stop kubelet-eks
mkdir -p /etc/kubernetes/pki /var/lib/kubelet
# Without the two it would ask EKS.
base64 -d <<<"${authority:?}" >/etc/kubernetes/pki/ca.crt
echo "cluster: ${positional[0]}, server: ${endpoint:?}" >/var/lib/kubelet/kubeconfig
pods=$(awk '/^dl1.24xlarge/ { print $2 }' /etc/eks/eni-max-pods.txt)
[[ -n $pods ]] || log "INFO: No entry for type dl1.24xlarge"
mkdir -p /etc/containerd /etc/systemd/system/containerd.service.d
cat >/etc/systemd/system/containerd.service.d/10-compat-symlink.conf <<'END'
[Service]
ExecStartPre=/bin/ln -sf /run/containerd/containerd.sock /run/dockershim.sock
END
systemctl daemon-reload
sed 's,SANDBOX_IMAGE,602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.5,g' \\
  </usr/local/share/eks/containerd-config.toml >/etc/containerd/config.toml
systemctl restart containerd
    snap refresh kubelet-eks 2> >(grep -v ' has no updates available$' >&2) || true
snap set kubelet-eks cgroup-driver=systemd max-pods="$pods" args="${arguments:-}"
snap start --enable kubelet-eks
"""
# A kubelet and a runtime with different drivers start no pod.
_KUBELET_CHECK = """\
python3 - <<'END'
import re, sys
from pathlib import Path
options = dict(
    option.split("=", 1)
    for option in Path("/var/snap/kubelet-eks/options").read_text().partition(" args=")[0].split()
)
text = Path("/etc/containerd/config.toml").read_text()
name = re.search(r'^ *default_runtime_name *= *"(.+)"', text, re.M)[1]
table = text.partition(f".runtimes.{name}.options]")[2].partition("[")[0]
systemd = "SystemdCgroup = true" in table
if systemd != (options.get("cgroup-driver") == "systemd"):
    sys.exit(f"kubelet and {name} disagree on the cgroup driver")
END
"""


def canonical_kubelet(version: str) -> Contents:
    """What Canonical's EKS image has: the kubelet of a snap, and a script that configures it."""
    return Contents(
        files={
            "/snap/bin/kubelet-eks.daemon": daemon(
                f"Kubernetes v{bare(version)}", check=_KUBELET_CHECK
            ),
            "/usr/local/share/eks/containerd-config.toml": File(text=_CONTAINERD_TEMPLATE),
            "/etc/systemd/system/snap.kubelet-eks.daemon.service": unit(
                "Service for snap application kubelet-eks.daemon",
                "/snap/bin/kubelet-eks.daemon",
                after="containerd.service",
            ),
            "/etc/eks/bootstrap.sh": program(_CANONICAL_BOOTSTRAP),
            "/etc/eks/eni-max-pods.txt": File(text=_MAX_PODS),
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
