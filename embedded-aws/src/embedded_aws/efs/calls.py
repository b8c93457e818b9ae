"""How EFS's calls reach us, how it lists in pages, and how it refuses.

EFS API reference: the error codes; a page has 100 entries; a file system and an access point are
named by their ids or by their ARNs. Inferred, here and in the modules beside it: the words of
refusals of which no one says that AWS used them.
"""

from collections.abc import Sequence
from typing import Any

from moto.efs.responses import EFSResponse
from moto.efs.urls import url_paths

from embedded_aws.actions import Call, Refusal, correction
from embedded_aws.constraints import checks_arguments

checks_arguments("efs", "BadRequest")
_PAGE = 100


@correction
def route_all() -> None:
    """Lead every path to moto's class, which has no URL for some of them."""
    url_paths["/2015-02-01/(?P<path>.+)$"] = EFSResponse.dispatch


def bad_request(message: str) -> Refusal:
    """Return the refusal that EFS gives for most invalid values."""
    return Refusal("BadRequest", message)


def already_exists(kind: str, existing_id: str, message: str) -> Refusal:
    """Return the refusal of a creation whose token made something else before.

    Args:
        kind: `FileSystem` or `AccessPoint`.
        existing_id: what the token made.
        message: what EFS says.
    """
    refusal = Refusal(f"{kind}AlreadyExists", message)
    # A member of the error, by which a client learns of what it made.
    vars(refusal)[f"{kind}Id"] = existing_id
    return refusal


def own_id(given: str) -> str:
    """Return the id of what is named by its id or its ARN."""
    return given.rpartition("/")[2]


def page(call: Call, member: str, rows: Sequence[Any]) -> dict[str, Any]:
    """Return the page for which a call asks.

    Raises:
        Refusal: the marker is none that EFS gave.
    """
    by_marker = call.operation in ("DescribeFileSystems", "DescribeMountTargets")
    asked, size, following = (
        ("Marker", "MaxItems", "NextMarker")
        if by_marker
        else ("NextToken", "MaxResults", "NextToken")
    )
    marker = call.params.get(asked, "0")
    if not marker.isdecimal() or int(marker) > len(rows):
        raise bad_request(f"invalid {asked}: {marker}")
    end = int(marker) + call.params.get(size, _PAGE)
    answer: dict[str, Any] = {member: rows[int(marker) : end]}
    return answer | ({following: str(end)} if end < len(rows) else {})
