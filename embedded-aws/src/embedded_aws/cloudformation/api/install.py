"""Replaces moto's CloudFormation by this one."""

import logging
from typing import Any
from urllib.parse import parse_qs, urlsplit

from moto.cloudformation import urls
from moto.core.responses import ActionResult

from embedded_aws.actions import Refusal, correction
from embedded_aws.cloudformation.api.change_sets import ChangeSets
from embedded_aws.cloudformation.api.commands import Commands
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.execution.custom import RESPONSE_PATH, deliver, origin

_log = logging.getLogger(__name__)


class _CloudFormation(Commands, ChangeSets):
    """The whole API; moto's server calls its methods by the names of the actions."""

    def __init__(self) -> None:
        super().__init__(service_name="cloudformation")
        self.automated_parameter_parsing = True

    def call_action(self) -> Any:
        """Answer one request; a bug must not become an HTTP 500, which SDKs retry."""
        if self.normalized_request.from_wsgi_server:
            origin.set(self.normalized_request.host_url.rstrip("/"))
        try:
            return super().call_action()
        except NotImplementedError:
            refusal = ValidationError(
                f"the embedded AWS does not support CloudFormation's {self._get_action()}"
            )
            return self.serialized(ActionResult(refusal))
        except Exception as error:
            _log.exception("internal error of the embedded AWS in %s", self._get_action())
            failure = Refusal(
                "InternalFailure",
                f"internal error of the embedded AWS: {type(error).__name__}: {error}",
            )
            return self.serialized(ActionResult(failure))


def _respond(request: Any, full_url: str, headers: Any) -> tuple[int, dict[str, str], str]:
    """Take the answer of a custom resource's function."""
    token = parse_qs(urlsplit(full_url).query).get("token", [""])[0]
    return (200 if deliver(token, request.data) else 404), {}, ""


@correction
def replace_moto() -> None:
    """Make moto's server answer CloudFormation's calls with this package."""
    urls.url_paths = {
        "{0}/$": _CloudFormation.dispatch,
        "{0}" + RESPONSE_PATH.format(region="(?P<region>[^/]+)") + "$": _respond,
    }
