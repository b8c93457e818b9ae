"""The names of the stacks that clusters share."""

import re


def stack_name(shared: str, kind: str) -> str:
    """Return the name of the stack of something shared: `my-data`, `Storage`: `MyDataStorage`."""
    words = re.split(r"[^A-Za-z0-9]+", shared)
    return "".join(word[:1].upper() + word[1:] for word in words) + kind
