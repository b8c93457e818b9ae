"""Which reservations are there at one time."""

from datetime import UTC, datetime, timedelta

import pytest

from trainshed.account.capacity_reservations import CapacityReservation, most_at_once

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def block(name: str, total: int, begins: int, ends: int) -> CapacityReservation:
    """Return a Capacity Block that begins and ends at these days from now."""
    return CapacityReservation(
        reservation_id=name,
        is_block=True,
        state="active" if begins <= 0 else "scheduled",
        starts_at=NOW + timedelta(days=begins),
        ends_at=NOW + timedelta(days=ends),
        total=total,
        available=total,
    )


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        pytest.param([], "", id="none"),
        pytest.param([("a", 4, -1, 1), ("b", 2, 1, 2)], "a", id="one after the other"),
        pytest.param([("a", 2, -1, 1), ("b", 4, 1, 2)], "b", id="the later is larger"),
        pytest.param([("a", 4, -1, 2), ("b", 2, 1, 3)], "ab", id="they overlap"),
        pytest.param([("a", 4, -2, 3), ("b", 2, 1, 2), ("c", 8, 2, 4)], "ac", id="two pairs"),
        pytest.param([("a", 4, -3, -1), ("b", 2, -1, 1)], "b", id="one is over"),
    ],
)
def test_the_most_instances_at_one_time(
    blocks: list[tuple[str, int, int, int]], expected: str
) -> None:
    found = most_at_once([block(*each) for each in blocks], NOW)

    assert "".join(each.reservation_id for each in found) == expected
