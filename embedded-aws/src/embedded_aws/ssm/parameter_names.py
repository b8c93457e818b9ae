"""Listing parameters while other calls put and delete them.

moto keeps them in a dictionary of a class of its own, which `steady_dicts` leaves as it is.
"""

from collections.abc import Iterator
from typing import Any

from moto.ssm.models import ParameterDict

from embedded_aws.actions import correction


@correction
def list_what_is_there() -> None:
    """List the parameters that there were at first, without those that are deleted meanwhile."""

    def names(self: Any) -> Iterator[str]:
        for name in list(dict.keys(self)):
            if dict.__contains__(self, name):
                yield name

    # mypy refuses replacing methods; moto offers no other way.
    ParameterDict.__iter__ = names  # type: ignore[method-assign]
