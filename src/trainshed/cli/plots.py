"""Drawing a plot, which needs an extra."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trainshed.cli.output import say
from trainshed.errors import TrainshedError


@contextmanager
def drawing(path: Path) -> Iterator[None]:
    """Import and draw inside; say where the picture is, or what to install for it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise TrainshedError(
            f"a plot needs the package {error.name}; install it: pip install 'trainshed[plot]'"
        ) from error
    say(f"picture: {path}", err=True)
