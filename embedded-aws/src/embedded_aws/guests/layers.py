"""Make a layer of a disk: run a command on an overlay, and keep its changes.

It runs in namespaces of its own, whose mounts and processes the kernel removes when the command
ends.
"""

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from embedded_aws.errors import EmbeddedAwsError

_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
# Environment variables with which this machine reaches package indexes.
_INDEX_VARIABLES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY")


class LayerError(EmbeddedAwsError):
    """A command that makes a layer failed."""

    exit_code = 1


def overlay_options(lower: Sequence[Path], upper: Path, work: Path) -> str:
    """Return the options of an overlay mount.

    Args:
        lower: read-only folders, the uppermost first.
        upper: folder for what is written.
        work: empty folder on the same file system as `upper`.
    """
    return f"lowerdir={':'.join(map(str, lower))},upperdir={upper},workdir={work}"


def make_layer(lower: Sequence[Path], target: Path, script: str) -> None:
    """Run a shell script as root on a disk, and keep what it changed in a folder.

    Args:
        lower: the disk's layers, the uppermost first.
        target: folder for the new layer; what it holds already lies over the others.
        script: for `bash -eu`; it has this machine's network and no systemd.

    Raises:
        LayerError: the script failed; the message has its last output.
    """
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent, prefix=f"{target.name}-") as folder:
        work, root = Path(folder) / "work", Path(folder) / "root"
        work.mkdir()
        root.mkdir()
        options = overlay_options(lower, target, work)
        mount = shlex.join(["mount", "-t", "overlay", "overlay", "-o", options, str(root)])
        nspawn = shlex.join([*_nspawn(root), "/bin/bash", "-euc", script])
        run_confined(f"{mount} && exec {nspawn}")


def run_in_root(root: Path, script: str) -> None:
    """Run a shell script as root in a folder that holds a whole system.

    Raises:
        LayerError: the script failed; the message has its last output.
    """
    run_confined(shlex.join([*_nspawn(root), "/bin/bash", "-euc", script]))


def run_confined(script: str) -> None:
    """Run a shell script on this machine whose mounts and processes end with it.

    Raises:
        LayerError: the script failed; the message has its last output.
    """
    confined = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    done = subprocess.run(
        [*confined, "bash", "-euc", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        last = "\n".join(done.stdout.strip().splitlines()[-15:])
        raise LayerError(f"a guest's root could not be made (exit code {done.returncode}):\n{last}")


def _nspawn(root: Path) -> list[str]:
    environment = _environment(os.environ)
    return [
        *("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--pipe"),
        *(f"--directory={root}", "--resolv-conf=bind-host", "--timezone=off", "--as-pid2"),
        f"--bind-ro={_BUNDLE}:/run/host-authorities.pem",
        *(f"--setenv={name}={value}" for name, value in environment.items()),
    ]


def _environment(outer: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a script may need to reach package indexes."""
    passed = {
        name: value
        for name, value in outer.items()
        if name in _INDEX_VARIABLES or name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL")
    }
    return passed | {
        "DEBIAN_FRONTEND": "noninteractive",
        "PIP_CERT": "/run/host-authorities.pem",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
