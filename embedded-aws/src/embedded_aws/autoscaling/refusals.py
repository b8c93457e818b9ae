"""EC2 Auto Scaling's most frequent refusals."""

from embedded_aws.actions import Refusal
from embedded_aws.constraints import checks_arguments

checks_arguments("autoscaling", "ValidationError")


def invalid(message: str) -> Refusal:
    """Return the refusal of an invalid request."""
    return Refusal("ValidationError", message)


def bad_template(message: str) -> Refusal:
    """Return the refusal of a launch template.

    Args:
        message: EC2's.
    """
    return invalid(f"You must use a valid fully-formed launch template. {message}")


def unsupported_change(name: str) -> Refusal:
    """Return the refusal of a change of a group of AWS Batch, which AWS does not support either."""
    return Refusal(
        "UnsupportedOperation",
        f"AWS Batch made the Auto Scaling group {name}, and only changes of its compute "
        "environment change it on the embedded AWS",
    )


def unsupported(what: str) -> Refusal:
    """Return the refusal of what the embedded AWS does not do.

    Args:
        what: for instance `a mixed instances policy`.
    """
    return Refusal(
        "UnsupportedOperation", f"The embedded AWS does not support {what} of Auto Scaling groups"
    )
