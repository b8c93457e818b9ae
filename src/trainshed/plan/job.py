"""What the job definition says beside its container: for `trainshed explain`."""

from trainshed.orchestrators.batch.traits import BatchJobSpec
from trainshed.plan.container import ContainerPlan
from trainshed.plan.notes import Notes, origin


def decide_job(notes: Notes, job: BatchJobSpec, container: ContainerPlan) -> None:
    """Note the defaults of the job definition, and where each comes from."""
    notes.decide(
        "shared memory",
        f"{container.shared_memory_mib} MiB of /dev/shm",
        "as asked" if job.shared_memory_gib else "an eighth of the container's memory",
    )
    # Names only: a value of the file may be one that should not be in a log.
    notes.decide(
        "job environment",
        ", ".join(container.environment) or "none",
        _environment_reason(set(container.environment), set(job.environment)),
    )
    attempts = f"{origin(job, 'attempts')}; a lost node costs one, any other failure ends the job"
    notes.decide("job attempts", job.attempts, attempts)
    notes.decide("job time-out", f"{job.timeout_hours} hours", origin(job, "timeout_hours"))


def _environment_reason(names: set[str], asked: set[str]) -> str:
    if not names:
        return "this type needs none"
    if not asked:
        return "what the accelerator needs"
    return f"as asked: {', '.join(sorted(asked))}" + (
        "; the others are what the accelerator needs" if names - asked else ""
    )
