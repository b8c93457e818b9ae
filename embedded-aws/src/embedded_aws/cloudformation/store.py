"""Where stacks and change sets are kept, by account and region."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from moto.cloudformation.models import cloudformation_backends

from embedded_aws.cloudformation.changes.model import Changes
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.records import Output
from embedded_aws.cloudformation.stack import Stack


@dataclass(slots=True, kw_only=True)
class ChangeSet:
    """A change set.

    Attributes:
        kind: CREATE or UPDATE.
        on_failure: what a failing execution does: ROLLBACK, DO_NOTHING or DELETE.
        operation_id: of its creation, not of its execution.
    """

    change_set_id: str
    name: str
    kind: str
    stack: Stack
    changes: Changes
    status: str
    reason: str | None
    execution_status: str
    description: str | None = None
    on_failure: str | None = None
    role_arn: str | None = None
    operation_id: str = field(default_factory=lambda: str(uuid4()))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


class Store:
    """The stacks and change sets of one account in one region.

    They are stored in moto's backend, so that moto's reset removes them too.

    Attributes:
        stacks: stacks that are not deleted, by id.
        deleted: deleted stacks, by id.
        change_sets: change sets, by id.
    """

    def __init__(self, account: str, region: str) -> None:
        backend: Any = cloudformation_backends[account][region]
        self.stacks: dict[str, Stack] = backend.stacks
        self.deleted: dict[str, Stack] = backend.deleted_stacks
        self.change_sets: dict[str, ChangeSet] = backend.change_sets

    def add(self, stack: Stack) -> None:
        """Add a new stack."""
        self.stacks[stack.stack_id] = stack

    def retire(self, stack: Stack) -> None:
        """Move a stack to the deleted ones, which are found by id only."""
        self.deleted[stack.stack_id] = stack
        self.stacks.pop(stack.stack_id, None)

    def change_sets_of(self, stack: Stack) -> list[ChangeSet]:
        """Return a stack's change sets."""
        return [it for it in list(self.change_sets.values()) if it.stack is stack]

    def find(self, name_or_id: str | None) -> Stack | None:
        """Return a stack by name, or by id even when it is deleted."""
        if name_or_id is None:
            return None
        if found := self.stacks.get(name_or_id) or self.deleted.get(name_or_id):
            return found
        return next(
            (stack for stack in list(self.stacks.values()) if stack.name == name_or_id), None
        )

    def get(self, name_or_id: str) -> Stack:
        """Return a stack by name or id.

        Raises:
            ValidationError: there is none.
        """
        found = self.find(name_or_id)
        if found is None:
            raise ValidationError(f"Stack with id {name_or_id} does not exist")
        return found

    def exports(self) -> Iterator[tuple[Stack, Output]]:
        """Yield every export of the region with its stack."""
        for stack in list(self.stacks.values()):
            for output in stack.outputs:
                if output.export is not None:
                    yield stack, output

    def importers(self, export: str) -> list[Stack]:
        """Return the stacks that import an export."""
        return [
            stack
            for stack in list(self.stacks.values())
            if stack.desired and stack.resources and export in stack.desired.imports
        ]
