"""Where the user's machine keeps what can be made or fetched again."""

import os
from pathlib import Path


def user_cache_folder(name: str) -> Path:
    """Return a folder of the user's cache, which need not be there yet.

    Args:
        name: of what is kept in it.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # A relative one is to be ignored, says the XDG Base Directory Specification.
    base = named if named.is_absolute() else Path.home() / ".cache"
    return base / "trainshed" / name
