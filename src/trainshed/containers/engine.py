"""The program that builds and pushes: docker, podman or buildah, whichever is there."""

import ipaddress
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from trainshed.errors import Failure, UnknownName

_ENGINES = ("docker", "podman", "buildah")
# Where an engine's output goes: what it says is progress; the result is on standard output.
_STDERR = 2
_ECR_USER = "AWS"
# EC2's word for an architecture, and the registries'.
_PLATFORMS = {"x86_64": "amd64", "arm64": "arm64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerEngine:
    """A container engine of this machine.

    Attributes:
        name: `docker`, `podman` or `buildah`.
        program: its path.
    """

    name: str
    program: str

    def build(
        self, context: Path, *, image: str, architecture: str, arguments: Mapping[str, str]
    ) -> None:
        """Build the Dockerfile of a folder.

        Args:
            context: the folder.
            image: name and tag of the result.
            architecture: of the nodes, `x86_64` or `arm64`, whatever this machine has.
            arguments: build arguments.

        Raises:
            Failure: it failed, and has said why.
        """
        options = [word for pair in arguments.items() for word in ("--build-arg", "=".join(pair))]
        platform = f"linux/{_PLATFORMS[architecture]}"
        words = ["build", "--platform", platform, "--tag", image, *options, str(context)]
        self._run(*words, doing=f"building {image}")

    def labels(self, image: str) -> dict[str, str] | None:
        """Return the labels of an image on this machine, or None when it is not there."""
        if self.name == "buildah":
            words = ["inspect", "--type", "image", image]
        else:
            words = ["image", "inspect", "--format", "{{json .Config.Labels}}", image]
        answer = subprocess.run(
            [self.program, *words], capture_output=True, text=True, env=_environment(), check=False
        )
        if answer.returncode:
            return None
        found = json.loads(answer.stdout)
        labels = found["OCIv1"]["config"].get("Labels") if self.name == "buildah" else found
        return dict(labels or {})

    def push(self, image: str, *, target: str, password: str) -> None:
        """Push an image of this machine to ECR.

        docker keeps the login in its own store, as AWS's documentation has it, until the password
        expires after twelve hours; for podman and buildah it is forgotten after the push.

        Args:
            image: name and tag on this machine.
            target: repository URI and tag.
            password: of ECR's user `AWS`; given on standard input, it is in no process list.

        Raises:
            Failure: it failed, and has said why.
        """
        host = target.partition("/")[0]
        login = ["login", "--username", _ECR_USER, "--password-stdin"]
        if self.name == "docker":
            self._run(*login, host, doing=f"logging in to {host}", stdin=password)
            self._run("tag", image, target, doing=f"tagging {image} as {target}")
            self._run("push", target, doing=f"pushing {target}")
            return
        # docker by itself does not ask registries on loopback for TLS.
        plain = ["--tls-verify=false"] if _is_loopback(host) else []
        with TemporaryDirectory(prefix="trainshed-login-") as folder:
            store = ["--authfile", str(Path(folder) / "auth.json")]
            self._run(*login, *plain, *store, host, doing=f"logging in to {host}", stdin=password)
            destination = f"docker://{target}"
            self._run("push", *plain, *store, image, destination, doing=f"pushing {target}")

    def _run(self, *words: str, doing: str, stdin: str | None = None) -> None:
        ended = subprocess.run(
            [self.program, *words],
            stdout=_STDERR,
            env=_environment(),
            check=False,
            **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin, "text": True}),
        )
        if ended.returncode:
            raise Failure(
                f"{doing} failed: {self.name} {words[0]} ended with {ended.returncode}; "
                "its output above says why"
            )


def find_engine(name: str | None = None) -> ContainerEngine:
    """Return the named engine, or the first of docker, podman and buildah that answers.

    Raises:
        Failure: there is none, or it does not answer.
        UnknownName: there is no engine of that name.
    """
    if name is not None and name not in _ENGINES:
        raise UnknownName("container engine", name, _ENGINES)
    silent = []
    for each in (name,) if name else _ENGINES:
        program = shutil.which(each)
        if program is None:
            continue
        reason = _reason_for_silence(each, program)
        if reason is None:
            return ContainerEngine(name=each, program=program)
        silent.append(f"{each} is there but does not answer ({reason})")
    if silent:
        raise Failure(f"{'; '.join(silent)}; start it, or install podman or buildah")
    raise Failure(
        f"{name or 'no container engine'} is {'not ' if name else ''}on PATH; install "
        f"{'it' if name else 'docker, podman or buildah'}"
    )


def _reason_for_silence(name: str, program: str) -> str | None:
    """Ask for the version: docker's program is useless without its daemon."""
    words = ["version", "--format", "{{.Server.Version}}"] if name == "docker" else ["version"]
    answer = subprocess.run(
        [program, *words], capture_output=True, text=True, env=_environment(), check=False
    )
    if answer.returncode == 0:
        return None
    lines = answer.stderr.strip().splitlines() or [f"exit code {answer.returncode}"]
    return lines[-1]


def _environment() -> dict[str, str]:
    # docker's builder would add a second image, of attestations, and push an index of both.
    return {**os.environ, "BUILDX_NO_DEFAULT_ATTESTATIONS": "1"}


def _is_loopback(host: str) -> bool:
    name = host.rpartition(":")[0] or host
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name == "localhost"
