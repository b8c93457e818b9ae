"""A stack, as AWS has it."""

from datetime import UTC, datetime
from typing import Any

from trainshed.account.deployed_stacks import DeployedStack


def deployed_stack(**changes: Any) -> DeployedStack:
    """A stack that is created, has nothing in it, and is otherwise as it is said."""
    attributes: dict[str, Any] = {
        "name": "TrainCluster",
        "stack_id": "",
        "status": "CREATE_COMPLETE",
        "protected": False,
        "outputs": {},
        "resources": {},
        "changed_at": datetime(2026, 11, 28, tzinfo=UTC),
    }
    return DeployedStack(**(attributes | changes))
