"""When the reservations or Capacity Blocks of a cluster are there."""

from datetime import UTC, datetime
from typing import Any

import pytest

from trainshed.aws import Region
from trainshed.plan import make_plan
from trainshed.spec import ClusterSpec
from trainshed.status.capacity import window_problems, windows_status
from trainshed.status.model import WindowStatus

FIRST, SECOND, THIRD = (f"cr-{digit * 17}" for digit in "123")


def at(day: int, hour: int = 11, minute: int = 30) -> datetime:
    return datetime(2026, 12, day, hour, minute, tzinfo=UTC)


class Reservations(Region):
    """A region with one Capacity Block, or none."""

    def __init__(self, **found: Any) -> None:
        super().__init__("us-west-2")
        self._found = found

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        assert (service, operation) == ("ec2", "describe_capacity_reservations")
        assert all(params["CapacityReservationIds"])
        return {"CapacityReservations": [self._found] if self._found else []}


def windows(capacity: Any, now: datetime, **found: Any) -> tuple[WindowStatus, ...]:
    spec = {
        "name": "Train",
        "region": "us-west-2",
        "instance": {"type": "p5.48xlarge", "nodes": {"max": 2}},
        "image": {"uri": "registry.example/train:1"},
        "capacity": capacity,
    }
    return windows_status(Reservations(**found), make_plan(ClusterSpec.model_validate(spec)), now)


CALENDAR = {
    "calendar": [
        {
            "capacity_block": block,
            "from": f"{start:%Y-%m-%dT%H:%MZ}",
            "until": f"{end:%Y-%m-%dT%H:%MZ}",
        }
        for block, start, end in (
            (FIRST, at(1), at(2)),
            (SECOND, at(5), at(6)),
            (THIRD, at(8), at(9)),
        )
    ]
}


def test_the_window_that_is_there_and_the_next_one_are_shown() -> None:
    first, second = windows(CALENDAR, at(1, hour=20))

    assert (first.reservation_id, second.reservation_id) == (FIRST, SECOND)
    assert first.is_block
    assert (first.begins_at, second.begins_at) == (at(1), at(5))
    # EC2 ends instances of a block half an hour before its end.
    assert first.ends_at == at(2, hour=11, minute=0)


def test_between_windows_the_next_one_is_shown_and_after_the_last_none() -> None:
    [between] = windows(CALENDAR, at(3))

    assert between.reservation_id == SECOND
    assert windows(CALENDAR, at(20)) == ()


def test_of_one_block_its_times_are_those_of_ec2() -> None:
    [found] = windows(
        {"capacity_block": FIRST},
        at(1, hour=20),
        CapacityReservationId=FIRST,
        ReservationType="capacity-block",
        State="active",
        StartDate=at(1),
        EndDate=at(2),
        TotalInstanceCount=2,
        AvailableInstanceCount=0,
    )

    assert (found.reservation_id, found.is_block, found.begins_at) == (FIRST, True, at(1))
    assert found.ends_at == at(2, hour=11, minute=0)


def test_nodes_on_demand_have_no_windows() -> None:
    assert windows("on-demand", at(1)) == ()


def test_a_window_is_there_from_its_first_moment_until_its_end() -> None:
    def shown(now: datetime) -> list[str]:
        return [each.reservation_id for each in windows(CALENDAR, now)]

    assert shown(at(1)) == [FIRST, SECOND]
    assert shown(at(2)) == [SECOND]


def test_a_reservation_that_is_no_block_ends_when_it_says() -> None:
    found = {
        "CapacityReservationId": FIRST,
        "ReservationType": "default",
        "State": "active",
        "TotalInstanceCount": 2,
        "AvailableInstanceCount": 0,
    }

    [limited] = windows({"reservation": FIRST}, at(1), **found, EndDate=at(2))
    [unlimited] = windows({"reservation": FIRST}, at(1), **found)

    assert (limited.is_block, limited.ends_at) == (False, at(2))
    assert unlimited.ends_at is None


@pytest.mark.parametrize(
    ("capacity", "described", "said"),
    [
        ({"reservation": FIRST}, {}, [f"reservation {FIRST} is missing"]),
        ({"capacity_block": FIRST}, {}, [f"Capacity Block {FIRST} is missing"]),
        ({"reservation": FIRST}, {"State": "cancelled"}, [f"reservation {FIRST} is cancelled"]),
        ({"reservation": FIRST}, {"State": "active"}, []),
    ],
)
def test_a_reservation_that_no_node_can_be_launched_into_is_wrong(
    capacity: Any, described: Any, said: list[str]
) -> None:
    numbers = {"TotalInstanceCount": 2, "AvailableInstanceCount": 0}
    found = {**described, **numbers, "CapacityReservationId": FIRST} if described else {}

    [window] = windows(capacity, at(1), **found)

    assert [*window_problems(window)] == said
