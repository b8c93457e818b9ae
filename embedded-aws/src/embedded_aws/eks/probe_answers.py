"""What a probe finds out of a container, when it asks once.

Kubernetes, "Liveness, Readiness, and Startup Probes": an HTTP probe succeeds with a status from 200
to 399, a TCP probe when something listens, a command when it ends with 0. The words are those of
the kubelet's source, `pkg/probe` and `pkg/kubelet/prober`; those of a command that takes too long
are from memory. Redirects are not followed. Timeouts are in seconds of this machine: an answer does
not come faster here.
"""

import http.client
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from socket import socket
from typing import Any

_TIMEOUT_SECONDS = 1
_Probe = Mapping[str, Any]


class NoAnswer(Exception):
    """A probe cannot ask, which says nothing of the container; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What probes ask.

    Attributes:
        spec: of the container.
        address: of the pod.
        version: of Kubernetes, for instance 1.35.
        connect: returns a connection to a port of the pod, or None if nothing listens there.
        execute: runs a command in the container for so many seconds at most; returns its exit code,
            or None if it did not end in time, and what it printed.
    """

    spec: Mapping[str, Any]
    address: str
    version: str
    connect: Callable[[int], socket | None]
    execute: Callable[[Sequence[str], float], tuple[int | None, str]]


def ask(probe: _Probe, asked: Asked) -> str | None:
    """Return what a probe finds wrong; None if it succeeds.

    Args:
        probe: as the container's `spec` has it.
        asked: the container.

    Raises:
        NoAnswer: it cannot ask.
    """
    seconds = probe.get("timeoutSeconds", _TIMEOUT_SECONDS)
    if command := probe.get("exec"):
        words = command.get("command", [])
        code, printed = asked.execute(words, seconds)
        if code is None:
            return f"command timed out: {' '.join(words)!r} timed out after {seconds}s"
        return printed if code else None
    way = probe.get("httpGet") or probe["tcpSocket"]
    port = _port(way["port"], asked.spec)
    at = f"{asked.address}:{port}"
    found = asked.connect(port)
    if "tcpSocket" in probe:
        if found is None:
            return f"dial tcp {at}: connect: connection refused"
        found.close()
        return None
    scheme, path = way.get("scheme", "HTTP"), way.get("path", "/")
    url = f'Get "{scheme.lower()}://{at}{path}"'
    if found is None:
        return f"{url}: dial tcp {at}: connect: connection refused"
    try:
        with found:
            found.settimeout(seconds)
            code = _status(found, way, at, asked.version)
    except TimeoutError:
        return f"{url}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    # Headers of a probe may be what HTTP does not allow.
    except (OSError, http.client.HTTPException, ValueError) as error:
        return f"{url}: {error}"
    if http.client.OK <= code < http.client.BAD_REQUEST:
        return None
    return f"HTTP probe failed with statuscode: {code}"


def _port(port: int | str, spec: Mapping[str, Any]) -> int:
    """Return the number of a port, which may be named.

    Raises:
        NoAnswer: no port has the name.
    """
    if isinstance(port, int):
        return port
    named = {each.get("name"): each["containerPort"] for each in spec.get("ports", [])}
    if port not in named:
        raise NoAnswer(f'strconv.Atoi: parsing "{port}": invalid syntax')
    return int(named[port])


def _status(connection: socket, way: _Probe, at: str, version: str) -> int:
    if way.get("scheme") == "HTTPS":
        # The kubelet does not look at certificates.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = context.wrap_socket(connection)
    client = http.client.HTTPConnection(at)
    client.sock = connection
    headers = {"User-Agent": f"kube-probe/{version}", "Accept": "*/*"}
    headers |= {each["name"]: each.get("value", "") for each in way.get("httpHeaders", [])}
    client.request("GET", way.get("path", "/"), headers=headers)
    return client.getresponse().status
