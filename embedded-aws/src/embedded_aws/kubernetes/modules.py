"""What is built: Go modules, each with its `go.mod` and `go.sum`, which lock every source."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from embedded_aws.errors import EmbeddedAwsError

DEFAULT_KUBERNETES = "1.35"
# The newest patch of each that the Go module proxy serves; of those that Amazon EKS has.
_PATCHES: Mapping[str, str] = {"1.34": "1.34.4", "1.35": "1.35.4", "1.36": "1.36.3"}
MINOR_VERSIONS = tuple(_PATCHES)
_FOLDER = Path(__file__).with_name("modules")
_VERSION = "k8s.io/component-base/version"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoModule:
    """A module of ours that requires the programs of others.

    Attributes:
        folder: has its `go.mod` and `go.sum`.
        programs: package of each program, by the program's name.
        flags: of the linker, for all of them.
        copied: module and folder in it of what is kept beside the programs, by the name that it
            gets.
    """

    folder: Path
    programs: Mapping[str, str]
    flags: str = ""
    copied: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def patch_of(kubernetes: str) -> str:
    """Return the patch version of a minor version.

    Raises:
        EmbeddedAwsError: there is none here.
    """
    if kubernetes not in _PATCHES:
        raise EmbeddedAwsError(
            f"Kubernetes {kubernetes} is not built here (known: {', '.join(_PATCHES)})"
        )
    return _PATCHES[kubernetes]


def modules_of(kubernetes: str) -> tuple[GoModule, ...]:
    """Return what the control plane of a minor version is built from.

    Raises:
        EmbeddedAwsError: there is none here.
    """
    patch = patch_of(kubernetes)
    major, minor = kubernetes.split(".")
    values = {"gitVersion": f"v{patch}", "gitMajor": major, "gitMinor": minor}
    programs = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    return (
        GoModule(
            folder=_FOLDER / f"kubernetes-{kubernetes}",
            programs={name: f"k8s.io/kubernetes/cmd/{name}" for name in programs},
            # Without them the programs call themselves v0.0.0-master.
            flags=" ".join(f"-X {_VERSION}.{name}={value}" for name, value in values.items()),
        ),
        GoModule(
            folder=_FOLDER / "etcd",
            programs={"etcd": "go.etcd.io/etcd/server/v3"},
        ),
        # In one module, most of what they are made of is compiled once.
        GoModule(
            folder=_FOLDER / "managers",
            programs={
                "jobset": "sigs.k8s.io/jobset",
                "kueue": "sigs.k8s.io/kueue/cmd/kueue",
            },
            copied={
                f"{name}/{folder}": (f"sigs.k8s.io/{name}", f"config/components/{folder}")
                for name in ("jobset", "kueue")
                for folder in ("crd", "webhook")
            }
            | {
                f"charts/{name}": (f"sigs.k8s.io/{name}", f"charts/{name}")
                for name in ("jobset", "kueue")
            },
        ),
    )


def recipe_hash(kubernetes: str) -> str:
    """Return 12 hex digits that change with anything that a control plane is built from."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    digest.update(Path(__file__).with_name("prepare.py").read_bytes())
    for module in modules_of(kubernetes):
        for name in ("go.mod", "go.sum"):
            digest.update((module.folder / name).read_bytes())
    return digest.hexdigest()[:12]
