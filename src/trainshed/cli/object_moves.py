"""What `trainshed explain` prints of the lifecycle of a bucket."""

from collections.abc import Sequence

from trainshed.catalogue.s3 import SMALLEST_MOVED_KIB
from trainshed.cli.output import print_records, say
from trainshed.cost import ObjectMove


def print_object_moves(moves: Sequence[ObjectMove]) -> None:
    """Print from which size on each step of the rules saves money."""
    print_records(
        [
            {
                "objects": each.objects,
                "to": each.to,
                "after": each.after_days,
                "stay": each.stay_days,
                "saves": _saves(each),
            }
            for each in moves
        ],
        columns=("objects", "to", "after", "stay", "saves"),
        headings={
            "to": "move to",
            "after": "after, days",
            "stay": "for, days",
            "saves": "saves money for objects of",
        },
        title="Lifecycle of the bucket: what moves, and whether the paid request is worth it",
    )
    if unknown := dict.fromkeys(item for each in moves for item in each.unknown):
        say(f"price unknown: {', '.join(unknown)}; trainshed cost sync asks AWS for them")


def _saves(move: ObjectMove) -> str:
    if move.unknown:
        return "unknown"
    if move.smallest_kib is None:
        return "no size"
    if move.smallest_kib <= SMALLEST_MOVED_KIB:
        return f"{SMALLEST_MOVED_KIB} KiB or more: S3 moves no smaller ones"
    return f"{move.smallest_kib:,.0f} KiB or more; smaller ones cost more than before"
