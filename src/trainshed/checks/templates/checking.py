"""Synthesise the clusters of a project and have every tool judge their templates."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from trainshed import __version__
from trainshed.checks.templates import cfn_lint, checkov
from trainshed.checks.templates.asking import ASKED
from trainshed.checks.templates.merging import merged
from trainshed.checks.templates.model import Assembly, State, ToolRun
from trainshed.checks.templates.places import stack_owners
from trainshed.checks.templates.validation_report import TOOLS, read_validation
from trainshed.errors import Failure, TrainshedError
from trainshed.findings import Finding
from trainshed.plan import ClusterPlan
from trainshed.spec import ami_pipeline_file, read_ami_pipeline
from trainshed.synthesis import CONFIGURATION, App, read_app, synthesise

_SYNTHESIS = "cdk synth"
# They judge what a synthesis has written.
_PROGRAMS = (cfn_lint, checkov)
_CONTEXT = {
    ASKED: True,
    # A finding is for our report; it is no reason to end the synthesis.
    "@aws-cdk/core:failSynthOnValidationErrors": False,
}
Step = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateReport:
    """What the tools say of the templates of some clusters.

    Attributes:
        findings: the most severe first, cluster by cluster.
        runs: the tools, and what came of each.
        templates: what was judged, by the names of the stacks; empty without a synthesis.
    """

    findings: tuple[Finding, ...]
    runs: tuple[ToolRun, ...]
    templates: Mapping[str, Mapping[str, Any]]

    @property
    def failed(self) -> bool:
        """Whether a tool failed."""
        return any(run.state is State.FAILED for run in self.runs)


def check_templates(
    plans: Sequence[ClusterPlan], folder: Path, region: str | None, step: Step
) -> TemplateReport:
    """Judge the templates of clusters by the other tools.

    Args:
        plans: the clusters.
        folder: of their project.
        region: of clusters that name none; by default the environment's.
        step: called with each step.

    Raises:
        TrainshedError: what is in `cdk.json` starts no app.
    """
    if not (folder / CONFIGURATION).is_file():
        return _not_run(f"there is no {CONFIGURATION} here: run this in the folder of a project")
    app = read_app(folder)
    with TemporaryDirectory(prefix="trainshed-check-") as name:
        work = Path(name).resolve()
        app = replace(
            app,
            context={**app.context, **_CONTEXT, "clusters": _select(plans, work / "clusters")},
            region=region or app.region,
        )
        try:
            assembly = _synthesised(app, work / "assembly", step)
        except TrainshedError as error:
            failed = ToolRun(tool=_SYNTHESIS, state=State.FAILED, reason=str(error))
            missing = _not_run("the app does not synthesise")
            return replace(missing, runs=(failed, *missing.runs))
        runs = (*read_validation(assembly), *_programs(assembly, step))
        pipeline = ami_pipeline_file(app.context.get("ami_pipeline"))
        owners = stack_owners(plans, read_ami_pipeline(pipeline).spec if pipeline else None)
        return TemplateReport(
            findings=merged(runs, assembly, plans, owners),
            runs=runs,
            templates={name: stack.template for name, stack in assembly.stacks.items()},
        )


def _synthesised(app: App, output: Path, step: Step) -> Assembly:
    step("synthesising the templates, with cdk-preflight and cdk-nag")
    start = monotonic()
    stacks = synthesise(app, Path(sys.executable), output, __version__)
    step(f"synthesised {len(stacks)} stacks in {monotonic() - start:.0f} s")
    return Assembly(folder=output, stacks=stacks)


def _programs(assembly: Assembly, step: Step) -> list[ToolRun]:
    """Run the tools that are programs of their own, all at the same time."""
    runs: dict[str, ToolRun] = {}
    start = monotonic()
    with ThreadPoolExecutor() as pool:
        judged = {}
        for program in _PROGRAMS:
            if reason := program.missing():
                runs[program.NAME] = ToolRun(tool=program.NAME, state=State.NOT_RUN, reason=reason)
            else:
                judged[pool.submit(program.judge, assembly)] = program.NAME
        if judged:
            step(f"running {' and '.join(judged.values())}")
        for done in as_completed(judged):
            tool, seconds = judged[done], round(monotonic() - start, 1)
            try:
                found = done.result()
                runs[tool] = ToolRun(tool=tool, findings=found, seconds=seconds)
                step(f"{tool} took {seconds:.0f} s")
            except Failure as error:
                runs[tool] = _failed(tool, str(error), seconds)
            except (LookupError, TypeError, AttributeError):
                # Another release of it, perhaps.
                runs[tool] = _failed(tool, "it printed JSON of another form", seconds)
    return [runs[program.NAME] for program in _PROGRAMS]


def _failed(tool: str, reason: str, seconds: float) -> ToolRun:
    return ToolRun(tool=tool, state=State.FAILED, reason=reason, seconds=seconds)


def _select(plans: Iterable[ClusterPlan], folder: Path) -> str:
    """Return a glob for the files of some clusters, which the app takes in place of its own."""
    folder.mkdir()
    for number, plan in enumerate(plans):
        (folder / f"{number:04}.yaml").symlink_to(Path(plan.spec.where.file).resolve())
    return str(folder / "*.yaml")


def _not_run(reason: str) -> TemplateReport:
    tools = (*TOOLS, *(program.NAME for program in _PROGRAMS))
    runs = (ToolRun(tool=tool, state=State.NOT_RUN, reason=reason) for tool in tools)
    return TemplateReport(findings=(), runs=tuple(runs), templates={})
