"""Which ready jobs there are."""

from trainshed.catalogue import InstanceType
from trainshed.errors import TrainshedError, UnknownName
from trainshed.ready_jobs.bert import BERT
from trainshed.ready_jobs.collectives import COLLECTIVES
from trainshed.ready_jobs.health import HEALTH
from trainshed.ready_jobs.model import ReadyJob


def ready_jobs() -> tuple[ReadyJob, ...]:
    """Return all ready jobs."""
    return (*COLLECTIVES, *HEALTH, *BERT)


def ready_jobs_for(instance: InstanceType) -> tuple[ReadyJob, ...]:
    """Return the ready jobs for an instance type."""
    return tuple(each for each in ready_jobs() if each.fits(instance))


def find_ready_job(name: str, instance: InstanceType) -> ReadyJob:
    """Return the ready job of a name for an instance type.

    Raises:
        TrainshedError: there is none of that name, or none for the type.
    """
    named = [each for each in ready_jobs() if each.name == name]
    if not named:
        raise UnknownName("ready job", name, {each.name for each in ready_jobs()})
    for each in named:
        if each.fits(instance):
            return each
    accelerator = instance.accelerator
    families = ", ".join(each.family for each in named)
    reasons = [each.without[accelerator.name] for each in named if accelerator.name in each.without]
    reason = "; ".join(reasons) or f"it is for {families}, and the type has {accelerator.name}"
    others = ", ".join(each.name for each in ready_jobs_for(instance)) or "none"
    raise TrainshedError(
        f"ready job {name} does not run on {instance.name}: {reason} (those that do: {others})"
    )
