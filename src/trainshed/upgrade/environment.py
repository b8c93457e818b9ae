"""A temporary Python environment with another version of trainshed, and with what it pins."""

import re
import subprocess
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path

from trainshed.app.synthesis import Installation, read_json
from trainshed.errors import TrainshedError, one_line
from trainshed.project.versions import OURS, embedded_aws_pin, upgraded_requirements

_VERSION = re.compile(r"\d[A-Za-z0-9.!+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherVersion(Installation):
    """Another version of trainshed, installed.

    Attributes:
        embedded_aws: pin of the embedded AWS that it needs, for instance `embedded-aws==0.1.0`.
        requirements: the project's `requirements.txt` with this version's pins.
        node_packages: version by Node package.
    """

    embedded_aws: str
    requirements: str
    node_packages: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where pip finds another version.

    Attributes:
        name: for messages, for instance `trainshed 0.2.0`.
        arguments: for `pip install`.
        is_file: it is a wheel or a folder of wheels, not a version of the package index.
    """

    name: str
    arguments: tuple[str, ...]
    is_file: bool = False


def find_version(wanted: str | None) -> Source:
    """Return where pip finds a version.

    Args:
        wanted: a version, a wheel, or a folder of wheels.

    Raises:
        TrainshedError: it is none of these, or the wheel is not there.
    """
    if wanted is None:
        # The newest of that name on PyPI would be a stranger's, and its code would run.
        raise TrainshedError(
            "--to is missing: give the other version's wheel, or a folder of its wheels; or a "
            "version, such as 0.2.0, if pip's index is your own and has it: trainshed is not on "
            "PyPI, and a package of that name there is not ours"
        )
    path, from_path = Path(wanted), f"trainshed from {wanted}"
    if wanted and path.is_dir():
        if not any(path.glob("trainshed-*.whl")):
            raise TrainshedError(f"the folder {path} has no wheel of trainshed")
        arguments = ("--no-index", f"--find-links={path}", "trainshed")
        return Source(name=from_path, arguments=arguments, is_file=True)
    if path.suffix == ".whl":
        if not path.is_file():
            raise TrainshedError(f"there is no file {path}")
        return Source(name=from_path, arguments=(str(path),), is_file=True)
    if not _VERSION.fullmatch(wanted):
        raise TrainshedError(
            f"{wanted!r} is not a version, such as 0.2.0, a wheel, or a folder of wheels"
        )
    return Source(name=f"trainshed {wanted}", arguments=(f"trainshed=={wanted}",))


def install(
    source: Source, folder: Path, requirements: str, step: Callable[[str], None]
) -> OtherVersion:
    """Install another version, and the project's requirements as that version pins them.

    Args:
        source: where pip finds the other version.
        folder: where the environment is made.
        requirements: text of the project's `requirements.txt`.
        step: called with each step.

    Raises:
        TrainshedError: there is no such version, or pip cannot install it or what it needs.
    """
    step(f"installing {source.name}")
    try:
        venv.create(folder, with_pip=True, symlinks=True)
    except subprocess.CalledProcessError as error:
        raise TrainshedError(
            "Python cannot make a virtual environment; on Debian and Ubuntu, install python3-venv"
        ) from error
    python = folder / "bin" / "python"
    _pip(python, source.name, "--no-deps", "--ignore-installed", *source.arguments)
    found = sorted(folder.glob("lib/python*/site-packages/trainshed-*.dist-info"))
    if not found:
        raise TrainshedError(f"{source.name} has no trainshed: give its wheel, or the folder of it")
    version = found[0].name.removesuffix(".dist-info").partition("-")[2]
    shipped = found[0].with_name("trainshed") / "_shipped"
    embedded_aws = embedded_aws_pin(Distribution.at(found[0]))
    upgraded = upgraded_requirements(requirements, shipped / "requirements", version, embedded_aws)
    step(f"installing what trainshed {version} needs; this takes about a minute")
    needed = folder / "needed.txt"
    lines = upgraded.splitlines(keepends=True)
    needed.write_text("".join(line for line in lines if not line.startswith(OURS)), "utf-8")
    _pip(python, f"what trainshed {version} needs", "--requirement", str(needed))
    packages = read_json(shipped / "package.json")["devDependencies"]
    return OtherVersion(
        version=version,
        embedded_aws=embedded_aws,
        python=python,
        requirements=upgraded,
        node_packages=packages,
    )


def _pip(python: Path, what: str, *arguments: str) -> None:
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
        reason = one_line((errors or done.stderr.splitlines() or ["no reason given"])[0])
        advice = (
            "the package index cannot be reached; check the network and pip's settings"
            if "connection broken by" in done.stderr
            else f"pip says: {reason.removeprefix('ERROR: ')}"
        )
        raise TrainshedError(f"{what} cannot be installed: {advice}")
