"""Dictionaries that some threads iterate over while others change them.

A server answers each request in a thread, and services launch and end things in threads of their
own. moto keeps what there is in plain dictionaries, without locks: one that changes while another
thread iterates over it raises RuntimeError there, which is an HTTP 500 or the end of that thread.
One lock around every call would not do: calls make others, and wait for threads that make calls.
"""

from collections import OrderedDict, defaultdict
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any, TypeVar, cast

from moto.core.base_backend import BackendDict, BaseBackend

_K = TypeVar("_K")
_V = TypeVar("_V")
_T = TypeVar("_T")
_GONE: Any = object()


class SteadyDict(dict[_K, _V]):
    """A dictionary; iterating over it gives what it had when the iteration began.

    `list` of a dictionary's own keys or values runs no Python code, so no other thread gets in
    between. That of its items makes tuples, for which Python may collect garbage; then one could.
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[_K]:
        """Iterate over the keys."""
        return iter(list(dict.keys(self)))

    # typeshed has the names of dict's own views, which nobody can make.
    def keys(self) -> KeysView[_K]:  # type: ignore[override]
        """Return the keys."""
        return dict.fromkeys(self).keys()

    def values(self) -> ValuesView[_V]:  # type: ignore[override]
        """Return the values."""
        return dict(enumerate(list(dict.values(self)))).values()

    def items(self) -> ItemsView[_K, _V]:  # type: ignore[override]
        """Return the keys with their values."""
        found = ((key, dict.get(self, key, _GONE)) for key in self)
        return {key: value for key, value in found if value is not _GONE}.items()


class _SteadyDefaultDict(SteadyDict[_K, _V], defaultdict[_K, _V]):
    """The same, which makes values of the keys that it lacks."""


def steady(found: _T) -> _T:
    """Return a steady dictionary with the content of a plain one; other things as they are.

    Those that a `defaultdict(dict)` makes are such, too.
    """
    kind: type = type(found)
    if kind in (dict, OrderedDict):
        return cast("_T", SteadyDict(cast("dict[Any, Any]", found)))
    if isinstance(found, defaultdict) and kind is defaultdict:
        factory = SteadyDict if found.default_factory is dict else found.default_factory
        return cast("_T", _SteadyDefaultDict(factory, found))
    return found


def keep_steady_dicts() -> None:
    """Have every backend of moto keep steady dictionaries, those that are there already, too."""

    def set_attribute(self: Any, name: str, value: Any) -> None:
        # moto's reset replaces all attributes at once.
        object.__setattr__(self, name, value if name == "__dict__" else steady(value))

    # mypy refuses replacing methods; moto offers no other way.
    BaseBackend.__setattr__ = set_attribute  # type: ignore[method-assign]
    for backends in BackendDict._instances:  # type: ignore[misc]
        for _, _, backend in backends.iter_backends():
            for name, value in vars(backend).items():
                setattr(backend, name, value)
