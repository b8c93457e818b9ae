"""What applying a cluster file does, before anything is done."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

from trainshed.app.synthesis import SynthesisedStack
from trainshed.apply.blue_green import ends_no_jobs, without_switch
from trainshed.apply.blue_green import refusals as blue_green_refusals
from trainshed.apply.cost import cost_change
from trainshed.apply.jobs import Fate, JobFate, job_fates, spared_minutes
from trainshed.aws import AwsRefusal
from trainshed.errors import Failure
from trainshed.guard.stop_times import stop_times
from trainshed.jobs.scheduler import UnseenJobs, scheduler_of
from trainshed.orchestrators import Orchestrator, part
from trainshed.orchestrators.batch.former import OUTPUTS, former_environments
from trainshed.review.changes import TemplateComparison, compare_templates
from trainshed.review.engine import require_engine
from trainshed.review.model import CostChange, Level, Risk, RiskKind
from trainshed.review.risks import most_dangerous_first, risks
from trainshed.review.risks.affected import GIVEN_UP
from trainshed.review.risks.stopped_nodes import stopped_sooner
from trainshed.spec import NodeRange
from trainshed.up import Site, StackState, StepState, look_at_limits, stack_states, stuck_stacks

# CloudFormation's schema of schemas, timeoutInMinutes; that of the compute environment of AWS
# Batch, which waits for jobs, has none.
_STACK_WAITS_MINUTES = 120
_WAIT = "wait until they are over"
# Whatever their level; others when it is high.
_ALWAYS = (RiskKind.DATA_LOSS, RiskKind.DEPLOYMENT_FAILS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRefusal:
    """Why the change is not made.

    Attributes:
        text: what is wrong, and what to do.
        kind: of risk, which allows it when it is named; None where nothing does.
    """

    text: str
    kind: RiskKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSurvey:
    """What applying a cluster file does.

    Attributes:
        stacks: of the cluster, in the order of their deployment.
        comparison: of their templates, deployed and as the app makes them.
        risks: the most dangerous first.
        jobs: those that are not over.
        unseen_jobs: why it is not known which jobs are not over; None when it is.
        switches: the jobs of AWS Batch get a new compute environment beside the old one.
        cost: per hour.
        former: names of compute environments that the cluster had before, by which
            `trainshed apply --blue-green` was interrupted.
        refusals: why it is not made; none when it can be.
    """

    stacks: Mapping[str, StackState]
    comparison: TemplateComparison
    risks: tuple[Risk, ...]
    jobs: tuple[JobFate, ...]
    unseen_jobs: str | None
    switches: bool
    cost: CostChange
    former: tuple[str, ...]
    refusals: tuple[ChangeRefusal, ...]

    @property
    def is_none(self) -> bool:
        """All stacks are deployed as the cluster file has them."""
        return not any(each.left_to_do for each in self.stacks.values())


def survey_change(site: Site, step: Callable[[str], None], *, blue_green: bool) -> ChangeSurvey:
    """Compare what is deployed of a cluster with what the project's app makes of its file.

    Args:
        site: the cluster and its account.
        step: called with each step.
        blue_green: the compute environment of AWS Batch stays until its jobs are over.

    Raises:
        TrainshedError: there is no project, or its app does not synthesise, or Node is missing.
        Failure: the cluster is not deployed, or the engine cannot compare the templates.
    """
    plan = site.plan
    require_engine(Path())
    step(f"comparing the stacks of {plan.name} with its file")
    stacks = stack_states(site)
    if not stacks[plan.name].template:
        raise Failure(
            f"{plan.name} is not deployed in {site.region.name}, so there is nothing to change; "
            f"deploy it: {site.ours('up')}"
        )
    after = {name: each.made for name, each in stacks.items()}
    before = {name: _deployed(each) for name, each in stacks.items() if each.template}
    comparison = compare_templates(before, after, Path())
    times = stop_times(_outputs(stacks[plan.name]))
    found = most_dangerous_first((*risks(before, after, comparison), *stopped_sooner(times, plan)))
    spared = [risk for risk in found if blue_green and ends_no_jobs(risk, after[plan.name])]
    found = tuple(risk for risk in found if risk not in spared)
    step(f"asking which jobs of {plan.name} are not over")
    jobs, unseen = _jobs(site, stacks[plan.name], found, comparison)
    refusals: list[ChangeRefusal] = []
    if any(each.left_to_do for each in stacks.values()):
        if stuck := stuck_stacks(stacks):
            refusals.append(ChangeRefusal(text=stuck))
        step("asking what the account would refuse")
        both = _with_both(site, jobs) if spared else site
        limits = look_at_limits(both, ())
        if limits.state is not StepState.DONE:
            with_jobs = "with the nodes of the jobs that run beside all new ones: "
            refusals.append(ChangeRefusal(text=f"{with_jobs if spared else ''}{limits.says}"))
        batch = plan.orchestrator is Orchestrator.BATCH
        refusals += _refusals(
            found, jobs, unseen, f"{_WAIT}, or add --blue-green" if batch else _WAIT
        )
    if spared or (blue_green and plan.orchestrator is not Orchestrator.BATCH):
        refusals += [ChangeRefusal(text=text) for text in blue_green_refusals(plan, comparison)]
    return ChangeSurvey(
        stacks=stacks,
        comparison=comparison,
        risks=found,
        jobs=jobs,
        unseen_jobs=unseen,
        switches=bool(spared),
        cost=cost_change(plan, stacks[plan.name].template, comparison.stacks),
        former=_former(site, stacks[plan.name]),
        refusals=tuple(refusals),
    )


def _outputs(stack: StackState) -> Mapping[str, str]:
    return stack.found.outputs if stack.found else {}


def _former(site: Site, stack: StackState) -> tuple[str, ...]:
    found = _outputs(stack)
    if site.plan.orchestrator is not Orchestrator.BATCH or not found.keys() >= OUTPUTS:
        return ()
    return tuple(each.name for each in former_environments(site.region, found))


def _deployed(state: StackState) -> SynthesisedStack:
    """Return a stack as it is deployed, under the names that the app gives now."""
    assert state.found
    template = without_switch(state.template)
    return replace(state.made, template=template, protected=state.found.protected)


def _with_both(site: Site, jobs: Sequence[JobFate]) -> Site:
    """Return a site whose cluster has the nodes of running jobs beside all of its own."""
    plan = site.plan
    nodes = sum(job.nodes for job in jobs if job.fate is not Fate.WAITS_ON)
    both = replace(plan, nodes=NodeRange(min=plan.nodes.min, max=plan.nodes.max + nodes))
    return replace(site, load=lambda: both)


def _jobs(
    site: Site, stack: StackState, found: Sequence[Risk], comparison: TemplateComparison
) -> tuple[tuple[JobFate, ...], str | None]:
    """Return the jobs that are not over; else why they are not known."""
    outputs = _outputs(stack)
    try:
        scheduler = scheduler_of(site.region, site.plan.name, outputs)
        if scheduler is None:
            return (), None
        loses = _loses_queue(comparison)
        now = datetime.now(UTC)
        return tuple(job_fates(scheduler, found, loses_queue=loses, now=now)), None
    except (AwsRefusal, UnseenJobs) as error:
        return (), str(error)


def _loses_queue(comparison: TemplateComparison) -> bool:
    """Whether what holds the jobs that wait is replaced or removed.

    The orchestrator that is deployed may be another one than the cluster file's.
    """
    of_jobs = [part(orchestrator, "risks") for orchestrator in Orchestrator]
    holding = {resource_type for each in of_jobs for resource_type in each.RUNS_JOBS}
    holding -= {each.LAUNCHES_NODES for each in of_jobs}
    return any(
        resource.resource_type in holding and resource.effect in GIVEN_UP
        for stack in comparison.stacks
        for resource in stack.resources
    )


def _refusals(
    found: Sequence[Risk], jobs: Sequence[JobFate], unseen: str | None, way: str
) -> Iterator[ChangeRefusal]:
    """Yield what stops the change; the way out for jobs is given."""
    for risk in found:
        refused = risk.level is Level.HIGH or risk.kind in _ALWAYS
        if refused and risk.kind is not RiskKind.JOBS_KILLED:
            text = f"{risk.stack} {risk.resource}: {risk.message}: {risk.remedy}"
            yield ChangeRefusal(kind=risk.kind, text=text)
    spared = spared_minutes(found)
    ending = [job for job in jobs if job.fate is Fate.MAY_END]
    if ending:
        names = ", ".join(f"{job.name} ({job.job_id})" for job in ending)
        yield ChangeRefusal(
            kind=RiskKind.JOBS_KILLED, text=f"jobs that may be ended: {names}; {way}"
        )
    if unseen and spared is not None:
        yield ChangeRefusal(
            kind=RiskKind.JOBS_KILLED, text=f"jobs that may be ended are not known: {unseen}"
        )
    if spared:
        longest = _longest_wait(jobs, spared)
        if longest > _STACK_WAITS_MINUTES:
            yield ChangeRefusal(
                kind=RiskKind.DEPLOYMENT_FAILS,
                text=f"the deployment waits for jobs that run, which may take {ceil(longest / 60)} "
                f"hours, and may fail after {_STACK_WAITS_MINUTES // 60} (TS-JOB-028): {way}",
            )


def _longest_wait(jobs: Sequence[JobFate], spared: int) -> int:
    """Return for how many minutes a deployment may wait for jobs that it spares for a time."""
    running = [job for job in jobs if job.fate is not Fate.WAITS_ON]
    return max(
        (spared if job.minutes_left is None else min(job.minutes_left, spared) for job in running),
        default=0,
    )
