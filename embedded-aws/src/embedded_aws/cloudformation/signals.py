"""Signals to resources that wait for them while they are created.

API reference, SignalResource: a FAILURE fails the creation, each signal has an id of its own.
Eucalyptus's CloudFormation, made after AWS's: its refusals. Documented: "... state and cannot be
signaled", as programs that signal expect it.
"""

import queue
import threading
from dataclasses import dataclass
from typing import Final

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.stack import Stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A signal.

    Attributes:
        unique_id: for instance the instance's id.
        status: SUCCESS or FAILURE.
    """

    unique_id: str
    status: str


class Mailbox:
    """Takes the signals to one resource.

    Attributes:
        cancelled: nobody wants them any more.
    """

    def __init__(self) -> None:
        self.cancelled = False
        self._seen: dict[str, str] = {}
        self._guard = threading.Lock()
        self._signals: queue.SimpleQueue[Signal | None] = queue.SimpleQueue()

    def post(self, logical_id: str, signal: Signal) -> None:
        """Deliver a signal.

        Raises:
            ValidationError: one with its id was delivered before, and it says no FAILURE.
        """
        with self._guard:
            if signal.unique_id in self._seen and signal.status != "FAILURE":
                raise ValidationError(
                    f"Signal with ID {signal.unique_id} for resource {logical_id} already exists. "
                    "Signals may only be updated with a FAILURE status."
                )
            self._seen[signal.unique_id] = signal.status
        self._signals.put(signal)

    def cancel(self) -> None:
        """End the wait for signals."""
        self.cancelled = True
        self._signals.put(None)

    def take(self, seconds: float) -> Signal | None:
        """Return the next signal, or None when none comes in time or they are cancelled."""
        try:
            return self._signals.get(timeout=max(0, seconds))
        except queue.Empty:
            return None


_mailboxes: Final[dict[tuple[str, str], Mailbox]] = {}


def expect(stack: Stack, logical_id: str) -> Mailbox:
    """Take signals to a resource from now on, until they are no longer expected."""
    mailbox = _mailboxes[stack.stack_id, logical_id] = Mailbox()
    return mailbox


def expect_no_more(stack: Stack, logical_id: str) -> None:
    """Refuse further signals to a resource."""
    _mailboxes.pop((stack.stack_id, logical_id), None)


def are_expected(stack: Stack) -> bool:
    """Return whether a resource of a stack waits for signals."""
    return any(stack_id == stack.stack_id for stack_id, _ in list(_mailboxes))


def cancel(stack: Stack) -> None:
    """End the wait for signals to the resources of a stack."""
    for (stack_id, _), mailbox in list(_mailboxes.items()):
        if stack_id == stack.stack_id:
            mailbox.cancel()


def send(stack: Stack, logical_id: str, signal: Signal) -> None:
    """Deliver a signal to a resource of a stack.

    Raises:
        ValidationError: the resource does not wait for it.
    """
    if mailbox := _mailboxes.get((stack.stack_id, logical_id)):
        mailbox.post(logical_id, signal)
        return
    if not stack.in_progress:
        raise ValidationError(
            f"Stack:{stack.stack_id} is in {stack.status} state and cannot be signaled"
        )
    resource = stack.resources.get(logical_id)
    if resource is None:
        raise ValidationError(f"Resource {logical_id} does not exist for stack {stack.name}")
    raise ValidationError(
        f"Resource {logical_id} is in {resource.status} state and cannot be signaled"
    )
