"""Delete resources: dependents first, by their policies; collect failures."""

from collections.abc import Collection, Sequence

from embedded_aws.cloudformation.execution.step import Step, StepFailed
from embedded_aws.cloudformation.policies import is_retained
from embedded_aws.cloudformation.records import Resource
from embedded_aws.cloudformation.stack import Stack
from embedded_aws.cloudformation.template.references import in_order


def remove(
    stack: Stack,
    resources: Sequence[Resource],
    attribute: str,
    *,
    being_created: bool = False,
    retain: Collection[str] = (),
) -> list[str]:
    """Delete resources, each before what it depends on.

    A resource stays when another one that depends on it could not be deleted.

    Args:
        stack: gets the events.
        resources: what to delete; those without a physical id were never made.
        attribute: which policy decides, `policies.DELETION` or `policies.REPLACEMENT`.
        being_created: the operation that made them is being rolled back.
        retain: logical ids to keep whatever their policy says.

    Returns:
        The logical ids that could not be deleted.
    """
    step = Step(stack=stack)
    existing = {
        f"{resource.logical_id}|{resource.physical_id}": resource
        for resource in resources
        if resource.physical_id
    }
    needs = {
        key: frozenset(
            other for other, it in existing.items() if it.logical_id in resource.dependencies
        )
        for key, resource in existing.items()
    }
    stuck: set[str] = set()
    for key in reversed(in_order(needs)):
        resource = existing[key]
        if any(key in needs[other] for other in stuck):
            stuck.add(key)
            continue
        kept = is_retained(resource, attribute, being_created=being_created)
        if kept or resource.logical_id in retain:
            stack.forget(stack.record_resource(resource, "DELETE_SKIPPED"))
            continue
        try:
            stack.forget(step.delete(resource))
        except StepFailed:
            stuck.add(key)
    return [existing[key].logical_id for key in needs if key in stuck]
