"""Answers in pages."""

from collections.abc import Sequence
from typing import Any, TypeVar

from embedded_aws.actions import Call, Refusal

_Row = TypeVar("_Row")
# API reference of the actions: the most that MaxResults may be.
_MOST = 50


def page(call: Call, rows: Sequence[_Row]) -> tuple[Sequence[_Row], dict[str, Any]]:
    """Return the page of the rows that a call asks for, and the member that names the next one."""
    token = call.params.get("NextToken", "0")
    if not token.isdecimal():
        raise Refusal("InvalidNextToken", "The specified token isn't valid.")
    first = int(token)
    end = first + call.params.get("MaxResults", _MOST)
    return rows[first:end], {"NextToken": str(end)} if end < len(rows) else {}
