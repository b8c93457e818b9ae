"""Updates of clusters, node groups and add-ons, which take time.

EKS API reference: DescribeUpdate and ListUpdates. While a cluster is updated, it takes no other
update. Inferred: how long each takes.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row, table
from embedded_aws.eks.calls import answers, in_use, later, not_found, page
from embedded_aws.eks.tables import addons, cluster_of, nodegroups, of_cluster

# By id; `of` is the ARN of what is updated.
_updates = table("eks", "updates")


def at_once(then: Callable[[Row | None], None]) -> None:
    """Begin an update that takes no time on this machine."""
    then(None)


def failed(message: str) -> Row:
    """Return the error of an update that failed."""
    return {"errorCode": "Unknown", "errorMessage": message, "resourceIds": []}


def start_update(
    call: Call,
    row: Row,
    arn: str,
    kind: str,
    params: Mapping[str, Any],
    *,
    seconds: float,
    finish: Callable[[], Row | None],
    begin: Callable[[Callable[[Row | None], None]], None] = at_once,
) -> Row:
    """Start an update and return it as DescribeUpdate does.

    Args:
        call: that asks for it.
        row: of what is updated, which is UPDATING meanwhile.
        arn: of what is updated.
        kind: the type of the update.
        params: by the name of their type; texts or what is shown as JSON.
        seconds: how long it takes.
        finish: what it does at its end; it returns the error of an update that failed.
        begin: what takes its time on this machine before that. It calls its argument afterwards,
            with the error of an update that failed, or None.
    """
    if row["status"] == "UPDATING":
        raise in_use(f"Cannot update because {arn} currently has an update in progress")
    if row["status"] in ("CREATING", "DELETING"):
        raise in_use(f"Cannot update because {arn} is {row['status']}")
    before = row["status"]
    update: Row = {
        "id": str(mock_random.uuid4()),
        "status": "InProgress",
        "type": kind,
        "params": [{"type": key, "value": _text(value)} for key, value in params.items()],
        "createdAt": datetime.now(UTC),
        "errors": [],
        "of": arn,
    }

    def end(failure: Row | None) -> None:
        row["status"] = before
        error = failure or finish()
        update["errors"] = [error] if error else []
        update["status"] = "Failed" if error else "Successful"

    _updates(call)[update["id"]] = update
    row["status"] = "UPDATING"
    begin(lambda failure: later(seconds, lambda: end(failure)))
    return _described(update)


@answers("DescribeUpdate")
def describe_update(call: Call) -> dict[str, Any]:
    """Describe an update."""
    arn, identifier = _updated(call), call.params["updateId"]
    found = _updates(call).get(identifier)
    if found is None or found["of"] != arn:
        raise not_found(f"No update found for ID: {identifier}")
    return {"update": _described(found)}


@answers("ListUpdates")
def list_updates(call: Call) -> dict[str, Any]:
    """List the ids of updates."""
    arn = _updated(call)
    return page(call, "updateIds", [key for key, row in _updates(call).items() if row["of"] == arn])


def _updated(call: Call) -> str:
    """Return the ARN of what a call names."""
    cluster = cluster_of(call, call.params["name"])
    for name, what, rows, arn in (
        ("nodegroupName", "node group", nodegroups, "nodegroupArn"),
        ("addonName", "addon", addons, "addonArn"),
    ):
        if wanted := call.params.get(name):
            for row in of_cluster(rows(call), cluster["name"]):
                if row[name] == wanted:
                    return str(row[arn])
            raise not_found(f"No {what} found for name: {wanted}.")
    return str(cluster["arn"])


def _described(update: Row) -> Row:
    return {key: value for key, value in update.items() if key != "of"}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value)
