"""What the engine behind `cdk diff` says about two templates of a stack, as plain data."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueDifference:
    """A value that differs.

    Attributes:
        before: None where it was not there.
        after: None where it is gone.
        impact: what that does to the resource, for instance `WILL_REPLACE`; None where it is not
            known, or not of a resource.
    """

    before: Any
    after: Any
    impact: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDifference:
    """A resource that differs.

    Attributes:
        impact: what happens to it, for instance `WILL_ORPHAN`.
        properties: those that differ, from the top.
        attributes: what else differs, for instance `DeletionPolicy`.
    """

    impact: str
    properties: Mapping[str, ValueDifference]
    attributes: Mapping[str, ValueDifference]

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Self:
        """Return what the engine answers, as data."""
        properties, attributes = (
            {name: ValueDifference(**each) for name, each in answer[part].items()}
            for part in ("properties", "attributes")
        )
        return cls(**{**answer, "properties": properties, "attributes": attributes})


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Names in a statement; all but these when it is inverted, as in `NotAction`."""

    names: tuple[str, ...]
    inverted: bool = False

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Self:
        """Return what the engine answers, as data."""
        return cls(names=tuple(map(str, answer["names"])), inverted=answer["inverted"])

    @classmethod
    def of(cls, statement: Mapping[str, Any], name: str) -> Self:
        """Return those of a statement as it stands in a template: of `Action` or `NotAction`."""
        inverted = f"Not{name}" in statement
        given = statement.get(f"Not{name}" if inverted else name, [])
        names = given if isinstance(given, list) else [given]
        return cls(names=tuple(map(str, names)), inverted=inverted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement of a policy that is gained or lost.

    Attributes:
        gained: it is new; otherwise it is lost.
        effect: `Allow` or `Deny`.
        principals: who; `*` for anyone.
        actions: what.
        resources: on what.
        condition: of the policy's grammar; None for none.
        unparsed: the statement as text, where a function gives it; the rest is then empty.
    """

    gained: bool
    effect: str
    principals: Targets
    actions: Targets
    resources: Targets
    condition: Any
    unparsed: str | None = None

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Self:
        """Return what the engine answers, as data."""
        targets = {
            part: Targets.read(answer[part]) for part in ("principals", "actions", "resources")
        }
        return cls(**{**answer, **targets})

    def branches(self) -> Iterator["Statement"]:
        """Yield the statement; where a function gives it, each that it may give."""
        if self.unparsed is None:
            yield self
            return
        for branch in _with_effect(json.loads(self.unparsed)):
            yield replace(
                self,
                effect=branch["Effect"],
                actions=Targets.of(branch, "Action"),
                resources=Targets.of(branch, "Resource"),
                condition=branch.get("Condition"),
            )


def _with_effect(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the statements in what the engine writes of a function."""
    if isinstance(value, dict) and "Effect" in value:
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _with_effect(each)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedPolicy:
    """A managed policy that a role, user or group gains or loses."""

    gained: bool
    identity: str
    policy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityGroupRule:
    """A rule of a security group that is gained or lost.

    Attributes:
        gained: it is new; otherwise it is lost.
        inbound: for traffic to the group; otherwise from it.
        group: whose rule.
        protocol: `-1` for all.
        from_port: first port, or type of ICMP; -1 for all.
        to_port: last port, or code of ICMP.
        peer: range of addresses, group or prefix list.
    """

    gained: bool
    inbound: bool
    group: str
    protocol: str
    from_port: int | str | None
    to_port: int | str | None
    peer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateDifference:
    """What differs between two templates of a stack.

    Attributes:
        resources: by logical id.
        sections: what differs in `Parameters`, `Mappings`, `Conditions` and `Outputs`, by name.
        statements: of all policies.
        managed_policies: of all roles, users and groups.
        rules: of all security groups.
        inbound_after: all rules for traffic to security groups after the change.
    """

    resources: Mapping[str, ResourceDifference]
    sections: Mapping[str, Mapping[str, ValueDifference]]
    statements: tuple[Statement, ...]
    managed_policies: tuple[ManagedPolicy, ...]
    rules: tuple[SecurityGroupRule, ...]
    inbound_after: tuple[SecurityGroupRule, ...]

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Self:
        """Return what the engine answers, as data."""
        return cls(
            resources={
                name: ResourceDifference.read(each) for name, each in answer["resources"].items()
            },
            sections={
                section: {name: ValueDifference(**each) for name, each in entries.items()}
                for section, entries in answer["sections"].items()
            },
            statements=tuple(map(Statement.read, answer["statements"])),
            managed_policies=tuple(ManagedPolicy(**each) for each in answer["managed_policies"]),
            rules=tuple(SecurityGroupRule(**each) for each in answer["rules"]),
            inbound_after=tuple(SecurityGroupRule(**each) for each in answer["inbound_after"]),
        )
