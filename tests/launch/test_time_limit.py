"""The launcher waits with a time limit, and hears of SIGTERM all the same."""

import asyncio

import pytest

from trainshed_launch.time_limit import within


def test_a_cancellation_that_comes_together_with_the_result_is_not_lost() -> None:
    async def cancel_at_the_same_time() -> bool:
        event = asyncio.Event()
        task = asyncio.ensure_future(within(10, event.wait()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        event.set()
        # The wait for the event ends now, and the one that waits for that would in the next round.
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancel_at_the_same_time())


def test_what_does_not_come_in_time_is_given_up() -> None:
    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(within(0.01, asyncio.sleep(60)))
