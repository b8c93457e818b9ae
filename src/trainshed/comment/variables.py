"""Variables that CI sets for a job."""

from collections.abc import Mapping

from trainshed.errors import TrainshedError


def needed(environ: Mapping[str, str], name: str, remedy: str = "") -> str:
    """Return a variable.

    Args:
        environ: environment of the job.
        name: of the variable.
        remedy: what to do when it is not set; by default, that a job of CI has it.

    Raises:
        TrainshedError: it is not set, or empty.
    """
    value = environ.get(name)
    if not value:
        remedy = remedy or "every job of a pull or merge request has it, so run this command there"
        raise TrainshedError(f"{name} is not set; {remedy}")
    return value
