"""What exists in the embedded AWS, read through its APIs."""

from collections.abc import Callable, Iterable
from enum import IntEnum, auto
from typing import Any

from embedded_aws.plugins import Row, plugins
from embedded_aws.service_folders import service_modules

# Gets what gives a boto3 client of a service.
_List = Callable[[Callable[[str], Any]], Iterable[Row]]
_lists: list[tuple["Part", _List]] = []


class Part(IntEnum):
    """A part of the inventory; they are in this order."""

    STACKS = auto()
    NETWORKS = auto()
    INSTANCES = auto()
    GROUPS = auto()
    JOBS = auto()
    FILES = auto()
    IMAGES = auto()


def lists(part: Part) -> Callable[[_List], _List]:
    """Register the decorated function, of a service's module `inventory`, to list its resources.

    The module is imported by clients of the embedded AWS, so it imports neither moto nor what does.
    """

    def register(function: _List) -> _List:
        _lists.append((part, function))
        return function

    return register


def row(kind: str, name: str, facts: str) -> Row:
    """Return a row of the inventory."""
    return {"kind": kind, "name": name, "facts": facts}


def inventory(client: Callable[[str], Any]) -> list[Row]:
    """List stacks, networks, compute, storage and ECR repositories, service by service.

    Args:
        client: gives a boto3 client of a service.

    Returns:
        Rows with `kind`, `name` and `facts`; empty when nothing exists.
    """
    # Each registers what it lists.
    list(service_modules("inventory"))
    ordered = [function for _, function in sorted(_lists, key=lambda each: each[0])]
    ordered += [plugin.inventory for plugin in plugins()]
    return [found for function in ordered for found in function(client)]
