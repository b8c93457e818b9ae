"""Say in which cases of a file a finding holds."""

from collections.abc import Mapping, Sequence


def where_it_holds(holds: Sequence[int], cases: Sequence[Mapping[str, str]]) -> str:
    """Return ` (when X is 'a')`, or nothing when a finding holds in all cases.

    Args:
        holds: the cases in which it does, by their indexes; the first case is the usual one.
        cases: what each assumes, by the names of what is open.
    """
    inside = set(holds)
    if len(inside) == len(cases):
        return ""
    parts = []
    for name in cases[0]:
        if _matters(name, inside, cases):
            values = dict.fromkeys(cases[number][name] for number in sorted(inside))
            parts.append(f"{name} is {' or '.join(values)}")
    return f" (when {' and '.join(parts)})"


def _matters(name: str, inside: set[int], cases: Sequence[Mapping[str, str]]) -> bool:
    """Whether two cases that differ in nothing but this are on both sides."""
    sides: dict[tuple[tuple[str, str], ...], set[bool]] = {}
    for number, case in enumerate(cases):
        rest = tuple((other, value) for other, value in case.items() if other != name)
        sides.setdefault(rest, set()).add(number in inside)
    return any(len(side) == 2 for side in sides.values())
