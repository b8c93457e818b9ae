"""Where what is built is kept."""

import os
from pathlib import Path

from embedded_aws.errors import EmbeddedAwsError, program
from embedded_aws.kubernetes.modules import DEFAULT_KUBERNETES, recipe_hash

CACHE_VARIABLE = "EMBEDDED_AWS_KUBERNETES"


def built(kubernetes: str) -> Path:
    """Return the folder of the programs of a minor version, whether they are built or not.

    It is in the folder of the environment variable, or in the user's cache.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    root = os.environ.get(CACHE_VARIABLE) or Path(cache) / "embedded-aws/kubernetes"
    return Path(root) / f"{kubernetes}-{recipe_hash(kubernetes)}"


def unavailable(kubernetes: str = DEFAULT_KUBERNETES) -> str | None:
    """Return why no control plane can be started on this machine, or None."""
    if built(kubernetes).is_dir():
        return None
    prepare = f"{program.get()} kubernetes prepare --kubernetes {kubernetes}"
    return f"Kubernetes {kubernetes} is not built; run {prepare}"


def programs(kubernetes: str) -> Path:
    """Return the folder of the programs of a minor version.

    Raises:
        EmbeddedAwsError: they are not built.
    """
    if reason := unavailable(kubernetes):
        raise EmbeddedAwsError(reason)
    return built(kubernetes)
