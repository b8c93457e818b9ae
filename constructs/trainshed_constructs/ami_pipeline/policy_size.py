"""Whether a role's inline policies are short enough for IAM."""

import json
from collections.abc import Sequence
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.errors import ConstructError

# IAM user guide, "IAM and AWS STS quotas": all inline policies of a role, without white space.
_CHARACTERS_MAX = 10_240
# What stands in the place of a reference at most.
_LENGTHS = {"AWS::AccountId": 12, "AWS::Partition": 10, "AWS::Region": 14}
_ARN_LENGTH = 128


def check_policy_size(
    construct: Construct, statements: Sequence[iam.PolicyStatement], *, shorten_by: str
) -> None:
    """Refuse statements that are too long to be one role's inline policy.

    Args:
        construct: whose role it is.
        statements: all of them.
        shorten_by: what to leave out, for the message.

    Raises:
        ConstructError: IAM would refuse them.
    """
    document = iam.PolicyDocument(statements=[*statements])
    text = _written_out(Stack.of(construct).resolve(document))
    size = len(json.dumps(text, separators=(",", ":")))
    if size > _CHARACTERS_MAX:
        raise ConstructError(
            construct,
            f"its role's policy has up to {size} characters; IAM takes {_CHARACTERS_MAX}: "
            f"{shorten_by}",
        )


def _written_out(value: Any) -> Any:
    """Put text of the greatest length in the place of every reference."""
    match value:
        case {"Ref": str(name)}:
            return "x" * _LENGTHS.get(name, _ARN_LENGTH)
        case {"Fn::GetAtt": _}:
            return "x" * _ARN_LENGTH
        case {"Fn::Join": [str(glue), list(parts)]}:
            return glue.join(map(str, map(_written_out, parts)))
        case dict():
            return {key: _written_out(part) for key, part in value.items()}
        case list():
            return [_written_out(part) for part in value]
    return value
