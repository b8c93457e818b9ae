"""Tags of what EKS has, by its ARN."""

from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.eks.calls import answers, invalid, not_found
from embedded_aws.eks.tables import by_arn

_MOST = 50


@answers("TagResource")
def tag_resource(call: Call) -> dict[str, Any]:
    """Put tags on a resource."""
    row = _tagged(call)
    tags = {**row["tags"], **call.params["tags"]}
    if len(tags) > _MOST:
        raise invalid(f"A resource has at most {_MOST} tags")
    row["tags"] = tags
    return {}


@answers("UntagResource")
def untag_resource(call: Call) -> dict[str, Any]:
    """Take tags off a resource."""
    row = _tagged(call)
    row["tags"] = {key: it for key, it in row["tags"].items() if key not in call.params["tagKeys"]}
    return {}


@answers("ListTagsForResource")
def list_tags_for_resource(call: Call) -> dict[str, Any]:
    """List a resource's tags."""
    return {"tags": _tagged(call)["tags"]}


def _tagged(call: Call) -> Row:
    arn = call.params["resourceArn"]
    for known, row in by_arn(call):
        if known == arn:
            return row
    raise not_found(f"The specified resource could not be found: {arn}")
