"""Synthesise the clusters of a project and have every tool judge their templates."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from trainshed import __version__
from trainshed.checks.judging import as_owner_says, finding_of
from trainshed.checks.rule import all_rules
from trainshed.checks.rule_ids import OURS, tools_of
from trainshed.checks.rules.findings import UNUSED, unused
from trainshed.checks.templates import cfn_lint, checkov
from trainshed.checks.templates.asking import ASKED
from trainshed.checks.templates.model import Assembly, State, ToolRun
from trainshed.checks.templates.places import located, stack_owners
from trainshed.checks.templates.validation_report import TOOLS, read_validation
from trainshed.errors import Failure, TrainshedError
from trainshed.findings import Finding
from trainshed.plan import ClusterPlan
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
    """

    findings: tuple[Finding, ...]
    runs: tuple[ToolRun, ...]

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
        return TemplateReport(findings=_findings(runs, assembly, plans), runs=runs)


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


def _findings(
    runs: Sequence[ToolRun], assembly: Assembly, plans: Sequence[ClusterPlan]
) -> tuple[Finding, ...]:
    owners = stack_owners(plans)
    ours: dict[str, list[Finding]] = {plan.spec.name: [] for plan in plans}
    others: list[Finding] = []
    seen: set[tuple[str, str]] = set()
    for run in runs:
        found = [located(each, run.tool, assembly, owners) for each in run.findings]
        for plan, finding in found:
            # CDK's own checks and cfn-lint share rules: what both found is said once.
            if (finding.rule, str(finding.resource)) not in seen:
                (ours[plan.spec.name] if plan else others).append(finding)
        seen |= {(finding.rule, str(finding.resource)) for _, finding in found}
    ran = {run.tool for run in runs if run.state is State.RAN}
    rules_found = {rule for rule, _ in seen}
    for plan in plans:
        ours[plan.spec.name] += _unused(plan, ran, rules_found)
    judged = [each for plan in plans for each in as_owner_says(plan.spec, ours[plan.spec.name])]
    return (*judged, *others)


def _unused(plan: ClusterPlan, ran: set[str], rules_found: set[str]) -> Iterator[Finding]:
    """Point out what a cluster file accepts of other tools, and none of them finds."""
    for rule_id in plan.spec.findings.accept:
        tools = set(tools_of(rule_id)) - {OURS}
        if tools and tools <= ran and rule_id not in rules_found:
            yield finding_of(plan.spec, all_rules()[UNUSED], unused(rule_id))


def _not_run(reason: str) -> TemplateReport:
    tools = (*TOOLS, *(program.NAME for program in _PROGRAMS))
    runs = (ToolRun(tool=tool, state=State.NOT_RUN, reason=reason) for tool in tools)
    return TemplateReport(findings=(), runs=tuple(runs))
