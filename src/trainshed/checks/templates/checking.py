"""Synthesise the clusters of a project and have every tool judge their templates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from trainshed.app.synthesis import (
    CONFIGURATION,
    INSTALLED,
    App,
    Installation,
    SynthesisedStack,
    read_app,
    synthesise,
)
from trainshed.checks.templates import cfn_lint, checkov
from trainshed.checks.templates.asking import ASKED
from trainshed.checks.templates.merging import merged
from trainshed.checks.templates.model import Assembly
from trainshed.checks.templates.places import stack_owners
from trainshed.checks.templates.program import Judge, Program, Step, loaded_programs, run_programs
from trainshed.checks.templates.validation_report import TOOLS, read_validation
from trainshed.errors import TrainshedError
from trainshed.findings import Finding
from trainshed.findings.tools import State, ToolRun
from trainshed.plan import ClusterPlan
from trainshed.spec import AmiPipelineSpec, ami_pipeline_file, read_ami_pipeline

_SYNTHESIS = "cdk synth"
# They judge what a synthesis has written.
PROGRAMS: tuple[Program, ...] = (cfn_lint, checkov)
_CONTEXT = {
    ASKED: True,
    # A finding is for our report; it is no reason to end the synthesis.
    "@aws-cdk/core:failSynthOnValidationErrors": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateReport:
    """What the tools say about the templates of some clusters.

    Attributes:
        findings: tool by tool; what the cluster files accept is not applied.
        runs: the tools, and whether each ran.
        stacks: what was judged, by name; empty without a synthesis. Their files are gone.
    """

    findings: tuple[Finding, ...]
    runs: tuple[ToolRun, ...]
    stacks: Mapping[str, SynthesisedStack]


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
        clusters = {"clusters": _select(plans, work / "clusters")}
        app = replace(app, context={**app.context, **clusters}, region=region or app.region)
        with loaded_programs(PROGRAMS, work) as programs:
            try:
                assembly = synthesise_asking(app, work / "assembly", step)
            except TrainshedError as error:
                failed = ToolRun(tool=_SYNTHESIS, state=State.FAILED, reason=str(error))
                missing = _not_run("the app does not synthesise")
                return replace(missing, runs=(failed, *missing.runs))
            return judge_templates(assembly, plans, pipeline_of(app), programs, step)


def asking(app: App) -> App:
    """Return an app that has cdk-nag and cdk-preflight judge its templates."""
    return replace(app, context={**app.context, **_CONTEXT})


def synthesise_asking(
    app: App, output: Path, step: Step, installation: Installation = INSTALLED
) -> Assembly:
    """Synthesise an app, and have the tools judge that do so in a synthesis.

    Args:
        app: the project's.
        output: folder for the cloud assembly.
        step: called with each step.
        installation: runs it.

    Raises:
        TrainshedError: the app fails.
    """
    step("synthesising the templates, with cdk-preflight and cdk-nag")
    start = monotonic()
    stacks = synthesise(asking(app), output, installation)
    step(f"synthesised {len(stacks)} stacks in {monotonic() - start:.0f} s")
    return Assembly(folder=output, stacks=stacks)


def pipeline_of(app: App) -> AmiPipelineSpec | None:
    """Return the AMI pipeline of an app; None where there is none, or its file is wrong."""
    file = ami_pipeline_file(app.context.get("ami_pipeline"), app.folder)
    return read_ami_pipeline(file).spec if file else None


def judge_templates(
    assembly: Assembly,
    plans: Sequence[ClusterPlan],
    pipeline: AmiPipelineSpec | None,
    programs: Mapping[str, Judge | ToolRun],
    step: Step,
) -> TemplateReport:
    """Judge what an app that was asked has synthesised.

    Args:
        assembly: what it has synthesised.
        plans: its clusters.
        pipeline: its AMI pipeline.
        programs: those of `loaded_programs`.
        step: called with each step.
    """
    runs = (*read_validation(assembly), *run_programs(programs, assembly, step))
    return TemplateReport(
        findings=merged(runs, assembly, stack_owners(plans, pipeline)),
        runs=runs,
        stacks=assembly.stacks,
    )


def _select(plans: Iterable[ClusterPlan], folder: Path) -> str:
    """Return a glob for the files of some clusters, which the app takes in place of its own."""
    folder.mkdir()
    for number, plan in enumerate(plans):
        (folder / f"{number:04}.yaml").symlink_to(Path(plan.where.file).resolve())
    return str(folder / "*.yaml")


def _not_run(reason: str) -> TemplateReport:
    tools = (*TOOLS, *(program.NAME for program in PROGRAMS))
    runs = (ToolRun(tool=tool, state=State.NOT_RUN, reason=reason) for tool in tools)
    return TemplateReport(findings=(), runs=tuple(runs), stacks={})
