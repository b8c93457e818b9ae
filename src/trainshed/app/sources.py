"""Where the Packer template, the container sources and the files that `init` copies are.

The one place that knows: first the user's own project, which is the working directory; then the
checkout, when trainshed is installed from one as editable; else the installed wheel.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_CHECKOUT = _PACKAGE.parents[1]
# Where the wheel has what a checkout has at its top; see [tool.hatch] in pyproject.toml.
_IN_WHEEL = _PACKAGE / "_shipped"


def checkout() -> Path | None:
    """Return the checkout that this package is run from; None when it is installed from a wheel."""
    return _CHECKOUT if _CHECKOUT / "src" / _PACKAGE.name == _PACKAGE else None


def shipped(name: str) -> Path:
    """Return a file or folder as trainshed ships it, whatever the working directory has.

    Args:
        name: what it is called at the top of a checkout, for instance `packer`.
    """
    return (checkout() or _IN_WHEEL) / name


def packer_folder() -> Path:
    """Return the folder of the Packer template: the project's `packer/`, or else the shipped one.

    A project's folder counts when it has a `pins.json`.
    """
    return _own_or_shipped("packer", "pins.json")


def containers_folder() -> Path:
    """Return the folder of the container sources: the project's `containers/`, or the shipped one.

    A project's folder counts when it has `shared/install`, which every Dockerfile runs: other
    projects have a folder of that name too.
    """
    return _own_or_shipped("containers", "shared/install")


def _own_or_shipped(name: str, mark: str) -> Path:
    own = Path(name)
    return own if (own / mark).is_file() else shipped(name)
