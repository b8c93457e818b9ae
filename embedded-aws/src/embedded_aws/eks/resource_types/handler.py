"""What the handlers of EKS's types have in common.

As on AWS, each waits until the service is done: a creation for ACTIVE, a deletion until
nothing is there. CloudFormation's schema of schemas: an operation of a handler whose schema says
nothing else times out after 120 minutes.
"""

import time
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from embedded_aws.clock import seconds_here
from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import HandlerError, Properties, Request

_HANDLER_SECONDS = 7200
# A control plane takes its time to start, however fast AWS's times pass.
_LEAST_SECONDS = 60
_POLL_SECONDS = 0.1
_GOOD, _BAD = ("ACTIVE",), ("FAILED", "CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED")


class EksHandler(Handler):
    """A handler that waits until EKS is done."""

    service = "eks"
    tagging = Tagging(target="resourceArn", by="Arn", form=dict)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        """Wait until the resource is ready."""
        self.wait(lambda: self.is_ready(request, physical_id))

    def is_ready(self, request: Request, physical_id: str) -> bool:
        """Return whether the resource is ACTIVE.

        Raises:
            HandlerError: it has failed.
        """
        described = self._described(request, physical_id)
        if described["status"] in _BAD:
            raise HandlerError(_failure(described), "NotStabilized")
        return described["status"] in _GOOD

    def _delete(self, request: Request, physical_id: str) -> None:
        super()._delete(request, physical_id)
        self.wait(lambda: self._is_gone(request, physical_id))

    def _is_gone(self, request: Request, physical_id: str) -> bool:
        try:
            described = self._described(request, physical_id)
        except ClientError as error:
            if error.response["Error"]["Code"] == "ResourceNotFoundException":
                return True
            raise
        if described["status"] in _BAD:
            raise HandlerError(_failure(described), "NotStabilized")
        return False

    def wait(self, done: Callable[[], bool]) -> None:
        """Wait until something is so."""
        # From memory: the words.
        ends_at = time.monotonic() + max(seconds_here(_HANDLER_SECONDS), _LEAST_SECONDS)
        while not done():
            if time.monotonic() > ends_at:
                raise HandlerError("Exceeded attempts to wait", "NotStabilized")
            time.sleep(_POLL_SECONDS)

    def refuse_failed(self, update: Any) -> None:
        """Refuse to go on after an update that has failed.

        Raises:
            HandlerError: with the update's errors.
        """
        if update["status"] == "Failed":
            told = "; ".join(f"[{it['errorCode']}] {it['errorMessage']}" for it in update["errors"])
            raise HandlerError(f"Update failed: {told}", "NotStabilized")


def _failure(described: Any) -> str:
    """Return why a resource has failed, from its health."""
    issues = described.get("health", {}).get("issues", [])
    told = "; ".join(f"[{each['code']}] {each['message']}" for each in issues)
    return f"Resource is {described['status']}: {told}"
