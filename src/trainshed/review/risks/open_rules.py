"""Rules that let in far more of the world than before, one by one or together."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainshed.review.differences import SecurityGroupRule, TemplateDifference
from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.permissions import ANYWHERE, rule_text
from trainshed.review.risks.affected import Affected, at
from trainshed.review.risks.world import openness
from trainshed.review.values import Names, rendered

_KIND = RiskKind.OPEN_TO_THE_WORLD
_EVERY_PROTOCOL = "-1"
_SHARES = {
    Level.HIGH: "an eighth of all addresses or more",
    Level.MEDIUM: "a 256th of all addresses or more",
}


def open_rules(stack: str, difference: TemplateDifference, called: Names) -> Iterator[Risk]:
    """Yield new rules of security groups through which more of the world comes in."""
    gained, lost = (
        [rule for rule in difference.rules if rule.inbound and rule.gained is which]
        for which in (True, False)
    )
    there = [rule for rule in difference.inbound_after if rule not in gained]
    for rule in gained:
        if level := _more_open(rule, [*there, *lost], difference.inbound_after):
            alone = (rule.peer or "") in ANYWHERE
            share = "" if alone else f": with its other rules, {_SHARES[level]}"
            yield Risk(
                kind=_KIND,
                level=level,
                stack=stack,
                resource=rendered(rule.group, called),
                message=f"{rule_text(rule, called)}{share}",
                remedy="ask who has to reach it, and give the group or range that they come from; "
                "for a shell on a node Session Manager needs no rule (docs/plain-ec2.md)",
            )


def open_lists(affected: Affected) -> Iterator[Risk]:
    """Yield lists of ranges, which rules name, that get more of the world."""
    removed = affected.change.effect is Effect.REMOVED
    if affected.change.resource_type != "AWS::EC2::PrefixList" or removed:
        return
    before, after = (openness(_ranges(side)) for side in (affected.old, affected.new))
    if after and _is_worse(after, before):
        yield affected.risk(
            _KIND,
            after,
            f"the prefix list has {_SHARES[after]}, in each rule that names it",
            "ask who is meant, and list the ranges that they come from",
        )


def _ranges(prefix_list: Mapping[str, Any]) -> list[str]:
    entries = at(prefix_list, "Entries")
    found = entries if isinstance(entries, list) else []
    return [str(entry.get("Cidr")) for entry in found if isinstance(entry, Mapping)]


def _more_open(
    rule: SecurityGroupRule,
    before: Iterable[SecurityGroupRule],
    after: Iterable[SecurityGroupRule],
) -> Level | None:
    """Return how open a group is for some traffic of a rule, if it was less so before."""
    old, new = ([each for each in side if each.group == rule.group] for side in (before, after))
    found = set()
    # What is open changes only where the traffic of a rule begins.
    for protocol, port in {_begin(rule), *map(_begin, (*old, *new))}:
        if _takes(rule, protocol, port):
            was, will_be = (
                openness(each.peer or "" for each in side if _takes(each, protocol, port))
                for side in (old, new)
            )
            if will_be and _is_worse(will_be, was):
                found.add(will_be)
    return next((level for level in Level if level in found), None)


def _is_worse(level: Level, than: Level | None) -> bool:
    order = list(Level)
    return than is None or order.index(level) < order.index(than)


def _begin(rule: SecurityGroupRule) -> tuple[str, int]:
    return rule.protocol, _ports(rule).start


def _takes(rule: SecurityGroupRule, protocol: str, port: int) -> bool:
    if rule.protocol == _EVERY_PROTOCOL:
        return True
    return rule.protocol == protocol and port in _ports(rule)


def _ports(rule: SecurityGroupRule) -> range:
    """Return the ports of a rule; all where they are not known, as with a reference."""
    first, last = (str(port) for port in (rule.from_port, rule.to_port))
    if not (first.isdigit() and last.isdigit()):
        return range(65536)
    return range(int(first), int(last) + 1)
