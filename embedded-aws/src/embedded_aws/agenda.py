"""What one thread has to do: actions for now, from any thread, and actions for later."""

import heapq
import itertools
import queue
from collections.abc import Callable
from time import monotonic

Action = Callable[[], None]


class Agenda:
    """The actions of one thread."""

    def __init__(self) -> None:
        self._now: queue.SimpleQueue[Action] = queue.SimpleQueue()
        self._later: list[tuple[float, int, Action]] = []
        self._numbers = itertools.count()

    def add(self, action: Action) -> None:
        """Have the thread do something next; callable from any thread."""
        self._now.put(action)

    def add_later(self, seconds: float, action: Action) -> None:
        """Do something after a time; called by the thread itself."""
        heapq.heappush(self._later, (monotonic() + seconds, next(self._numbers), action))

    def work_until(self, done: Callable[[], bool]) -> None:
        """Do what is to be done until a condition holds, which is looked at after each action."""
        while not done():
            wait = self._later[0][0] - monotonic() if self._later else None
            try:
                if wait is not None and wait <= 0:
                    raise queue.Empty
                action = self._now.get(timeout=wait)
            except queue.Empty:
                _, _, action = heapq.heappop(self._later)
            action()
