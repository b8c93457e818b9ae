"""Run a stack's operation in a thread; the call waits for it a while."""

import contextvars
import logging
import threading
from collections.abc import Callable
from typing import Final

from embedded_aws.cloudformation.stack import Stack

_log = logging.getLogger(__name__)

# Seconds a call waits for its operation. Most end within them, so that the CDK CLI's first poll
# sees the result; SDKs time out after 60.
_PATIENCE: Final = 20


def launch(stack: Stack, work: Callable[[], None]) -> None:
    """Start an operation and wait for it a while.

    Args:
        stack: the stack.
        work: does the operation, and gives the stack its final status.
    """

    def run() -> None:
        try:
            work()
        except Exception as error:
            # A bug must not leave a stack in progress for ever.
            _log.exception("internal error of the embedded AWS in stack %s", stack.name)
            verb = stack.status.partition("_IN_PROGRESS")[0]
            stack.record(
                f"{verb}_FAILED",
                f"internal error of the embedded AWS: {type(error).__name__}: {error}",
            )

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), daemon=True, name=stack.name)
    thread.start()
    thread.join(_PATIENCE)
