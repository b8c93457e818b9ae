"""Requests without AWS's signature that services answer: they check by themselves who asks."""

from collections.abc import Callable

from werkzeug import Request

from embedded_aws.wsgi import Application

_Answer = Callable[[Request, Application], Application | None]
_answers: list[_Answer] = []


def answers_unsigned(function: _Answer) -> _Answer:
    """Register the decorated function, which gets a request and moto's application.

    It returns what answers the request, or None for one that is not its own.
    """
    _answers.append(function)
    return function


def answer_to_unsigned(request: Request, moto: Application) -> Application | None:
    """Return what answers a request that is some service's own, or None."""
    return next(filter(None, (answer(request, moto) for answer in _answers)), None)
