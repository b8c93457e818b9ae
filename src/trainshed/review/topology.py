"""The picture of one cluster: its parts before and after, with what changes marked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainshed.parts.cluster import part_order, planned_cluster, planned_links
from trainshed.parts.model import Fact, PartResources, PlannedPart
from trainshed.plan import ClusterPlan
from trainshed.review.model import Effect, Mark, Part, StackChange, Topology

_MARKS = {
    Effect.REPLACED: Mark.REPLACED,
    Effect.REMOVED: Mark.REMOVED,
    Effect.MAY_BE_REPLACED: Mark.MAY_BE_REPLACED,
    Effect.CHANGED: Mark.CHANGED,
    Effect.ADDED: Mark.ADDED,
}
_WORST_LAST = tuple(Mark)


def topology(
    before: ClusterPlan | None, after: ClusterPlan | None, stacks: Sequence[StackChange]
) -> Topology:
    """Draw a cluster as it will be, and what goes.

    A part is marked with the worst of what happens to its facts and to the resources behind it.
    Of a cluster that only one side has, only the resources say what happens: it may share some with
    other clusters.

    Args:
        before: the cluster before the change; None when it is new.
        after: the cluster after the change; None when it goes.
        stacks: what differs; empty when nothing is known of a side before.
    """
    plan = after or before
    assert plan  # on one side or both
    drawing = _Drawing(both=bool(before and after), stacks=stacks)
    old, new = (planned_cluster(side).parts if side else () for side in (before, after))
    return Topology(
        title=f"{plan.name} in {plan.region}",
        parts=tuple(drawing.merged(old, new)),
        links=tuple(
            dict.fromkeys(link for side in (after, before) if side for link in planned_links(side))
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawing:
    """Puts the parts of both sides together.

    Attributes:
        both: the cluster is there before and after.
        stacks: what differs.
    """

    both: bool
    stacks: Sequence[StackChange]

    def merged(self, before: Sequence[PlannedPart], after: Sequence[PlannedPart]) -> Iterator[Part]:
        """Yield the parts of both sides, in the order of pictures."""
        old, new = ({part.kind: part for part in side} for side in (before, after))
        for kind in sorted({**old, **new}, key=part_order().index):
            yield self._part(old.get(kind), new.get(kind))

    def _part(self, old: PlannedPart | None, new: PlannedPart | None) -> Part:
        part = new or old
        assert part  # on one side or both
        sides = [side for side in (old, new) if side]
        resources = dict.fromkeys(side.resources for side in sides if side.resources)
        marks = [_MARKS[effect] for each in resources for effect in self._effects(each)]
        if old and new:
            in_place = {Mark.REMOVED: Mark.REPLACED, Mark.ADDED: Mark.CHANGED}
            marks = [in_place.get(mark, mark) for mark in marks]
            if old.facts != new.facts:
                marks.append(Mark.CHANGED)
        elif self.both:
            marks = [Mark.ADDED if new else Mark.REMOVED]
        return Part(
            id=part.kind,
            kind=part.kind,
            lines=tuple(_lines(*(_by_name(side) for side in sides))),
            mark=max(marks, key=_WORST_LAST.index, default=Mark.SAME),
            parts=tuple(
                self.merged(*(side.parts if side else () for side in (old, new))),
            ),
        )

    def _effects(self, resources: PartResources) -> Iterator[Effect]:
        for stack in self.stacks:
            if stack.name != resources.stack:
                continue
            if stack.effect in (Effect.ADDED, Effect.REMOVED):
                yield stack.effect
                continue
            for resource in stack.resources:
                if resource.resource_type in resources.types and resources.path in resource.name:
                    goes = resource.effect in (Effect.ADDED, Effect.REMOVED)
                    main = resource.resource_type == resources.types[0]
                    yield resource.effect if main or not goes else Effect.CHANGED


def _by_name(part: PlannedPart) -> Mapping[str, Fact]:
    return {fact.name: fact for fact in part.facts}


def _lines(old: Mapping[str, Fact], new: Mapping[str, Fact] | None = None) -> Iterator[str]:
    """Write facts, those that differ as `before → after`."""
    new = old if new is None else new
    for name, fact in {**old, **new}.items():
        compared = name in old and name in new
        values = dict.fromkeys(side[name].value if name in side else "" for side in (old, new))
        if len(values) > 1 and (compared or not fact.minor):
            yield f"{name}: {' → '.join(value or 'none' for value in values)}"
        elif not fact.minor:
            yield f"{name}: {fact.value}" if fact.value else name
