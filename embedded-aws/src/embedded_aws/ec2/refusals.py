"""EC2's most frequent refusals."""

from embedded_aws.actions import Refusal
from embedded_aws.constraints import checks_arguments

checks_arguments("ec2", "InvalidParameterValue")


def invalid_value(message: str) -> Refusal:
    """Return the refusal of an invalid value."""
    return Refusal("InvalidParameterValue", message)


def invalid_combination(message: str) -> Refusal:
    """Return the refusal of values that exclude each other."""
    return Refusal("InvalidParameterCombination", message)


def missing_parameter(name: str) -> Refusal:
    """Return the refusal of a request without a parameter."""
    return Refusal("MissingParameter", f"The request must contain the parameter {name}")
