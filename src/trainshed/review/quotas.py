"""What a change does to the quotas that an account must have."""

from collections.abc import Iterator

from trainshed.checks.quota_needs import quota_needs
from trainshed.plan import ClusterPlan, Fleet
from trainshed.review.model import QuotaChange

# Account, where the cluster says one, and region.
_Place = tuple[str | None, str]


def quota_changes(before: Fleet, after: Fleet) -> tuple[QuotaChange, ...]:
    """Return what the clusters need of each quota on either side, region by region.

    Quotas are those of one account: clusters of different accounts do not add up.
    """
    return tuple(_changes(_by_place(before), _by_place(after)))


def _changes(
    before: dict[_Place, list[ClusterPlan]], after: dict[_Place, list[ClusterPlan]]
) -> Iterator[QuotaChange]:
    for place in sorted({**before, **after}, key=lambda place: (place[1], place[0] or "")):
        old, new = (quota_needs(side.get(place, [])) for side in (before, after))
        for quota in {**new, **old}:
            yield QuotaChange(
                name=quota.name,
                code=quota.code,
                region=place[1],
                before=old.get(quota, 0),
                after=new.get(quota, 0),
            )


def _by_place(fleet: Fleet) -> dict[_Place, list[ClusterPlan]]:
    places: dict[_Place, list[ClusterPlan]] = {}
    for cluster in fleet.clusters:
        places.setdefault((cluster.account, cluster.region), []).append(cluster)
    return places
