"""Questions to AWS, each asked even when others fail."""

from collections.abc import Callable
from typing import TypeVar

from trainshed.aws import AwsRefusal

_Answer = TypeVar("_Answer")


class Questions:
    """Questions of which AWS may refuse some, for instance because a permission is missing.

    Attributes:
        refusals: AWS's words, in the order of the questions.
    """

    def __init__(self) -> None:
        self.refusals: list[str] = []

    def ask(self, question: Callable[[], _Answer], otherwise: _Answer) -> _Answer:
        """Return the answer to a question, or what to take when AWS refuses it."""
        try:
            return question()
        except AwsRefusal as error:
            self.refusals.append(str(error))
            return otherwise
