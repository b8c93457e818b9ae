"""The two sides of a review: what the base synthesises, and what the working tree does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trainshed.checks import judge
from trainshed.checks.templates.checking import (
    asking,
    judge_templates,
    pipeline_of,
    synthesise_asking,
)
from trainshed.checks.templates.model import Assembly, ToolRun
from trainshed.checks.templates.program import Judge, Step
from trainshed.documents.problems import Where
from trainshed.errors import Failure, TrainshedError
from trainshed.files import read_bytes
from trainshed.plan import ClusterPlan, Fleet, load_fleet
from trainshed.review.cache import Cache
from trainshed.review.model import BrokenSide, Side
from trainshed.review.remembered import remembered_synthesis
from trainshed.review.repository import BaseCommit, checked_out
from trainshed.spec import AmiPipelineSpec, cluster_files
from trainshed.synthesis import CONFIGURATION, App, read_app

_WORKING_TREE = "the working tree"
_REQUIREMENTS = "requirements.txt"
_CLUSTERS = "clusters/*.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesised:
    """A side whose templates nobody has judged yet.

    Attributes:
        name: for people.
        fleet: the clusters; places in their files are relative to the project.
        pipeline: the AMI pipeline, if there is one.
        assembly: what the app synthesises.
        requirements: text of the project's `requirements.txt`; empty when it has none.
    """

    name: str
    fleet: Fleet
    pipeline: AmiPipelineSpec | None
    assembly: Assembly
    requirements: str


def synthesise_base(
    base: BaseCommit, work: Path, cache: Cache, step: Step
) -> Synthesised | BrokenSide | None:
    """Synthesise the project as it is in a commit, or remember what that gave.

    Args:
        base: the commit.
        work: folder for the cloud assembly.
        cache: what is remembered.
        step: called with each step.

    Returns:
        None when the project is not in it yet.

    Raises:
        TrainshedError: git cannot check the commit out.
    """
    step(f"reading the base, {base.name}")
    with checked_out(base) as folder:
        if not (folder / CONFIGURATION).is_file():
            return None

        def synthesise(app: App) -> Assembly:
            def anew() -> Assembly:
                return synthesise_asking(app, work, step)

            return remembered_synthesis(cache, base, asking(app), work, anew)

        try:
            return _synthesised(base.name, folder, synthesise)
        except TrainshedError as error:
            # The folder is gone when somebody reads this.
            reason = str(error).replace(f"{folder}/", "").replace(str(folder), "its folder")
            return BrokenSide(name=base.name, reason=reason)


def synthesise_head(folder: Path, work: Path, step: Step) -> Synthesised:
    """Synthesise the project as its files are now, committed or not.

    Args:
        folder: of the project.
        work: folder for the cloud assembly.
        step: called with each step.

    Raises:
        TrainshedError: a cluster file is wrong, or what is in `cdk.json` starts no app.
        Failure: the app does not synthesise.
    """

    def synthesise(app: App) -> Assembly:
        try:
            return synthesise_asking(app, work, step)
        except TrainshedError as error:
            raise Failure(str(error)) from error

    step(f"reading {_WORKING_TREE}")
    return _synthesised(_WORKING_TREE, folder, synthesise)


def judged(side: Synthesised, programs: Mapping[str, Judge | ToolRun], step: Step) -> Side:
    """Return a side with all that `trainshed check` finds in it.

    Args:
        side: what it synthesises.
        programs: those of `loaded_programs`.
        step: called with each step.
    """
    step(f"judging {side.name}")
    plans = side.fleet.clusters
    ours = [finding for plan in plans for finding in judge(plan, side.fleet)]
    report = judge_templates(side.assembly, plans, side.pipeline, programs, step)
    return Side(
        name=side.name,
        fleet=side.fleet,
        stacks=report.stacks,
        findings=(*ours, *report.findings),
        runs=report.runs,
    )


def _synthesised(name: str, folder: Path, synthesise: Callable[[App], Assembly]) -> Synthesised:
    app = read_app(folder)
    files = cluster_files(app.context.get("clusters", _CLUSTERS), "-c clusters=", folder)
    fleet = load_fleet(files, region=app.region)
    pipeline, requirements = pipeline_of(app), folder / _REQUIREMENTS
    return Synthesised(
        name=name,
        fleet=Fleet(clusters=tuple(_relative(plan, folder) for plan in fleet.clusters)),
        pipeline=pipeline and pipeline.placed(_relative_place(pipeline.where, folder)),
        assembly=synthesise(app),
        requirements=_text(requirements),
    )


def _text(path: Path) -> str:
    return read_bytes(path).decode(errors="replace") if path.is_file() else ""


def _relative(plan: ClusterPlan, folder: Path) -> ClusterPlan:
    return replace(plan, where=_relative_place(plan.where, folder))


def _relative_place(where: Where, folder: Path) -> Where:
    """Name a file by its path in the project, as on the other side."""
    return replace(where, file=where.file.removeprefix(f"{folder}/"))
