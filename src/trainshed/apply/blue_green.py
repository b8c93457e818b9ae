"""A change of AWS Batch's nodes that ends no job: the new environment beside the old one.

CloudFormation replaces the compute environment, gives the new one to the queue, and keeps the old
one: by `ReplaceComputeEnvironment` and `UpdateReplacePolicy: Retain`, which the template has for
that time only. Three deployments of the cluster's stack do it:

1. `keep` gives both to the environment that is deployed, and changes nothing else. Which of both
   templates of an update counts for the policy is not documented.
2. `switch` deploys the new template with both.
3. The ordinary deployment takes both away. AWS::Batch::ComputeEnvironment,
   ReplaceComputeEnvironment: "When changing the value of this property to false, do not change any
   other properties at the same time."

How far it has come is in the deployed template, so that nothing else need be kept. When it was
interrupted, and the next change needs no other environment, `take-back` ends it before that.

AWS Batch user guide, "Perform blue/green updates for compute environments". Inferred: jobs that run
go on when their environment leaves the queue.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

from trainshed.account.deployed_stacks import find_stack, template_of
from trainshed.app.synthesis import SynthesisedStack
from trainshed.errors import Failure
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.batch.former import former_environments
from trainshed.plan import ClusterPlan
from trainshed.review.changes import TemplateComparison
from trainshed.review.model import Effect, Risk, RiskKind
from trainshed.review.risks.affected import GIVEN_UP
from trainshed.up import Look, Site, Step, StepState

Template = Mapping[str, Any]

_ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
_REPLACES, _POLICY = "ReplaceComputeEnvironment", "UpdateReplacePolicy"
# A revision of the job definition ends no job.
_MAY_BE_GIVEN_UP = (_ENVIRONMENT, "AWS::Batch::JobDefinition")
_MINUTES = 5


def refusals(plan: ClusterPlan, comparison: TemplateComparison) -> Iterator[str]:
    """Yield why the new nodes cannot be beside the old ones.

    Args:
        plan: of the cluster file.
        comparison: of the deployed templates with its.
    """
    if plan.orchestrator is not Orchestrator.BATCH:
        yield (
            f"--blue-green is for orchestrator batch: that of {plan.name} is {plan.orchestrator}, "
            "which has no second group of nodes to move to (docs/apply.md, Blue and green); leave "
            "it out, and where the change ends jobs, wait until they are over"
        )
        return
    if plan.capacity.is_reserved:
        yield (
            f"--blue-green needs capacity for both at once, and that of {plan.name} is "
            f"{plan.capacity.words}; wait until its jobs are over"
        )
    for stack in comparison.stacks:
        for each in stack.resources:
            moved = each.resource_type == _ENVIRONMENT and each.effect is Effect.REMOVED
            lost = stack.name == plan.name and each.resource_type not in _MAY_BE_GIVEN_UP
            if each.effect in GIVEN_UP and (moved or lost):
                yield (
                    f"--blue-green: {each.name} ({each.resource_type}) is {each.effect}, and the "
                    "old environment may need it; wait until its jobs are over"
                )


def ends_no_jobs(risk: Risk, made: SynthesisedStack) -> bool:
    """Whether a risk is that of the environment, which stays until its jobs are over.

    Args:
        risk: of the change.
        made: the cluster's own stack as the app makes it.
    """
    return risk.kind is RiskKind.JOBS_KILLED and any(
        made.name(logical_id) == risk.resource
        for logical_id, resource in made.template["Resources"].items()
        if resource["Type"] == _ENVIRONMENT
    )


def without_switch(template: Template) -> Template:
    """Return a deployed template without what blue and green put into it for a time."""
    found = deepcopy(dict(template))
    for environment in _environments(found):
        if environment.pop(_POLICY, None) is not None:
            environment["Properties"][_REPLACES] = False
    return found


def with_switch(template: Template) -> Template:
    """Return a template in which the environment is replaced, and the old one kept."""
    found = deepcopy(dict(template))
    for environment in _environments(found):
        environment["Properties"][_REPLACES] = True
        environment[_POLICY] = "Retain"
    return found


def steps(site: Site, folder: Path) -> tuple[Step, Step]:
    """Return what is deployed before the ordinary deployment.

    Args:
        site: the cluster and its account.
        folder: for cloud assemblies.
    """
    made = site.stacks[site.plan.name].template

    def is_switched(template: Template) -> bool:
        return without_switch(template) == made

    def is_kept(template: Template) -> bool:
        return is_switched(template) or template == with_switch(template)

    return (
        Step(
            name="keep",
            title="The compute environment is kept when it is replaced",
            look=lambda: _look(site, folder / "keep", is_kept, with_switch),
        ),
        Step(
            name="switch",
            title="A new compute environment, and the queue moves to it",
            look=lambda: _look(site, folder / "switch", is_switched, None),
        ),
    )


def take_back(site: Site, folder: Path, deployed: Template) -> tuple[Step, ...]:
    """Return what is deployed before a change that moves no queue: the end of an interrupted one.

    Args:
        site: the cluster and its account.
        folder: for cloud assemblies.
        deployed: the template of its own stack.
    """
    # The ordinary deployment ends it where that changes nothing else.
    if without_switch(deployed) in (deployed, site.stacks[site.plan.name].template):
        return ()
    step = Step(
        name="take-back",
        title="The compute environment is no longer kept",
        look=lambda: _look(
            site,
            folder / "take-back",
            lambda template: template == without_switch(template),
            without_switch,
        ),
    )
    return (step,)


def _look(
    site: Site,
    assembly: Path,
    is_done: Callable[[Template], bool],
    change: Callable[[Template], Template] | None,
) -> Look:
    """Ask whether a template is deployed; if not, return the command that deploys it.

    Args:
        site: the cluster and its account.
        assembly: folder for the cloud assembly.
        is_done: whether a deployed template needs no deployment.
        change: of the deployed template, without the other stacks; None for that of the cluster
            file, with the switch.

    Raises:
        Failure: the stack has gone.
    """
    found = find_stack(site.region, site.plan.name)
    if found is None:
        raise Failure(f"{site.plan.name} has gone from {site.region.name} meanwhile")
    if found.is_at_work:
        return Look(state=StepState.AT_WORK, says=f"{found.name} is {found.status}")
    template = template_of(site.region, found)
    if is_done(template):
        return Look(state=StepState.DONE, says=f"{found.name} is so far")
    made = site.stacks[found.name].template
    _write_assembly(site, assembly, change(template) if change else with_switch(made))
    deploy = site.cdk(
        *("deploy", found.name, "--exclusively" if change else "--concurrency=4"),
        *("--require-approval=never", "--app", str(assembly)),
    )
    return Look(
        state=StepState.TO_DO,
        says=f"{found.name} is not so far",
        commands=(deploy,),
        minutes=_MINUTES,
    )


def drain(site: Site) -> Step:
    """Return the step that waits for the jobs in environments that the cluster had before."""

    def look() -> Look:
        found = find_stack(site.region, site.plan.name)
        former = former_environments(site.region, found.outputs) if found else ()
        if not former:
            return Look(state=StepState.DONE, says="there is none")
        busy = [f"{', '.join(each.jobs)} in {each.name}" for each in former if each.jobs]
        if busy:
            return Look(state=StepState.AT_WORK, says="; ".join(busy))
        return Look(state=StepState.TO_DO, says=", ".join(each.name for each in former))

    return Step(name="drain", title="Jobs in the former compute environment", look=look)


def _environments(template: Template) -> Iterator[dict[str, Any]]:
    for resource in template.get("Resources", {}).values():
        if resource["Type"] == _ENVIRONMENT:
            yield resource


def _write_assembly(site: Site, folder: Path, template: Template) -> None:
    """Write the cloud assembly of the cluster, with another template of its own stack.

    The CDK CLI uploads a template under its hash, unless one of that hash is there.
    """
    file = site.synthesise_into(folder)[site.plan.name].file
    text = json.dumps(template, indent=1)
    before, after = (sha256(each).hexdigest() for each in (file.read_bytes(), text.encode()))
    file.write_text(text, encoding="utf-8")
    for manifest in (*folder.glob("manifest.json"), *folder.glob("*.assets.json")):
        said = manifest.read_text(encoding="utf-8")
        manifest.write_text(said.replace(before, after), encoding="utf-8")
