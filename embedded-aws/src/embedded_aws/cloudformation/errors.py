"""What CloudFormation's API answers when it refuses a call."""

from moto.core.exceptions import ServiceException


class ValidationError(ServiceException):
    """A template, a parameter or a request that CloudFormation refuses before it does anything."""

    code = "ValidationError"


class AlreadyExists(ServiceException):
    """A stack or change set of that name exists."""

    code = "AlreadyExistsException"


class ChangeSetNotFound(ServiceException):
    """No change set has that name or ARN."""

    code = "ChangeSetNotFound"


class InvalidChangeSetStatus(ServiceException):
    """The change set cannot be executed or deleted as it stands."""

    code = "InvalidChangeSetStatus"


class InsufficientCapabilities(ServiceException):
    """The template makes IAM resources and the caller did not acknowledge it."""

    code = "InsufficientCapabilitiesException"


class InternalFailure(ServiceException):
    """A bug of the embedded AWS."""

    code = "InternalFailure"
