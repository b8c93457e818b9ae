"""The two sides of a review: what a project synthesises before a change, and after it."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trainshed import __version__
from trainshed.app.synthesis import CONFIGURATION, App, Installation, read_app
from trainshed.checks import judge_fleet
from trainshed.checks.templates.checking import (
    asking,
    judge_templates,
    pipeline_of,
    synthesise_asking,
)
from trainshed.checks.templates.model import Assembly
from trainshed.checks.templates.program import Judge, Step
from trainshed.documents.problems import Where
from trainshed.errors import Failure, TrainshedError
from trainshed.files import read_bytes
from trainshed.findings.tools import ToolRun
from trainshed.plan import ClusterPlan, Fleet, load_fleet
from trainshed.review.cache import Cache
from trainshed.review.kubernetes_objects import read_objects
from trainshed.review.model import BrokenSide, Side
from trainshed.review.remembered import remembered_synthesis
from trainshed.review.repository import BaseCommit, checked_out
from trainshed.spec import AmiPipelineSpec, cluster_files

_REQUIREMENTS = "requirements.txt"
_CLUSTERS = "clusters/*.yaml"
_PIN = re.compile(r"^trainshed(?:\[[^]]*])?==(?P<version>[^\s;]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesised:
    """A side whose templates nobody has judged yet.

    Attributes:
        name: for people.
        fleet: the clusters; places in their files are relative to the project.
        pipeline: the AMI pipeline, if there is one.
        assembly: what the app synthesises.
        notes: what limits a comparison with it.
    """

    name: str
    fleet: Fleet
    pipeline: AmiPipelineSpec | None
    assembly: Assembly
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentSide:
    """A base in which the project is not there yet.

    Attributes:
        name: as that of `Side`.
    """

    name: str


Base = Synthesised | BrokenSide | AbsentSide


def synthesise_base(base: BaseCommit, work: Path, cache: Cache, step: Step) -> Base:
    """Synthesise the project as it is in a commit, or remember what that gave.

    Args:
        base: the commit.
        work: folder for the cloud assembly.
        cache: what is remembered.
        step: called with each step.

    Raises:
        TrainshedError: git cannot check the commit out.
    """
    step(f"reading the base, {base.name}")
    with checked_out(base) as folder:
        if not (folder / CONFIGURATION).is_file():
            return AbsentSide(name=base.name)

        def synthesise(app: App) -> Assembly:
            def anew() -> Assembly:
                return synthesise_asking(app, work, step)

            return remembered_synthesis(cache, base, asking(app), work, anew)

        try:
            found = _synthesised(base.name, read_app(folder), synthesise)
            return replace(found, notes=tuple(_pinned(folder / _REQUIREMENTS)))
        except TrainshedError as error:
            # The folder is gone when somebody reads this.
            reason = str(error).replace(f"{folder}/", "").replace(str(folder), "its folder")
            return BrokenSide(name=base.name, reason=reason)


def synthesise_here(
    name: str, app: App, installation: Installation, work: Path, step: Step
) -> Synthesised:
    """Synthesise the project as its files are now, committed or not.

    Args:
        name: of this side, for people.
        app: the project's.
        installation: runs the app.
        work: folder for the cloud assembly.
        step: called with each step.

    Raises:
        TrainshedError: a cluster file is wrong.
        Failure: the app does not synthesise.
    """

    def synthesise(app: App) -> Assembly:
        try:
            return synthesise_asking(app, work, step, installation)
        except TrainshedError as error:
            raise Failure(str(error)) from error

    step(f"reading {name}")
    return _synthesised(name, app, synthesise)


def judged(side: Synthesised, programs: Mapping[str, Judge | ToolRun], step: Step) -> Side:
    """Return a side with all that `trainshed check` finds in it.

    Args:
        side: what it synthesises.
        programs: those of `loaded_programs`.
        step: called with each step.
    """
    step(f"judging {side.name}")
    plans = side.fleet.clusters
    report = judge_templates(side.assembly, plans, side.pipeline, programs, step)
    return Side(
        name=side.name,
        fleet=side.fleet,
        stacks=report.stacks,
        findings=tuple(judge_fleet(side.fleet, report.findings, report.runs)),
        runs=report.runs,
        objects=read_objects(side.assembly.folder),
    )


def _synthesised(name: str, app: App, synthesise: Callable[[App], Assembly]) -> Synthesised:
    folder = app.folder
    files = cluster_files(app.context.get("clusters", _CLUSTERS), "-c clusters=", folder)
    fleet = load_fleet(files, region=app.region)
    pipeline = pipeline_of(app)
    return Synthesised(
        name=name,
        fleet=Fleet(clusters=tuple(_relative(plan, folder) for plan in fleet.clusters)),
        pipeline=pipeline and pipeline.placed(_relative_place(pipeline.where, folder)),
        assembly=synthesise(app),
        notes=(),
    )


def _pinned(requirements: Path) -> Iterator[str]:
    """Say that a base pins another trainshed, by its `requirements.txt`."""
    text = read_bytes(requirements).decode(errors="replace") if requirements.is_file() else ""
    pin = _PIN.search(text)
    if pin and pin["version"] != __version__:
        yield (
            f"the base pins trainshed {pin['version']}; both sides are synthesised by the "
            f"installed {__version__}, so what the other version changes is not shown: run "
            "trainshed upgrade for that"
        )


def _relative(plan: ClusterPlan, folder: Path) -> ClusterPlan:
    return replace(plan, where=_relative_place(plan.where, folder))


def _relative_place(where: Where, folder: Path) -> Where:
    """Name a file by its path in the project, as on the other side."""
    return replace(where, file=where.file.removeprefix(f"{folder}/"))
