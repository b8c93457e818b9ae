"""Run a stack's operation in a thread; the call waits for it a while, unless others must act."""

import contextvars
import logging
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

from embedded_aws.cloudformation.stack import Stack

_log = logging.getLogger(__name__)

# Seconds a call waits for its operation. Most end within them, so that the CDK CLI's first poll
# sees the result; SDKs time out after 60.
_PATIENCE: Final = 20

# Set when the calls that wait for this operation are to be answered: its own, and those of the
# stacks in which it is nested.
_answers: ContextVar[tuple[threading.Event, ...]] = ContextVar("answers", default=())


def answer_callers() -> None:
    """Let the calls return that wait for this operation, because it waits for others."""
    for answer in _answers.get():
        answer.set()


def launch(stack: Stack, work: Callable[[], None]) -> None:
    """Start an operation and wait for it a while.

    Args:
        stack: the stack.
        work: does the operation, and gives the stack its final status.
    """
    answer = threading.Event()

    def run() -> None:
        _answers.set((*_answers.get(), answer))
        try:
            work()
        except Exception as error:
            # A bug must not leave a stack in progress forever.
            _log.exception("internal error of the embedded AWS in stack %s", stack.name)
            verb = stack.status.partition("_IN_PROGRESS")[0]
            stack.record(
                f"{verb}_FAILED",
                f"internal error of the embedded AWS: {type(error).__name__}: {error}",
            )
        finally:
            answer.set()

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), daemon=True, name=stack.name)
    thread.start()
    answer.wait(_PATIENCE)
