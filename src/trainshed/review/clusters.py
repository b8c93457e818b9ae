"""What a change does to each cluster."""

from collections.abc import Collection, Iterator, Sequence

from trainshed.orchestrators import part
from trainshed.parts.cluster import planned_facts
from trainshed.plan import ClusterPlan, Fleet
from trainshed.review.cost import cluster_cost_change
from trainshed.review.model import ClusterChange, Difference, Effect, Mark, StackChange
from trainshed.review.topology import topology

_TEMPLATE = "AWS::EC2::LaunchTemplate"
_NEW_VERSION = (Effect.CHANGED, Effect.MAY_BE_REPLACED, Effect.REPLACED)


def cluster_changes(
    before: Fleet, after: Fleet, stacks: Sequence[StackChange], refused: Collection[str]
) -> tuple[ClusterChange, ...]:
    """Return the clusters of both sides, changed ones first; a renamed one is two.

    Args:
        before: the clusters of the base; none when it is broken.
        after: the clusters of the head.
        stacks: what differs; empty when the base is broken.
        refused: names of the stacks whose deployment fails.

    Raises:
        TrainshedError: the project's own prices cannot be read.
    """
    old, new = ({each.name: each for each in side.clusters} for side in (before, after))
    found = [_change(old.get(name), new.get(name), stacks, refused) for name in {**new, **old}]
    return tuple(sorted(found, key=lambda change: change.effect is None))


def _change(
    before: ClusterPlan | None,
    after: ClusterPlan | None,
    stacks: Sequence[StackChange],
    refused: Collection[str],
) -> ClusterChange:
    plan = after or before
    assert plan  # on one side or both
    own = next((stack for stack in stacks if stack.name == plan.name), None)
    picture = topology(before, after, stacks)
    effect = own.effect if own else None
    facts = tuple(_facts(before, after, own))
    if before and after:
        touched = own or facts or any(each.mark is not Mark.SAME for each in picture.all_parts)
        effect = Effect.CHANGED if touched else None
    return ClusterChange(
        name=plan.name,
        file=plan.where.file,
        effect=effect,
        # Of one that is there alone, for all we know, nothing differs.
        facts=facts if effect else (),
        cost=cluster_cost_change(before, after, refused),
        picture=picture,
    )


def _facts(
    before: ClusterPlan | None, after: ClusterPlan | None, own: StackChange | None
) -> Iterator[Difference]:
    old, new = (planned_facts(side) if side else {} for side in (before, after))
    for name, fact in {**new, **old}.items():
        was, will_be = (side[name].value if name in side else None for side in (old, new))
        compared = name in old and name in new
        if was != will_be and (was or will_be) and (compared or not fact.minor):
            yield Difference(name=name, before=was or None, after=will_be or None)
    if before and after:
        yield from _variables(before, after)
        yield from _launch_template(after, own)


def _variables(before: ClusterPlan, after: ClusterPlan) -> Iterator[Difference]:
    """Yield variables of jobs that get another value, without the values: they may be secret."""
    old, new = before.asked_environment, after.asked_environment
    for name in sorted(old.keys() & new.keys()):
        if old[name] != new[name]:
            yield Difference(name=f"variable {name} of a job", before="set", after="another value")


def _launch_template(plan: ClusterPlan, own: StackChange | None) -> Iterator[Difference]:
    """Say who takes a new version of the launch template, which a plan does not know."""
    changes = own.resources if own else ()
    if any(each.resource_type == _TEMPLATE and each.effect in _NEW_VERSION for each in changes):
        taken = part(plan.orchestrator, "parts").new_template(plan)
        yield Difference(
            name="launch template", before="the latest version", after=f"a new version: {taken}"
        )
