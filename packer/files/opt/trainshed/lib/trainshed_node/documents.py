"""Reading the JSON documents of a node."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainshed_node.errors import NodeError


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        NodeError: it is not there, or not an object.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NodeError(str(path), "is missing; rebuild the AMI or container image") from None
    except ValueError as error:
        raise NodeError(str(path), f"is not JSON ({error}); write it again") from None
    if not isinstance(document, dict):
        raise NodeError(str(path), "is not a JSON object; write it again")
    return document


def text(document: Mapping[str, Any], key: str, where: str) -> str:
    """Return a value that must be a text and not empty.

    Raises:
        NodeError: it is missing, empty or not a text.
    """
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise NodeError(where, f"{key} must be a text and is {value!r}; correct it")
    return value
