"""The places at which two values of a template differ, each with both as short text."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from trainshed.documents.sensitive_names import names_a_secret
from trainshed.review.model import PropertyChange
from trainshed.review.values import HIDDEN, Names, is_function, is_reference, short, text

# What elements of lists are told apart by: tags, variables, devices, policies of a role.
_NAME = re.compile(r"[^.\[\]]+")
_KEYS = ("Key", "Name", "DeviceName", "PolicyName", "Sid")


def leaves(
    path: str, before: Any, after: Any, called: Names, *, secret: bool = False
) -> Iterator[PropertyChange]:
    """Yield what differs between two values, down to the innermost property.

    Elements of lists have their index, or their name where they have one; of lists of another
    length, those that were gained and lost.

    Args:
        path: of the values.
        before: None where it was not there.
        after: None where it is gone.
        called: the names of what values refer to.
        secret: hide them. What has the name of a secret is hidden in any case.
    """
    secret = secret or names_a_secret(_NAME.findall(path)[-1])
    if same(before, after):
        return
    old, new = _entries(before), _entries(after)
    if old is not None and new is not None:
        for name in {**old, **new}:
            yield from leaves(f"{path}{name}", old.get(name), new.get(name), called, secret=secret)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) == len(after):
            for index, (was, will_be) in enumerate(zip(before, after, strict=True)):
                yield from leaves(f"{path}[{index}]", was, will_be, called, secret=secret)
        else:
            yield from _gained_and_lost(path, before, after, called, secret)
    else:
        yield _leaf(path, before, after, called, secret)


def same(before: Any, after: Any) -> bool:
    """Return whether CloudFormation takes two values for the same: `5` and `"5"` are."""
    return bool(_plain(before) == _plain(after))


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {name: _plain(entry) for name, entry in value.items()}
        case list():
            return [_plain(element) for element in value]
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
    return value


def _entries(value: Any) -> Mapping[str, Any] | None:
    """Return the entries of an object by `.Name`; of a list whose elements have names by `[name]`.

    None for anything else.
    """
    if value is None:
        return {}
    if isinstance(value, dict):
        return None if is_function(value) else {f".{key}": value[key] for key in value}
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return None
    for key in _KEYS:
        found = [each.get(key) for each in value]
        if all(isinstance(name, str) for name in found) and len({*found}) == len(found) > 0:
            return {f"[{each[key]}]": _unnamed(each, key) for each in value}
    return None


def _unnamed(element: Mapping[str, Any], key: str) -> Any:
    rest = {name: entry for name, entry in element.items() if name != key}
    return rest["Value"] if rest.keys() == {"Value"} else rest


def _gained_and_lost(
    path: str, before: Sequence[Any], after: Sequence[Any], called: Names, secret: bool
) -> Iterator[PropertyChange]:
    # Apart while they are whole: two that differ in a secret look the same without it.
    texts = {text(each, called): short(each, called) for each in (*before, *after)}
    old, new = (Counter(text(each, called) for each in side) for side in (before, after))
    for lost in (old - new).elements():
        yield PropertyChange(path=path, before=HIDDEN if secret else texts[lost], after=None)
    for gained in (new - old).elements():
        yield PropertyChange(path=path, before=None, after=HIDDEN if secret else texts[gained])


def _leaf(path: str, before: Any, after: Any, called: Names, secret: bool) -> PropertyChange:
    if secret and not (is_reference(before) or is_reference(after)):
        was, will_be = (None if side is None else HIDDEN for side in (before, after))
        return PropertyChange(path=path, before=was, after=will_be)
    old, new = ([] if side is None else text(side, called).splitlines() for side in (before, after))
    if len(old) <= 1 and len(new) <= 1:
        was, will_be = (None if side is None else short(side, called) for side in (before, after))
        return PropertyChange(path=path, before=was, after=will_be)
    return PropertyChange(
        path=path,
        before=None if before is None else f"{len(old)} lines",
        after=None if after is None else _lines(old, new),
    )


def _lines(old: Sequence[str], new: Sequence[str]) -> str:
    if not old:
        return f"{len(new)} lines"
    matching = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    kept = sum(block.size for block in matching)
    return f"{len(new)} lines, {len(new) - kept} of them new, {len(old) - kept} gone"
