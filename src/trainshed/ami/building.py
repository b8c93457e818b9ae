"""Baking one AMI: Packer run in one subnet after another until one has capacity."""

import fcntl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from trainshed.ami.build_request import BuildRequest
from trainshed.ami.failures import BuildError, Cause, Interrupted, classify
from trainshed.ami.leftovers import Leftover, logged_leftovers, remove_leftover, tagged_leftovers
from trainshed.ami.manifest import MANIFEST, manifest_amis
from trainshed.ami.packer import Ended, Packer, run
from trainshed.ami.packer_compat import write_compatible
from trainshed.ami.steps import step_of
from trainshed.ami.subnets import BuildSubnet
from trainshed.aws import AwsRefusal, Region
from trainshed.errors import TrainshedError
from trainshed.files import LARGEST_MADE, ReadError, read_bytes
from trainshed.spec.pipeline import MOST_BUILD_MINUTES

LOG = "build.log"

# Shows what is being done; an empty text means that it is still the same.
Show = Callable[[str], None]


def build(
    request: BuildRequest,
    packer: Packer,
    region: Region,
    subnets: Sequence[BuildSubnet | None],
    *,
    show: Show,
) -> dict[str, str]:
    """Bake an AMI, and return its id by region.

    Args:
        request: what to bake.
        packer: what bakes it.
        region: to build in.
        subnets: to try in this order; None leaves it to the template's variables.
        show: gets what is being done; an empty text means that it is still the same.

    Raises:
        BuildError: why it failed; nothing of it is left, or the message says what is.
        TrainshedError: wrong input, or another build into the same folder is running.
    """
    log = request.output / LOG
    with _alone(request.output) as held, _readable_template(request.template, packer) as template:
        _clear_leftovers(region, log, show)
        if log.exists():
            log.replace(log.with_name("build.previous.log"))
        (request.output / MANIFEST).unlink(missing_ok=True)
        if packer.has_plugins:
            _install_plugins(request, packer, template, log, held, show)
        tried: list[str] = []
        for subnet in subnets:
            if subnet is not None:
                show(f"building in {subnet}")
            subnet_id = subnet.subnet_id if subnet else None
            command = request.command(packer.program, template, region.name, subnet_id)
            ended = _attempt(command, request, log, held, show)
            if ended.code == 0:
                return manifest_amis(request.output / MANIFEST)
            error = _failure(request, ended)
            _clear_unfinished(region, log, show)
            if error.cause is not Cause.CAPACITY:
                raise error
            show(str(error))
            tried.append(str(subnet or "the template's subnet"))
        raise BuildError(Cause.CAPACITY, f"{error.message} (tried {', '.join(tried)})")


@contextmanager
def _readable_template(template: Path, packer: Packer) -> Iterator[Path]:
    """Yield the template, or before 1.7 a copy that older Packer reads."""
    if packer.has_plugins:
        yield template.resolve()
        return
    with TemporaryDirectory(prefix="trainshed-packer-") as folder:
        copy = Path(folder) / "packer"
        write_compatible(template, copy)
        yield copy


def _attempt(
    command: list[str], request: BuildRequest, log: Path, held: IO[str], show: Show
) -> Ended:
    def on_line(line: str) -> None:
        step = step_of(line) if line else ""
        if step is not None:
            show(step)

    return run(command, log=log, held=held, minutes=request.minutes, on_line=on_line)


def _install_plugins(
    request: BuildRequest, packer: Packer, template: Path, log: Path, held: IO[str], show: Show
) -> None:
    show("packer init")
    ended = _attempt([packer.program, "init", str(template)], request, log, held, show)
    if ended.signal is not None or not ended.in_time:
        raise _failure(request, ended)
    if ended.code:
        raise BuildError(
            Cause.PLUGIN,
            f"packer init failed, {log} says why; it fetches the Amazon plugin from "
            "releases.hashicorp.com, and for plugins on GitHub a token in "
            "PACKER_GITHUB_API_TOKEN raises its limit",
        )


def _failure(request: BuildRequest, ended: Ended) -> BuildError:
    if ended.signal is not None:
        return Interrupted(ended.signal)
    if not ended.in_time:
        return BuildError(
            Cause.TIMEOUT,
            f"the build was stopped after {request.minutes} minutes; allow it more",
        )
    return classify(ended.said)


@contextmanager
def _alone(output: Path) -> Iterator[IO[str]]:
    """Hold the lock of an output folder; Packer holds it too, even when it outlives us."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        lock = (output / "build.lock").open("w")
    except OSError as error:
        raise TrainshedError(
            f"{output} cannot be written to: {error.strerror}; give another output folder"
        ) from error
    with lock as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TrainshedError(
                f"another build into {output} is running; wait for it, or give another output "
                "folder"
            ) from None
        yield held


def _clear_leftovers(region: Region, log: Path, show: Show) -> None:
    """Remove what earlier builds left; if that fails, build anyway."""
    # What is older than any build may take is of a build that is dead.
    limit = timedelta(minutes=MOST_BUILD_MINUTES)
    try:
        left = tagged_leftovers(region, now=datetime.now(UTC), older_than=limit)
        _remove(region, left, show)
    except AwsRefusal as error:
        show(f"could not look for leftovers of earlier builds: {error}")
    _clear_unfinished(region, log, show)


def _clear_unfinished(region: Region, log: Path, show: Show) -> None:
    """Remove what the build of this log left, when it was killed."""
    if not log.exists():
        return
    try:
        left = logged_leftovers(region, read_bytes(log, LARGEST_MADE).decode(errors="replace"))
        _remove(region, left, show)
    except (AwsRefusal, ReadError) as error:
        show(f"could not look for leftovers of the build in {log}: {error}")


def _remove(region: Region, left: list[Leftover], show: Show) -> None:
    for leftover in left:
        try:
            remove_leftover(region, leftover)
            show(f"removed what a dead build had left: {leftover}")
        except AwsRefusal as error:
            show(f"could not remove {leftover} of a dead build: {error}")
