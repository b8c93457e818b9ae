"""Whether stacks can be in a region."""

from trainshed.catalogue import all_regions
from trainshed.errors import did_you_mean
from trainshed.region import REGION_ADVICE


def region_problem(region: str | None) -> str | None:
    """Return what is wrong with a region, or None when the catalogue knows it."""
    known = all_regions()
    if region is None:
        return f"is not given; give it here, or {REGION_ADVICE}"
    if region in known:
        return None
    near = did_you_mean(region, known) or f" (its regions: {', '.join(known)})"
    return f"{region!r} is not a region of the catalogue{near}"
