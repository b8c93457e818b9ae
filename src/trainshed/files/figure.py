"""Writing a plot into a file; needs matplotlib, of the extra `plot`."""

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from trainshed.errors import TrainshedError

FORMATS = (".png", ".svg")


def check_format(path: Path) -> None:
    """Refuse a file whose ending, .png or .svg, names no format.

    Raises:
        TrainshedError: it is another one.
    """
    if path.suffix not in FORMATS:
        raise TrainshedError(f"{path}: a plot is a .png or .svg file; name it so")


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the same figure always gives the same file.

    Raises:
        TrainshedError: the file cannot be written.
    """
    try:
        # Without a date and random names.
        with rc_context({"svg.hashsalt": "trainshed", "svg.fonttype": "none"}):
            svg = path.suffix == ".svg"
            figure.savefig(path, dpi=150, metadata={"Date": None} if svg else None)
    except OSError as error:
        raise TrainshedError(f"{path} cannot be written: {error.strerror}") from error
