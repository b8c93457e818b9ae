"""The instance metadata service of instances with networks of their own: a few items, version 2.

EC2 user guide, "Use IMDSv2": a PUT gives a token, without which a GET is refused; "Instance
metadata categories". SDKs on instances are told not to ask it: they get credentials otherwise.
"""

import json
import secrets
import socket
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import Any

from embedded_aws.ec2.spot_notices import notice_of
from embedded_aws.hooks import ServingProcess, when_serving
from embedded_aws.hosts.service import hosts

_TOKEN, _ITEMS = "/latest/api/token", "/latest/meta-data/"
_SECONDS, _GIVEN = "X-aws-ec2-metadata-token-ttl-seconds", "X-aws-ec2-metadata-token"
_TIME = "%Y-%m-%dT%H:%M:%SZ"
# All tokens are good for as long as this process runs.
_token = secrets.token_urlsafe()


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection of an instance.

    Args:
        asking: the connection.
        instance: moto's.
    """

    def __init__(self, asking: socket.socket, instance: Any) -> None:
        self._instance = instance
        # The base class asks its server for nothing.
        super().__init__(asking, ("", 0), None)  # type: ignore[arg-type]

    def do_PUT(self) -> None:
        """Give a token."""
        good = self.path == _TOKEN and self.headers.get(_SECONDS, "").isdigit()
        self._answer(_token if good else None, refusal=400)

    def do_GET(self) -> None:
        """Give an item."""
        if self.headers.get(_GIVEN) != _token:
            self._answer(None, refusal=401)
        elif self.path.startswith(_ITEMS):
            self._answer(_items(self._instance).get(self.path.removeprefix(_ITEMS)))
        else:
            self._answer(None)

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _answer(self, text: str | None, *, refusal: int = 404) -> None:
        body = (text or "").encode()
        self.send_response(refusal if text is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _items(instance: Any) -> Mapping[str, str]:
    notice = notice_of(instance)
    items = {
        "ami-id": instance.image_id,
        "instance-id": instance.id,
        "instance-life-cycle": instance.lifecycle or "on-demand",
        "instance-type": instance.instance_type,
        "local-ipv4": instance.private_ip,
        "placement/availability-zone": instance.placement.zone,
        "placement/region": instance.ec2_backend.region_name,
    }
    if notice.rebalance:
        told = {"noticeTime": f"{notice.rebalance:{_TIME}}"}
        items["events/recommendations/rebalance"] = json.dumps(told)
    if notice.terminate:
        action = {"action": "terminate", "time": f"{notice.terminate:{_TIME}}"}
        items["spot/instance-action"] = json.dumps(action)
    return items


def _serve(instance: Any, asking: socket.socket) -> None:
    def answer() -> None:
        with asking:
            _Handler(asking, instance)

    Thread(target=answer, daemon=True).start()


@when_serving
def _offer(process: ServingProcess) -> None:
    if running := hosts():
        running.metadata = _serve
