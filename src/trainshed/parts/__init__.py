"""What a cluster consists of, as its plan has it: one tree of parts, and the arrows between them.

`explain` prints it, `cost` walks it, and a review diffs and draws it.
"""

from trainshed.parts.cluster import planned_facts, planned_links, planned_parts
from trainshed.parts.model import ORDER, Arrow, Behind, Fact, PlannedPart

__all__ = [
    "ORDER",
    "Arrow",
    "Behind",
    "Fact",
    "PlannedPart",
    "planned_facts",
    "planned_links",
    "planned_parts",
]
