"""A property that the service sets and removes with operations of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The operations for one property.

    Attributes:
        put: the operation that sets it, for instance `PutRetentionPolicy`.
        argument: the argument that holds the value; by default named like the property.
        remove: the operation that removes it; None if the service has none.
        neutral: the template's value that has the same effect as none, where the service cannot
            remove the property or a list is not empty without it.
        reshape: converts the template's value to the API's; None removes the property.
        each: the value is a list, whose entries are set and removed one by one. Without an
            argument, an entry holds all arguments.
    """

    put: str
    argument: str | None = None
    remove: str | None = None
    neutral: Any = None
    reshape: Callable[[Any], Any] = _as_it_is
    each: bool = False

    def entries(self, value: list[Any] | None) -> list[dict[str, Any]]:
        """Return what to give the operations for each entry of a list."""
        listed = value or self.neutral or []
        return [{self.argument: self.reshape(it)} if self.argument else it for it in listed]
