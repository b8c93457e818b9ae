"""The longest chain of a deployment: what the cluster waits for, as far as times are known."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from trainshed.deployment.graph import Address, Resource, ResourceGraph
from trainshed.errors import TrainshedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """How long something takes, as far as it is known.

    Attributes:
        low_seconds: of the shortest times that are known.
        high_seconds: of the longest times that are known.
        unknown: how many resources of it are of a type whose time nobody has published.
    """

    low_seconds: int = 0
    high_seconds: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One resource of a chain.

    Attributes:
        resource: the resource.
        waits_for: what it waits for in this chain; empty for the first.
    """

    resource: Resource
    waits_for: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StackTime:
    """A stack of a deployment.

    Attributes:
        name: of the stack.
        after: the stacks that it comes after.
        span: its own longest chain.
        beside: the stacks that can be deployed at the same time.
    """

    name: str
    after: tuple[str, ...]
    span: Span
    beside: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What the deployment of a stack waits for.

    Attributes:
        chain: the longest chain of resources, first to last.
        longest: how long it takes.
        one_by_one: how long the stacks take one after another, as without --concurrency.
        stacks: all that are deployed, in an order in which they can be.
    """

    chain: tuple[Link, ...]
    longest: Span
    one_by_one: Span
    stacks: tuple[StackTime, ...]


def deployment(graph: ResourceGraph, stack: str) -> Deployment:
    """Find the longest chain of the deployment of a stack and of all that it comes after.

    The longest is that with the most time known and, of those alike, with the most resources: a
    stack begins when all that it comes after are complete.

    Raises:
        TrainshedError: the app makes no such stack.
    """
    if stack not in graph.stack_order:
        raise TrainshedError(
            f"the app makes no stack {stack} (it makes: {', '.join(sorted(graph.stack_order))})"
        )
    own = {name: _longest_in(graph, name) for name in (*graph.all_before(stack), stack)}

    @cache
    def up_to(name: str) -> tuple[str, ...]:
        """Return the stacks of the longest way to the end of a stack."""
        ways = [up_to(other) for other in sorted(graph.stack_order[name])]
        longest = max(ways, key=lambda way: _size(r for s in way for r in own[s]), default=())
        return (*longest, name)

    way = up_to(stack)
    # The stacks that come after fewer others come first.
    names = sorted(own, key=lambda name: (len(graph.all_before(name)), name))
    return Deployment(
        chain=tuple(_links(way, own)),
        longest=_span(resource for name in way for resource in own[name]),
        one_by_one=_span(resource for name in names for resource in own[name]),
        stacks=tuple(
            StackTime(
                name=name,
                after=tuple(n for n in names if n in graph.stack_order[name]),
                span=_span(own[name]),
                beside=tuple(
                    other
                    for other in names
                    if other != name
                    and other not in graph.all_before(name)
                    and name not in graph.all_before(other)
                ),
            )
            for name in names
        ),
    )


def _longest_in(graph: ResourceGraph, stack: str) -> tuple[Resource, ...]:
    """Return the longest chain of resources within a stack, first to last."""

    @cache
    def up_to(address: Address) -> tuple[Resource, ...]:
        resource = graph.resources[address]
        inside = sorted(other for other in resource.waits_for if other[0] == stack)
        longest = max((up_to(other) for other in inside), key=_size, default=())
        return (*longest, resource)

    return max((up_to(r.address) for r in graph.of(stack)), key=_size, default=())


def _size(chain: Iterable[Resource]) -> tuple[int, int]:
    chain = tuple(chain)
    return _span(chain).high_seconds, len(chain)


def _span(chain: Iterable[Resource]) -> Span:
    chain = tuple(chain)
    times = [resource.time for resource in chain if resource.time]
    return Span(
        low_seconds=sum(time.low_seconds for time in times),
        high_seconds=sum(time.high_seconds for time in times),
        unknown=len(chain) - len(times),
    )


def _links(way: Iterable[str], own: dict[str, tuple[Resource, ...]]) -> Iterable[Link]:
    before = ""
    for name in way:
        waits_for = f"the stack {before}" if before else ""
        for resource in own[name]:
            yield Link(resource=resource, waits_for=waits_for)
            waits_for = resource.name
        before = name
