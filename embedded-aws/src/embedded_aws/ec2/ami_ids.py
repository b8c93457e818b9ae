"""The form of an AMI id. EC2 API reference, InvalidAMIID.Malformed."""

import re

_IMAGE_ID = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})")


def is_ami_id(text: str) -> bool:
    """Whether a text has the form of an AMI id; the AMI itself may not exist."""
    return _IMAGE_ID.fullmatch(text) is not None
