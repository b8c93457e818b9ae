"""Whoever reads a plan sees what was decided, and cannot see what was merely asked."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel

from trainshed.plan import ClusterPlan
from trainshed.plan.storage import STORAGES
from trainshed.spec import (
    BucketGrant,
    BucketSpec,
    EfsSpec,
    FindingsSpec,
    LustreSpec,
    NodeRange,
    OpenZfsSpec,
    TrainingSpec,
)
from trainshed.spec.guard import BudgetSpec

# Of these nothing is left to decide when a plan has them; LustreSpec brings its link to S3.
RESOLVED = {
    BucketGrant,
    BucketSpec,
    BudgetSpec,
    EfsSpec,
    FindingsSpec,
    LustreSpec,
    NodeRange,
    OpenZfsSpec,
    TrainingSpec,
}


def types_in(annotation: Any, seen: set[Any]) -> Iterator[type]:
    """Every class that a value of a type leads to."""
    if annotation in seen:
        return
    seen.add(annotation)
    for argument in get_args(annotation):
        yield from types_in(argument, seen)
    if not isinstance(annotation, type):
        return
    yield annotation
    if is_dataclass(annotation):
        hints = get_type_hints(annotation)
        for field in fields(annotation):
            yield from types_in(hints[field.name], seen)


def test_a_plan_leads_to_no_field_that_it_has_resolved() -> None:
    seen: set[Any] = set()
    found = {each for plan in (ClusterPlan, *STORAGES) for each in types_in(plan, seen)}

    assert {each for each in found if issubclass(each, BaseModel)} == RESOLVED
