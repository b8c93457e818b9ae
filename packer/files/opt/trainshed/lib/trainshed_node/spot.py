"""EC2's notices to a Spot Instance, and the file in which jobs of this node read them.

EC2 user guide, "Spot Instance interruption notices" and "EC2 instance rebalance recommendations".
Containers do not reach the instance metadata service: they see the folder, without the right to
write there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from trainshed_node.errors import NodeError

# As in trainshed.nodes.folders, of which pods of jobs see the folder.
FOLDER = "/run/trainshed/spot"
FILE = "notice"
INTERRUPTION, REBALANCE = "interruption", "rebalance"
METADATA = "http://169.254.169.254"
TIME = "%Y-%m-%dT%H:%M:%SZ"
_LIFE_CYCLE = "instance-life-cycle"
_ACTION, _RECOMMENDATION = "spot/instance-action", "events/recommendations/rebalance"
_TOKEN_SECONDS = "60"
_PATIENCE_SECONDS = 5
# Between the notice and the end: so it is also the least after a recommendation.
NOTICE = timedelta(minutes=2)


class Metadata:
    """The instance metadata service, version 2.

    Args:
        address: its URL.
    """

    def __init__(self, address: str = METADATA) -> None:
        self._address = address

    def get(self, path: str) -> str | None:
        """Return what is below `/latest/meta-data/`; None when there is nothing.

        Raises:
            NodeError: it does not answer.
        """
        try:
            ttl = {"X-aws-ec2-metadata-token-ttl-seconds": _TOKEN_SECONDS}
            token = self._ask(Request(f"{self._address}/latest/api/token", None, ttl, method="PUT"))
            head = {"X-aws-ec2-metadata-token": token}
            return self._ask(Request(f"{self._address}/latest/meta-data/{path}", None, head))
        except HTTPError as error:
            if error.code == 404:
                return None
            raise NodeError(path, f"the metadata service answers {error.code}") from error
        except (URLError, OSError) as error:
            raise NodeError(path, f"the metadata service does not answer ({error})") from error

    def _ask(self, request: Request) -> str:
        with urlopen(request, timeout=_PATIENCE_SECONDS) as answer:
            text: bytes = answer.read()
        return text.decode()


def is_on_spot(metadata: Metadata) -> bool:
    """Return whether this instance is one that EC2 may take back."""
    return metadata.get(_LIFE_CYCLE) == "spot"


def read_notice(metadata: Metadata) -> str:
    """Return the text of the file: when EC2 takes the instance back at the earliest, and why so.

    It is empty when EC2 has said nothing.
    """
    if action := metadata.get(_ACTION):
        return f"{_document(_ACTION, action)['time']} {INTERRUPTION}\n"
    if recommendation := metadata.get(_RECOMMENDATION):
        told = datetime.strptime(
            _document(_RECOMMENDATION, recommendation)["noticeTime"], TIME
        ).replace(tzinfo=timezone.utc)
        return f"{told + NOTICE:{TIME}} {REBALANCE}\n"
    return ""


def write_notice(text: str, folder: Path) -> None:
    """Replace the file as a whole, when EC2 says something new."""
    file = folder / FILE
    if text and not (file.exists() and file.read_text(encoding="ascii") == text):
        unfinished = folder / f".{FILE}"
        unfinished.write_text(text, encoding="ascii")
        unfinished.replace(file)


def _document(path: str, text: str) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = json.loads(text)
    except ValueError as error:
        raise NodeError(path, f"is not JSON ({error})") from error
    return found
