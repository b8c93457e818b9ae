"""Variables that a cluster file cannot give to jobs."""

from trainshed.nodes.variables import LAUNCHER_SETS, OWN
from trainshed.plan.notes import Notes


def check_variables(notes: Notes) -> None:
    """Refuse variables that would be overwritten, or would mislead trainshed's own programs."""
    for name in notes.spec.job.environment:
        if why := OWN.get(name):
            notes.problem(("job", "environment", name), f"{why}; rename it")
        elif why := LAUNCHER_SETS.get(name):
            notes.problem(
                ("job", "environment", name),
                f"{why}; leave it out, and give it to jobs with --plain by --env",
            )
