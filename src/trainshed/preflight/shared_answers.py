"""A region whose answers are shared: a question that several rules have is asked once."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from trainshed.aws import Region
from trainshed.errors import TrainshedError


class SharedAnswers(Region):
    """A region that asks AWS each question once, for as many threads as have it.

    Args:
        name: as for `Region`.
        client: as for `Region`.
    """

    def __init__(self, name: str, client: Callable[[str], Any] | None = None) -> None:
        super().__init__(name, client)
        self._answers: dict[str, Future[Any]] = {}
        self._guard = threading.Lock()

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        """Call an API once, or wait for who calls it; as `Region.call`."""
        question = _written(service, operation, params)
        answer: dict[str, Any] = self._shared(
            question, lambda: super(SharedAnswers, self).call(service, operation, **params)
        )
        return answer

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Iterator[Any]:
        """Yield the members of a list, over all pages; as `Region.pages`."""
        question = _written(service, operation, params)
        members = self._shared(
            question,
            lambda: tuple(super(SharedAnswers, self).pages(service, operation, key, **params)),
        )
        yield from members

    def start(self, service: str, operation: str, **params: Any) -> None:
        """Ask without waiting; who then calls the same waits for this answer."""
        threading.Thread(target=self._try, args=(service, operation, params), daemon=True).start()

    def _try(self, service: str, operation: str, params: dict[str, Any]) -> None:
        # Who needs the answer gets the error.
        with suppress(TrainshedError):
            self.call(service, operation, **params)

    def _shared(self, question: str, ask: Callable[[], Any]) -> Any:
        with self._guard:
            known = self._answers.get(question)
            answer = self._answers.setdefault(question, Future())
        if known is None:
            try:
                answer.set_result(ask())
            # Whoever waits gets it too.
            except BaseException as error:
                answer.set_exception(error)
        return answer.result()


def _written(service: str, operation: str, params: dict[str, Any]) -> str:
    return json.dumps([service, operation, params], sort_keys=True, default=str)
