"""One comment for all reports: post it, or update the one that is there."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from trainshed.comment.api import Busy
from trainshed.comment.report import MARKER

# Between attempts, where the host does not say how long to wait.
_PAUSES = (1.0, 4.0, 16.0)
# A job that waits is paid for.
_LONGEST_PAUSE = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment that is there.

    Attributes:
        id: of the host.
        author: id of the account; None for one who is gone.
        body: in Markdown.
    """

    id: int
    author: int | None
    body: str


class Conversation(Protocol):
    """What a pull request and a merge request have in common."""

    def author(self) -> int | None:
        """Return the id of the account that our token is of; None where the host does not tell."""

    def comments(self) -> Iterable[Comment]:
        """Return the comments, the oldest first."""

    def create(self, body: str) -> str:
        """Add a comment, and return its address."""

    def update(self, comment_id: int, body: str) -> str:
        """Replace the text of a comment, and return its address."""


def publish(conversation: Conversation, body: str) -> str:
    """Update the comment of an earlier report, or add one; return a line that says what was done.

    When the host is busy, it starts again: a comment may have been added although the answer did
    not arrive.

    Raises:
        Busy: it still is after some attempts, or wants a long wait.
        Refusal: the host does not let us.
    """
    for pause in _PAUSES:
        try:
            return _publish(conversation, body)
        except Busy as busy:
            wait = pause if busy.seconds is None else busy.seconds
            if wait > _LONGEST_PAUSE:
                raise
            time.sleep(wait)
    return _publish(conversation, body)


def _publish(conversation: Conversation, body: str) -> str:
    marked = [each for each in conversation.comments() if each.body.startswith(MARKER)]
    # The host may let us write another author's comment, and anybody can write the marker.
    author = conversation.author() if marked else None
    for comment in marked:
        if author is not None and comment.author == author:
            return f"updated {conversation.update(comment.id, body)}"
    return f"posted {conversation.create(body)}"
