"""What may go wrong when a change is deployed: the most dangerous first."""

from collections.abc import Iterable, Iterator, Mapping

from trainshed.app.synthesis import SynthesisedStack
from trainshed.review.changes import TemplateComparison
from trainshed.review.model import Effect, Level, ResourceChange, Risk, RiskKind, StackChange
from trainshed.review.risks.affected import Affected
from trainshed.review.risks.broad_permission import broad_permission
from trainshed.review.risks.data_loss import data_loss
from trainshed.review.risks.deployment_fails import (
    exports_in_use,
    moves_between_networks,
    other_types,
)
from trainshed.review.risks.expiry import expiry
from trainshed.review.risks.former_keys import former_keys
from trainshed.review.risks.identities import identities
from trainshed.review.risks.jobs_killed import jobs_killed
from trainshed.review.risks.node_updates import launches_nodes
from trainshed.review.risks.open_properties import open_properties
from trainshed.review.risks.open_rules import open_lists, open_rules
from trainshed.review.risks.protection import protection, unprotected_stacks
from trainshed.review.risks.refused_updates import refused_updates
from trainshed.review.risks.replaced import replaced
from trainshed.review.risks.secrets_shown import secrets_shown
from trainshed.review.values import names

_KINDS, _LEVELS = list(RiskKind), list(Level)
_RULES = (
    data_loss,
    protection,
    expiry,
    jobs_killed,
    open_properties,
    open_lists,
    secrets_shown,
    identities,
    refused_updates,
    replaced,
)


def risks(
    before: Mapping[str, SynthesisedStack],
    after: Mapping[str, SynthesisedStack],
    comparison: TemplateComparison,
) -> tuple[Risk, ...]:
    """Return what a reviewer must know before anything else: by kind, the worst first.

    Args:
        before: the stacks before the change, by name.
        after: those after it.
        comparison: of both.
    """
    return most_dangerous_first(dict.fromkeys(_risks(before, after, comparison)))


def most_dangerous_first(found: Iterable[Risk]) -> tuple[Risk, ...]:
    """Return risks by kind, the worst first."""
    return tuple(
        sorted(found, key=lambda risk: (_KINDS.index(risk.kind), _LEVELS.index(risk.level)))
    )


def _risks(
    before: Mapping[str, SynthesisedStack],
    after: Mapping[str, SynthesisedStack],
    comparison: TemplateComparison,
) -> Iterator[Risk]:
    for stack in comparison.stacks:
        for affected in _affected(stack, before, after):
            for rule in _RULES:
                yield from rule(affected)
    for name, difference in comparison.differences.items():
        called = names(name, before, after)
        stack_after = after.get(name)
        resources = stack_after.template.get("Resources", {}) if stack_after else {}
        account = (stack_after or before[name]).account
        yield from open_rules(name, difference, called)
        yield from former_keys(name, difference, called)
        yield from broad_permission(name, difference, resources, account, called)
    yield from unprotected_stacks(before, after)
    yield from exports_in_use(before, after, comparison)
    yield from moves_between_networks(before, after)
    yield from other_types(before, after)


def _affected(
    stack: StackChange,
    before: Mapping[str, SynthesisedStack],
    after: Mapping[str, SynthesisedStack],
) -> Iterator[Affected]:
    """Yield what differs in a stack, and what has nodes: these may follow what differs."""
    old, new = (
        side[stack.name].template.get("Resources", {}) if stack.name in side else {}
        for side in (before, after)
    )
    differing = {change.logical_id for change in stack.resources}
    following = [
        ResourceChange(
            stack=stack.name,
            logical_id=logical_id,
            name=after[stack.name].name(logical_id),
            resource_type=new[logical_id]["Type"],
            effect=Effect.CHANGED,
        )
        for logical_id in old.keys() & new.keys() - differing
        if launches_nodes(new[logical_id]["Type"])
    ]
    remains = stack.name in after
    for change in (*stack.resources, *following):
        yield Affected(
            change=change,
            before=old,
            after=new,
            stack=stack,
            region=(after if remains else before)[stack.name].region,
            remains=remains,
        )
