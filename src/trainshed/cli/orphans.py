"""`trainshed orphans`: what is left in an account and nothing owns; it removes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from trainshed.aws import regions
from trainshed.cli.cluster import ALL_CLUSTERS, ClustersOption, load_clusters
from trainshed.cli.options import JsonOption, region_option
from trainshed.cli.output import print_json, print_records, rounded, say
from trainshed.cost import amount, total
from trainshed.orphans.model import Orphan
from trainshed.orphans.search import LOOKS, find_orphans
from trainshed.prices import load_prices
from trainshed.review.wording import counted

app = typer.Typer(add_completion=False)


@app.command()
def orphans(
    clusters: ClustersOption = ALL_CLUSTERS,
    region: Annotated[str | None, region_option("AWS region to look in.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List what trainshed left in an account and nothing owns, and the command that removes each.

    Nothing is removed. What a cluster file names as existing is in use. Exits with 1 when
    something is left, or when it could not look everywhere.
    """
    (place,) = regions([region] if region else None)
    # Where nobody asked for certain files, there need not be any.
    no_files = clusters == ALL_CLUSTERS and not any(Path.cwd().glob(ALL_CLUSTERS))
    plans = () if no_files else load_clusters(clusters, place.name)
    now = datetime.now(UTC)
    found, unseen = find_orphans(place, plans, load_prices(place.name), now=now)
    waste = [_record(each, now) for each in found if not each.kept]
    kept = [_record(each, now) for each in found if each.kept]
    if as_json:
        print_json({"waste": waste, "kept": kept, "unseen": [asdict(each) for each in unseen]})
    else:
        _show("waste", waste, "to remove it, in this order:")
        _show("kept data", kept, "to delete it for good:")
        if not (found or unseen):
            say(f"nothing is left in {place.name}")
    for missed in unseen:
        say(f"could not look at {missed.at}: {missed.why}", err=True)
    if unseen:
        say(f"{len(unseen)} of {len(LOOKS)} looks failed: more may be left", err=True)
    raise typer.Exit(bool(found or unseen))


def _record(orphan: Orphan, now: datetime) -> dict[str, Any]:
    since = orphan.billed.since
    return {
        "what": orphan.billed.what,
        "name": orphan.billed.name,
        "size": orphan.billed.size,
        "since": since and since.astimezone(UTC).isoformat(timespec="seconds"),
        "age_days": None if since is None else (now - since).days,
        "usd_per_month": rounded(orphan.usd_per_month),
        "why": orphan.why,
        "command": orphan.billed.command,
    }


def _show(title: str, records: Sequence[Mapping[str, Any]], to_do: str) -> None:
    if not records:
        return
    print_records(
        [
            {
                **each,
                "age": "not known"
                if each["age_days"] is None
                else counted(each["age_days"], "day"),
                "price": _price(each["usd_per_month"]),
            }
            for each in records
        ],
        columns=("what", "name", "size", "age", "price", "why"),
        headings={"price": "USD per month"},
        title=title,
    )
    say(f"{title}: {total((each['name'], each['usd_per_month']) for each in records)} per month")
    say(to_do, *(f"  {each['command']}" for each in records))


def _price(usd: float | None) -> str:
    return "not known" if usd is None else amount(usd)
