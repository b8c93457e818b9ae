"""Review a change: synthesise both sides, and compare them."""

from collections.abc import Callable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from trainshed.app.synthesis import INSTALLED, App, Installation, read_app
from trainshed.checks.templates.checking import PROGRAMS
from trainshed.checks.templates.program import Step, loaded_programs
from trainshed.plan import Fleet
from trainshed.review.cache import Cache, user_cache
from trainshed.review.changes import TemplateComparison, compare_templates
from trainshed.review.clusters import cluster_changes
from trainshed.review.cost import total_cost
from trainshed.review.engine import require_engine
from trainshed.review.findings import finding_changes
from trainshed.review.kubernetes_objects import object_changes
from trainshed.review.model import BrokenSide, Review, RiskKind, Side
from trainshed.review.quotas import quota_changes
from trainshed.review.remembered import RememberingProgram
from trainshed.review.repository import find_base
from trainshed.review.risks import most_dangerous_first, risks
from trainshed.review.risks.stopped_nodes import stopped_nodes
from trainshed.review.sides import (
    AbsentSide,
    Base,
    Synthesised,
    judged,
    synthesise_base,
    synthesise_here,
)

_UPGRADE_NOTE = (
    "both sides have the clusters as the installed trainshed reads them, so facts, costs, quotas "
    "and what trainshed check says about cluster files are the same; what the other version "
    "decides otherwise shows in its templates"
)
# Synthesise what comes before a change and what comes after it, in a temporary folder.
_Sides = Callable[[Path, Cache], tuple[Base, Synthesised]]


def review_change(folder: Path, ref: str, step: Step) -> Review:
    """Review what the working tree of a project changes since it left a branch.

    It uses no credentials and no network.

    Args:
        folder: of the project.
        ref: the branch that the change is for, or any name of a commit.
        step: called with each step.

    Raises:
        TrainshedError: there is no such commit, a cluster file is wrong, or what is in `cdk.json`
            starts no app.
        Failure: the app does not synthesise.
    """
    commit, app = find_base(folder, ref), read_app(folder)

    def sides(work: Path, cache: Cache) -> tuple[Base, Synthesised]:
        # The head first, because a mistake in it is to be shown soon.
        head = synthesise_here("the working tree", app, INSTALLED, work / "head", step)
        return synthesise_base(commit, work / "base", cache, step), head

    return _review(app, sides, step)


def review_upgrade(folder: Path, install: Callable[[], Installation], step: Step) -> Review:
    """Review what another version of trainshed makes of a project.

    Args:
        folder: of the project.
        install: installs the other version; called when the installed one has synthesised the app.
        step: called with each step.

    Raises:
        TrainshedError: a cluster file is wrong, or what is in `cdk.json` starts no app.
        Failure: the app does not synthesise with one of the versions.
    """
    app = read_app(folder)

    def synthesised(installation: Installation, work: Path) -> Synthesised:
        name = f"this project with trainshed {installation.version}"
        return synthesise_here(name, app, installation, work, step)

    def sides(work: Path, _: Cache) -> tuple[Synthesised, Synthesised]:
        before = synthesised(INSTALLED, work / "before")
        after = synthesised(install(), work / "after")
        return before, replace(after, notes=(_UPGRADE_NOTE,))

    return _review(app, sides, step)


def _review(app: App, sides: _Sides, step: Step) -> Review:
    require_engine(app.folder)
    cache = user_cache(step)
    programs = [RememberingProgram(program=program, cache=cache) for program in PROGRAMS]
    with TemporaryDirectory(prefix="trainshed-review-") as name:
        work = Path(name).resolve()
        with loaded_programs(programs, work) as ready, ThreadPoolExecutor() as pool:
            base, head = sides(work, cache)
            before = base.assembly.stacks if isinstance(base, Synthesised) else {}
            # In Node, while the tools judge.
            comparing = pool.submit(compare_templates, before, head.assembly.stacks, app.folder)
            after = judged(head, ready, step)
            match base:
                case Synthesised():
                    there: Side | BrokenSide = judged(base, ready, step)
                case BrokenSide():
                    there = base
                case AbsentSide():
                    there = _empty(base.name, after)
            notes = base.notes if isinstance(base, Synthesised) else ()
            return make_review(there, after, comparing.result(), (*notes, *head.notes))


def make_review(
    base: Side | BrokenSide, head: Side, comparison: TemplateComparison, notes: tuple[str, ...]
) -> Review:
    """Return what a reviewer must know of a change.

    Args:
        base: before it; where that is broken, all is about the head alone.
        head: after it.
        comparison: of the templates of both; with a broken base, of no templates with the head's.
        notes: what limits the review.
    """
    compared = isinstance(base, Side)
    before = base if isinstance(base, Side) else _empty(base.name, head)
    objects = object_changes(before.objects, head.objects)
    stacks = (*comparison.stacks, *objects) if compared else ()
    findings = finding_changes(before if compared else None, head)
    found = most_dangerous_first(
        (
            *risks(before.stacks, head.stacks, comparison),
            *stopped_nodes(before.fleet, head.fleet),
        )
    )
    refused = {each.stack for each in found if each.kind is RiskKind.DEPLOYMENT_FAILS}
    return Review(
        base=base.name,
        head=head.name,
        broken_base=base.reason if isinstance(base, BrokenSide) else None,
        notes=(*notes, *_left_behind(before, head), *_kept(before, refused), *findings.notes),
        risks=found,
        stacks=stacks,
        permissions=comparison.permissions if compared else (),
        security_rules=comparison.security_rules if compared else (),
        clusters=cluster_changes(before.fleet, head.fleet, stacks, refused),
        cost=total_cost(before.fleet, head.fleet, refused),
        quotas=quota_changes(before.fleet, head.fleet),
        findings=findings,
    )


def _left_behind(before: Side, after: Side) -> Iterator[str]:
    """Say which stacks only somebody can delete, so that costs and quotas are those of later."""
    if names := ", ".join(sorted(before.stacks.keys() - after.stacks.keys())):
        yield (
            "the costs and quotas after the change leave out the stacks that are no longer in "
            f"the app: {names}. No deployment deletes them, so they cost money until somebody "
            "does"
        )


def _kept(before: Side, refused: Set[str]) -> Iterator[str]:
    """Say which file systems stay as they are, so that they cost what they cost."""
    storage = {*before.fleet.storages}
    if names := ", ".join(sorted(storage & refused)):
        yield (
            f"the deployment of {names} fails, so the costs after the change count its file "
            "system as it was"
        )


def _empty(name: str, head: Side) -> Side:
    """Return a side without a project, in which the tools of the other side find nothing."""
    return Side(name=name, fleet=Fleet(clusters=()), stacks={}, findings=(), runs=head.runs)
