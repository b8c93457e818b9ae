"""A cluster as one tree of parts, and the arrows between them."""

from collections.abc import Iterator, Mapping
from functools import cache

from trainshed.orchestrators import Orchestrator, part
from trainshed.parts.lustre import bucket_part
from trainshed.parts.model import Arrow, Fact, PlannedPart, all_parts
from trainshed.parts.network import zone_part
from trainshed.parts.storage import STORAGE_PARTS, storage_links
from trainshed.plan import ClusterPlan


@cache
def part_order() -> tuple[str, ...]:
    """Return the kinds of parts in the order of pictures: what comes before an arrow comes first.

    Of parts that are side by side, those that start jobs come first.
    """
    return (
        *(kind for each in Orchestrator for kind in part(each, "parts").STARTS_JOBS),
        *("zone", "network", "public", "private", "nodes", "cards", "accelerators"),
        *(*STORAGE_PARTS.values(), "bucket", "repository", "registry"),
    )


def planned_cluster(plan: ClusterPlan) -> PlannedPart:
    """Return a cluster: the facts about all of it, and its parts in the order of pictures."""
    security, tags = plan.security, plan.tags
    of_orchestrator = part(plan.orchestrator, "parts").planned_parts(plan)
    inside = (*of_orchestrator, zone_part(plan), *bucket_part(plan))
    return PlannedPart(
        kind="cluster",
        facts=(
            Fact(name="orchestrator", value=plan.orchestrator),
            Fact(name="encryption key", value=security.kms_key or "keys of AWS", minor=True),
            Fact(name="permissions boundary", value=security.boundary or "", minor=True),
            Fact(name="beginning of role names", value=security.role_prefix or "", minor=True),
            Fact(name="expires", value=_expiry(plan), minor=True),
            Fact(name="budget", value=_budget(plan), minor=True),
            Fact(name="idle nodes", value=_idle(plan), minor=True),
            Fact(name="working hours", value=str(plan.guard.working_hours or "always"), minor=True),
            Fact(
                name="tags",
                value=", ".join(f"{key}={tags[key]}" for key in sorted(tags)),
                minor=True,
            ),
            Fact(
                name="failed boots that stop launches",
                value=f"{plan.failed_boot_limit} in {plan.failed_boot_hours} hours",
                minor=True,
            ),
        ),
        parts=tuple(sorted(inside, key=lambda each: part_order().index(each.kind))),
    )


def _expiry(plan: ClusterPlan) -> str:
    moment = plan.guard.expires_at
    return f"{moment:%Y-%m-%d %H:%M} UTC: the nodes stop" if moment else "never"


def _budget(plan: ClusterPlan) -> str:
    budget = plan.guard.budget
    return f"{budget.monthly_usd:,} USD a month" if budget else "none"


def _idle(plan: ClusterPlan) -> str:
    if idle := plan.guard.idle:
        return f"{'go' if idle.scales_down else 'tell people'} after {idle.minutes} minutes"
    return "stay"


def planned_facts(plan: ClusterPlan) -> Mapping[str, Fact]:
    """Return the facts about a cluster and all of its parts, by name."""
    return {fact.name: fact for each in all_parts(planned_cluster(plan)) for fact in each.facts}


def planned_links(plan: ClusterPlan) -> Iterator[Arrow]:
    """Yield the arrows between the parts of a cluster."""
    yield from part(plan.orchestrator, "parts").planned_links(plan)
    yield from storage_links(plan)
    if plan.lustre and plan.lustre.new and plan.lustre.new.s3:
        yield Arrow(start="storage", end="bucket", text="linked")
