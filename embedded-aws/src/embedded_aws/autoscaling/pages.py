"""Answers in pages, as EC2 Auto Scaling gives them."""

from collections.abc import Sequence
from typing import Any

from embedded_aws.actions import Call, Refusal
from embedded_aws.autoscaling.refusals import invalid


def page(call: Call, member: str, rows: Sequence[Any], *, usual: int, most: int) -> dict[str, Any]:
    """Return the page for which a call asks.

    Args:
        call: the call.
        member: of the answer, with the rows.
        rows: all of them.
        usual: rows of a page if the call has no MaxRecords.
        most: that MaxRecords may be.

    Raises:
        Refusal: the token or the number is impossible.
    """
    size = call.params.get("MaxRecords", usual)
    if not 1 <= size <= most:
        raise invalid(f"MaxRecords must be from 1 to {most}, got {size}.")
    token = call.params.get("NextToken") or "0"
    if not token.isdecimal() or int(token) > len(rows):
        raise Refusal("InvalidNextToken", f"The NextToken value {token} is not valid.")
    end = int(token) + size
    answer: dict[str, Any] = {member: rows[int(token) : end]}
    return answer | ({"NextToken": str(end)} if end < len(rows) else {})
