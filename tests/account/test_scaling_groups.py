"""What Auto Scaling groups say of their launches."""

from collections.abc import Iterator
from typing import Any

from trainshed.account.scaling_groups import groups_that_begin, why_no_launch
from trainshed.aws import Region


class Groups(Region):
    """A region that has a group of another cluster, which launches nothing."""

    def __init__(self) -> None:
        super().__init__("us-west-2")

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Iterator[Any]:
        wanted = params.get("AutoScalingGroupNames") or ["other"]
        if "other" in wanted:
            yield {
                "AutoScalingGroupName": "other",
                "DesiredCapacity": 1,
                "SuspendedProcesses": [{"ProcessName": "Launch"}],
            }


def test_why_named_groups_launch_nothing_is_said() -> None:
    assert "--auto-scaling-group-name other" in (why_no_launch(Groups(), ["other"]) or "")
    assert why_no_launch(Groups(), ["ours"]) is None


def test_without_names_nothing_is_said_of_the_groups_of_others() -> None:
    assert why_no_launch(Groups(), []) is None
    assert groups_that_begin(Groups()) == ()
