"""Waiting with a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

Result = TypeVar("Result")


async def within(seconds: float | None, awaitable: Awaitable[Result]) -> Result:
    """Return the result of something that must come in time.

    Not asyncio.wait_for: before Python 3.12 it loses a cancellation that comes together with the
    result, and so the launcher a SIGTERM.

    Raises:
        asyncio.TimeoutError: it did not come.
    """
    task = asyncio.ensure_future(awaitable)
    try:
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            raise asyncio.TimeoutError
        return task.result()
    finally:
        task.cancel()
