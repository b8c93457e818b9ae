"""Whether a container is ready, as its kubelet finds out.

Kubernetes, "Configure Liveness, Readiness and Startup Probes", and the API reference, Probe: a
container with a readiness probe is ready once that succeeds, and no longer after some failures. An
HTTP probe succeeds with a status from 200 to 399, a TCP probe when something listens. Inferred:
where it is another one, the container is ready when it runs. Liveness and startup probes are not
asked.
"""

import http.client
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from socket import socket
from threading import Event, Thread
from typing import Any

from embedded_aws.clock import seconds_here

_Connect = Callable[[int], socket | None]


class Readiness:
    """Whether one container is ready, from its start until it ends.

    Args:
        spec: of the container.
        connect: returns a connection to a port of the pod, or None.
    """

    def __init__(self, spec: Mapping[str, Any], connect: _Connect) -> None:
        self._spec, self._connect = spec, connect
        self._probe: Mapping[str, Any] = spec.get("readinessProbe", {})
        self._ended = Event()
        asked = "httpGet" in self._probe or "tcpSocket" in self._probe
        self.ready = not asked
        if asked:
            Thread(target=self._ask_again_and_again, daemon=True).start()

    def end(self) -> None:
        """Ask no more: the container has ended."""
        self._ended.set()
        self.ready = False

    def _ask_again_and_again(self) -> None:
        probe = self._probe
        wait, failed, succeeded = probe.get("initialDelaySeconds", 0), 0, 0
        while not self._ended.wait(seconds_here(wait)):
            fine = self._ask()
            failed, succeeded = (0, succeeded + 1) if fine else (failed + 1, 0)
            if succeeded >= probe.get("successThreshold", 1):
                self.ready = not self._ended.is_set()
            elif failed >= probe.get("failureThreshold", 3):
                self.ready = False
            wait = probe.get("periodSeconds", 10)

    def _ask(self) -> bool:
        """Return whether the probe succeeds."""
        asked = self._probe.get("httpGet") or self._probe["tcpSocket"]
        port = self._port(asked["port"])
        found = None if port is None else self._connect(port)
        if found is None:
            return False
        # In seconds of this machine: an answer does not come faster here.
        found.settimeout(self._probe.get("timeoutSeconds", 1))
        with suppress(OSError, http.client.HTTPException), found:
            return "tcpSocket" in self._probe or _is_fine(found, asked)
        return False

    def _port(self, port: int | str) -> int | None:
        """Return the number of a port, which may be named; None if no port has the name."""
        if isinstance(port, int):
            return port
        named = {each.get("name"): each["containerPort"] for each in self._spec.get("ports", [])}
        return named.get(port)


def _is_fine(connection: socket, asked: Mapping[str, Any]) -> bool:
    if asked.get("scheme") == "HTTPS":
        # The kubelet does not look at certificates.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = context.wrap_socket(connection)
    client = http.client.HTTPConnection("pod")
    client.sock = connection
    headers = {each["name"]: each["value"] for each in asked.get("httpHeaders", [])}
    client.request("GET", asked.get("path", "/"), headers=headers)
    return http.client.OK <= client.getresponse().status < http.client.BAD_REQUEST
