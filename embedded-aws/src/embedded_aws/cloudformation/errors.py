"""What CloudFormation's API answers when it refuses a call."""

from moto.core.exceptions import ServiceException


class ValidationError(ServiceException):
    """A template, a parameter or a request that CloudFormation refuses before it does anything."""

    code = "ValidationError"
