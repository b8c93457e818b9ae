"""Questions to AWS and to API servers, each asked even when others fail."""

from collections.abc import Callable
from typing import TypeVar

from trainshed.errors import Failure

_Answer = TypeVar("_Answer")


class Questions:
    """Questions of which some may be refused, for instance because a permission is missing.

    Attributes:
        refusals: the words of who refused, in the order of the questions.
    """

    def __init__(self) -> None:
        self.refusals: list[str] = []

    def ask(self, question: Callable[[], _Answer], otherwise: _Answer) -> _Answer:
        """Return the answer to a question, or what to take when it is refused."""
        try:
            return question()
        except Failure as error:
            self.refusals.append(str(error))
            return otherwise
