"""Why a resource failed, in CloudFormation's words."""

import logging
from uuid import uuid4

from botocore.exceptions import ClientError, ParamValidationError
from moto.core.exceptions import ServiceException
from werkzeug.exceptions import HTTPException

from embedded_aws.cloudformation.resource import HandlerError, handler_error_code

_log = logging.getLogger(__name__)


class InvalidProperties(HandlerError):
    """The properties were refused before any handler saw them."""


class PartlyDone(HandlerError):
    """A custom resource or a nested stack failed, but exists and must be deleted.

    Args:
        message: the reason for the event.
        physical_id: what a rollback deletes.
    """

    def __init__(self, message: str, physical_id: str) -> None:
        super().__init__(message, "GeneralServiceException")
        self.physical_id = physical_id


def reason_of(error: Exception) -> str:
    """Return why a resource failed, in CloudFormation's words; log unexpected errors.

    Args:
        error: raised by the handler.
    """
    if isinstance(error, InvalidProperties | PartlyDone):
        return str(error)
    if isinstance(error, HandlerError):
        return _returned(str(error), error.code)
    if isinstance(error, ClientError):
        return _returned(*_answered(error))
    if isinstance(error, ParamValidationError):
        return _returned(str(error), "InvalidRequest")
    if isinstance(error, ServiceException):
        return _returned(error.message, handler_error_code(error.code))
    if isinstance(error, HTTPException):
        return _returned(str(error.description), "InvalidRequest")
    _log.error("internal error of the embedded AWS", exc_info=error)
    return f"internal error of the embedded AWS: {type(error).__name__}: {error}"


def _returned(message: str, code: str) -> str:
    return (
        f'Resource handler returned message: "{message}" '
        f"(RequestToken: {uuid4()}, HandlerErrorCode: {code})"
    )


def _answered(error: ClientError) -> tuple[str, str]:
    answer = error.response["Error"]
    status = error.response["ResponseMetadata"].get("HTTPStatusCode", 400)
    message = (
        f"{answer['Message']} (Error Code: {answer['Code']}, "
        f"Operation: {error.operation_name}, Status Code: {status})"
    )
    return message, handler_error_code(answer["Code"])
