"""One resource: created, updated or deleted, with its events."""

import threading
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any

from embedded_aws.clock import seconds_here
from embedded_aws.cloudformation import signals
from embedded_aws.cloudformation.clients import client
from embedded_aws.cloudformation.execution.awaiting import CANCELLED, Awaited, NotSignalled
from embedded_aws.cloudformation.execution.support import supporting_handler
from embedded_aws.cloudformation.failures import PartlyDone, reason_of
from embedded_aws.cloudformation.records import Resource
from embedded_aws.cloudformation.resource import (
    HandlerError,
    Made,
    Request,
    ResourceHandler,
    SignalledByInstances,
)
from embedded_aws.cloudformation.schema import is_custom, schema_of
from embedded_aws.cloudformation.stack import STACK_TYPE, Stack
from embedded_aws.cloudformation.template.creation_policy import creation_policy
from embedded_aws.cloudformation.template.dynamic import with_dynamic_references
from embedded_aws.cloudformation.template.validation import valid_properties

# moto's backends are not safe for threads: concurrent deployments take turns, resource by
# resource. Resources that wait for others (functions, nested stacks) do not hold the turn.
_turn = threading.RLock()


class StepFailed(Exception):
    """A resource failed, and its event is recorded.

    Args:
        resource: the resource as it stands now.
        untouched: the handler changed nothing, so there is nothing to restore.
    """

    def __init__(self, resource: Resource, *, untouched: bool) -> None:
        super().__init__(resource.reason)
        self.resource = resource
        self.untouched = untouched


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a stack does to its resources, one at a time.

    Attributes:
        stack: the stack.
        awaited: the signals for which resources wait that are made, by logical id.
    """

    stack: Stack
    awaited: dict[str, Awaited] = field(default_factory=dict)

    def create(self, resource: Resource, verb: str = "CREATE") -> Resource:
        """Make a resource; one with a creation policy is not complete yet.

        Args:
            resource: what to make; its properties are resolved.
            verb: CREATE, or UPDATE when it takes the place of another one.

        Raises:
            StepFailed: it could not be made.
        """
        policy = creation_policy(resource.logical_id, resource.definition)
        # Its instances may signal before it counts as made.
        mailbox = signals.expect(self.stack, resource.logical_id) if policy else None
        begun = monotonic()
        try:
            made = self._make(resource, verb, lambda request: _handler(resource).create(request))
        except StepFailed:
            signals.expect_no_more(self.stack, resource.logical_id)
            raise
        made = self.stack.store(
            self.stack.record_resource(made, f"{verb}_IN_PROGRESS", "Resource creation Initiated")
        )
        if policy is None or mailbox is None:
            return self.stack.store(self.stack.record_resource(made, f"{verb}_COMPLETE"))
        self.awaited[made.logical_id] = Awaited(
            stack=self.stack,
            resource=made,
            verb=verb,
            policy=policy,
            mailbox=mailbox,
            ends_at=begun + seconds_here(policy.seconds),
            signallers=partial(self._signallers, made),
        )
        return made

    def complete(self, logical_id: str) -> Resource:
        """Wait for the signals to a resource, after which it is complete.

        Raises:
            StepFailed: they failed, or did not come in time.
        """
        awaited = self.awaited.pop(logical_id)
        try:
            awaited.wait()
        except NotSignalled as error:
            raise self._incomplete(awaited, str(error)) from error
        finally:
            signals.expect_no_more(self.stack, logical_id)
        done = self.stack.record_resource(awaited.resource, f"{awaited.verb}_COMPLETE")
        return self.stack.store(done)

    def cancel(self, logical_id: str) -> StepFailed:
        """End the wait for the signals to a resource, which fails, because others failed."""
        signals.expect_no_more(self.stack, logical_id)
        return self._incomplete(self.awaited.pop(logical_id), CANCELLED)

    def _incomplete(self, awaited: Awaited, reason: str) -> StepFailed:
        failed = self.stack.record_resource(awaited.resource, f"{awaited.verb}_FAILED", reason)
        return StepFailed(self.stack.store(failed), untouched=False)

    def _signallers(self, resource: Resource) -> Collection[str] | None:
        handler = _handler(resource)
        if not isinstance(handler, SignalledByInstances):
            return None
        return handler.signallers(self._request(resource), resource.physical_id)

    def update(self, before: Resource, after: Resource) -> Resource:
        """Change a resource in place.

        Args:
            before: the resource as it stands.
            after: the same with its new properties.

        Raises:
            StepFailed: it could not be changed.
        """

        def change(request: Request) -> Made:
            request = replace(request, former_tags=before.tags)
            return _handler(after).update(request, before.physical_id, before.sent)

        changed = self._make(after, "UPDATE", change)
        return self.stack.store(self.stack.record_resource(changed, "UPDATE_COMPLETE"))

    def _make(self, resource: Resource, verb: str, call: Callable[[Request], Made]) -> Resource:
        """Check a resource's properties, and have its handler make or change it."""
        failed = f"{verb}_FAILED"
        checked = self.attempt(resource, failed, lambda: self._checked(resource), harmless=True)

        def make() -> Resource:
            made = call(self._request(checked))
            return replace(checked, physical_id=made.physical_id, attributes=made.attributes)

        return self.attempt(checked, failed, make)

    def delete(self, resource: Resource) -> Resource:
        """Delete a resource.

        Raises:
            StepFailed: it could not be deleted.
        """

        def remove() -> Resource:
            _handler(resource).delete(self._request(resource), resource.physical_id)
            return resource

        self._store_if_current(self.stack.record_resource(resource, "DELETE_IN_PROGRESS"))
        self.attempt(resource, "DELETE_FAILED", remove)
        return self.stack.record_resource(resource, "DELETE_COMPLETE")

    def attempt(
        self,
        resource: Resource,
        failed: str,
        action: Callable[[], Resource],
        *,
        harmless: bool = False,
    ) -> Resource:
        """Run an action for a resource; any error becomes its failure.

        Args:
            resource: the resource that fails.
            failed: its status then, for instance `CREATE_FAILED`.
            action: returns the resource as it stands afterwards.
            harmless: the action changes nothing outside the stack.

        Raises:
            StepFailed: something went wrong.
        """
        try:
            with _turn_of(resource.resource_type):
                return action()
        except Exception as error:
            # Any error here must fail the stack only: an HTTP 500 would make the caller's SDK
            # retry the request. A bug is logged and reported as one.
            if isinstance(error, PartlyDone):
                resource = replace(resource, physical_id=error.physical_id)
            failed_now = self.stack.record_resource(resource, failed, reason_of(error))
            self._store_if_current(failed_now)
            untouched = harmless or (
                isinstance(error, HandlerError) and error.code == "NotUpdatable"
            )
            raise StepFailed(failed_now, untouched=untouched) from error

    def _store_if_current(self, resource: Resource) -> None:
        """A replaced resource that is being deleted must not hide the one that replaced it."""
        current = self.stack.resources.get(resource.logical_id)
        if current is None or current.physical_id in ("", resource.physical_id):
            self.stack.store(resource)

    def _checked(self, resource: Resource) -> Resource:
        """Resolve dynamic references, and check the properties against the schema."""
        sent = with_dynamic_references(resource.properties, self._client)
        schema = schema_of(resource.resource_type, self.stack.region)
        if schema is not None:
            sent = valid_properties(sent, schema=schema, logical_id=resource.logical_id)
        return replace(resource, sent=sent)

    def _request(self, resource: Resource) -> Request:
        return Request(
            resource_type=resource.resource_type,
            logical_id=resource.logical_id,
            properties=resource.sent,
            definition=resource.definition,
            stack_name=self.stack.name,
            stack_id=self.stack.stack_id,
            account=self.stack.account,
            region=self.stack.region,
            tags={
                **resource.tags,
                "aws:cloudformation:logical-id": resource.logical_id,
                "aws:cloudformation:stack-id": self.stack.stack_id,
                "aws:cloudformation:stack-name": self.stack.name,
            },
            client=self._client,
        )

    @property
    def _client(self) -> Callable[[str], Any]:
        return partial(client, account=self.stack.account, region=self.stack.region)


def _handler(resource: Resource) -> ResourceHandler:
    handler = supporting_handler(resource.resource_type)
    if handler is None:
        raise HandlerError(f"Unrecognized resource type {resource.resource_type}", "TypeNotFound")
    return handler


def _turn_of(resource_type: str) -> AbstractContextManager[object]:
    waits = is_custom(resource_type) or resource_type == STACK_TYPE
    return nullcontext() if waits else _turn
