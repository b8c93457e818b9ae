"""Whether a node of EKS has what joins a cluster of one minor version of Kubernetes.

A kubelet that is newer than its API server is unsupported, and one that is older lacks what the
cluster's objects may ask for (kubernetes.io, "Version Skew Policy").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainshed_node.recipe import Recipe
from trainshed_node.results import FAILED, OK, Result
from trainshed_node.system import Finished, has_command, run

# EKS user guide, "Kubernetes 1.35": the last version that runs on containerd 1.
_LAST_WITH_CONTAINERD_1 = (1, 35)


def check_kubernetes(recipe: Recipe) -> Iterator[Result]:
    """Yield results for the kubelet and containerd of a node of EKS; none for another."""
    if recipe.kubernetes:
        yield _kubelet(recipe.kubernetes)
        yield _containerd(recipe.kubernetes)


def kubelet_problem(kubernetes: str) -> str:
    """Say what is wrong with the kubelet for a cluster; nothing when it is of its version.

    Args:
        kubernetes: minor version of the cluster, for instance `1.35`.
    """
    result = _kubelet(kubernetes)
    return f"kubelet: {result.detail}" if result.state == FAILED else ""


def _kubelet(kubernetes: str) -> Result:
    # Canonical's is a snap, which has no command of that name.
    asked = run("kubelet", "--version")
    if not has_command("kubelet") and has_command("snap"):
        asked = run("snap", "list", "kubelet-eks")
    version = _version(asked)
    if version.rpartition(".")[0] == kubernetes:
        return Result("kubelet", version, kubernetes, OK)
    return Result(
        "kubelet",
        version,
        kubernetes,
        FAILED,
        f"is of Kubernetes {version}, and the cluster's is {kubernetes}: take an AMI of "
        f"eks-{kubernetes}"
        if version
        else f"does not say its version: {asked.last_line}",
    )


def _containerd(kubernetes: str) -> Result:
    asked = run("containerd", "--version")
    version = _version(asked)
    wrong = ""
    if not version:
        wrong = f"does not say its version: {asked.last_line}"
    elif _numbers(version) < (2,) and _numbers(kubernetes) > _LAST_WITH_CONTAINERD_1:
        wrong = f"is {version}, and Kubernetes {kubernetes} needs containerd 2"
    return Result("containerd", version, "", FAILED if wrong else OK, wrong)


def _version(asked: Finished) -> str:
    """Return the first version that a command's answer has, without what a vendor adds."""
    found = re.search(r"\bv?(\d+\.\d+\.\d+)", asked.output) if asked.ok else None
    return found[1] if found else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
