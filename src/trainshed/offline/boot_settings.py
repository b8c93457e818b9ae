"""What the user data of our nodes tells the first boot."""

import email
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class BootMount:
    """Shared storage that a node mounts.

    Attributes:
        path: where.
        parameters: names of the SSM parameters that say what.
    """

    path: str
    parameters: tuple[str, ...]


def read_settings(user_data: bytes) -> dict[str, Any] | None:
    """Return the settings of the first boot, or None when the user data is not trainshed's."""
    for part in email.message_from_bytes(user_data).walk():
        if part.get_content_type() != "text/cloud-boothook":
            continue
        for line in str(part.get_payload()).splitlines():
            name, equals, value = line.partition("=")
            if equals and name == "SETTINGS":
                found: dict[str, Any] = json.loads("".join(shlex.split(value)))
                return found
    return None


def mounts(settings: Mapping[str, Any]) -> Iterator[BootMount]:
    """Yield what the settings have a node mount."""
    for value in settings.values():
        if isinstance(value, dict) and "mount" in value:
            names = (name for key, name in value.items() if key.endswith("_parameter"))
            yield BootMount(path=value["mount"], parameters=tuple(names))
