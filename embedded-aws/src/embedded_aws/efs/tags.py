"""The tags of file systems and access points."""

from typing import Any

from embedded_aws.actions import Call, action
from embedded_aws.efs.access_points import point_of
from embedded_aws.efs.calls import own_id, page
from embedded_aws.efs.file_systems import find


def _resource(call: Call) -> str:
    """Return the id of the resource, which exists."""
    named = call.params["ResourceId"]
    if own_id(named).startswith("fsap-"):
        return point_of(call, named).access_point_id
    return find(call, named).file_system_id


@action("efs", "TagResource")
def tag_resource(call: Call) -> dict[str, Any]:
    """Set tags."""
    call.backend("efs").tagging_service.tag_resource(_resource(call), call.params["Tags"])
    return {}


@action("efs", "UntagResource")
def untag_resource(call: Call) -> dict[str, Any]:
    """Remove tags."""
    tagging = call.backend("efs").tagging_service
    tagging.untag_resource_using_names(_resource(call), call.params["TagKeys"])
    return {}


@action("efs", "ListTagsForResource")
def list_tags_for_resource(call: Call) -> dict[str, Any]:
    """List tags."""
    return page(call, "Tags", call.backend("efs").list_tags_for_resource(_resource(call)))
