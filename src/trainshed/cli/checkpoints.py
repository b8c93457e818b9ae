"""What `trainshed explain` prints of the checkpoints of a training."""

from collections.abc import Iterator
from typing import Any

from trainshed.checkpoints import (
    BYTES_PER_PARAMETER,
    GB_PER_GIB,
    GOOD_LOSS,
    KEPT,
    LEAST_BYTES,
    MOST_BYTES,
    Advice,
    UnknownSpeed,
    WrittenCheckpoint,
)
from trainshed.cli.output import print_facts, print_records, say
from trainshed.cost import amount
from trainshed.plan import ClusterPlan


def print_advice(plan: ClusterPlan, advice: Advice) -> None:
    """Print how large checkpoints are, and what they take on each storage."""
    print_facts(
        dict(_facts(advice, plan.nodes.max)),
        heading="checkpoints",
        values=f"one after every {advice.checkpoint.minutes:g} minutes of training",
    )
    known = [*advice.own, *filter(None, [advice.scratch])]
    own = [
        row | {"storage": f"this cluster: {row['storage']}"}
        for row in (*map(_row, known), *map(_unknown_row, advice.unknown))
    ]
    print_records(
        [*own, *map(_row, advice.others)],
        columns=("storage", "size", "mbps", "seconds", "lost", "month", "remark"),
        headings={
            "mbps": "MB/s",
            "seconds": "a checkpoint, s",
            "lost": "lost time, %",
            "month": "USD/month",
        },
        title=f"Checkpoints written by {plan.nodes.max} x {plan.instance.name}: the smallest of "
        f"each storage that loses less than {100 * GOOD_LOSS:g} %, or else what it can do",
    )
    for line in _conclusions(advice):
        say(line)


def _facts(advice: Advice, nodes: int) -> Iterator[tuple[str, str]]:
    checkpoint = advice.checkpoint
    least, most = (checkpoint.gb * b / BYTES_PER_PARAMETER for b in (LEAST_BYTES, MOST_BYTES))
    yield (
        "size of one",
        f"{_gb(checkpoint.gb)}, {BYTES_PER_PARAMETER} bytes for each parameter: weights in 16 "
        "bits; weights, momentum and variance of Adam in 32",
    )
    yield (
        "with gradients",
        f"{_gb(most)}, {MOST_BYTES} bytes; without the weights in 32 bits {_gb(least)}, "
        f"{LEAST_BYTES} bytes",
    )
    yield (
        f"to lose {100 * GOOD_LOSS:g} %",
        f"{advice.mbps:,.0f} MB/s, {advice.mbps / nodes:,.0f} MB/s from each of {nodes} nodes",
    )
    yield "lost time", "t / (interval + t): all accelerators wait while one is written, for t"
    enough = ""
    if advice.own:
        mbps = advice.own[0].mbps
        enough = "enough" if mbps >= advice.background_mbps else "too little"
        enough = f"; the cluster's {mbps:,.0f} MB/s are {enough}"
    yield (
        "in the background",
        f"loses little, and needs {advice.background_mbps:,.0f} MB/s to be done before the next"
        + enough,
    )
    for each in advice.own:
        if each.gib:
            rest_gb = each.gib * GB_PER_GIB - checkpoint.dataset_gb
            yield f"room of {each.size}", _room(rest_gb, checkpoint.gb)


def _room(rest_gb: float, checkpoint_gb: float) -> str:
    if rest_gb < 0:
        return f"too little: the data set takes {_gb(-rest_gb)} more than there are"
    fit = int(rest_gb // checkpoint_gb)
    lacking = f", too few: {KEPT} must be there at times" if fit < KEPT else ""
    return f"{_gb(rest_gb)} beside the data set; checkpoints that fit: {fit}{lacking}"


def _row(written: WrittenCheckpoint) -> dict[str, Any]:
    usd, month = written.usd_per_month, "unknown" if written.unknown else "with the nodes"
    return {
        "storage": written.storage,
        "size": written.size,
        "mbps": f"{written.mbps:,.0f}",
        "seconds": f"{written.seconds:,.0f}" if written.seconds >= 10 else f"{written.seconds:.1f}",
        "lost": f"{100 * written.lost:.1f}",
        "month": month if usd is None else amount(usd),
        "remark": written.remark,
    }


def _unknown_row(found: UnknownSpeed) -> dict[str, str]:
    unknown = dict.fromkeys(("mbps", "seconds", "lost"), "unknown")
    return {"storage": found.storage, "size": found.size, "remark": found.why} | unknown


def _conclusions(advice: Advice) -> Iterator[str]:
    cheapest = advice.cheapest
    unknown = dict.fromkeys(item for each in advice.others for item in each.unknown)
    if cheapest and cheapest.usd_per_month is not None:
        month = cheapest.usd_per_month
        yield (
            f"the cheapest that loses less than {100 * GOOD_LOSS:g} % and keeps data when a server "
            f"fails: {cheapest.storage}, {cheapest.size}, {amount(month)} USD a month"
            + (", of those whose price is known" if unknown else "")
        )
    elif not any(each.lost <= GOOD_LOSS for each in advice.others):
        yield f"none loses less than {100 * GOOD_LOSS:g} %: the nodes cannot write faster"
    if unknown:
        yield f"price unknown: {', '.join(unknown)}; trainshed cost sync asks AWS for them"


def _gb(gb: float) -> str:
    return f"{gb:,.0f} GB" if gb >= 10 else f"{gb:.2g} GB"
