"""What a kubelet reports of a pod, as events in its namespace.

Kubernetes API reference, Event; its client, `tools/record`: one that is like an earlier one is
counted there, and its name is the pod's with a number.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from threading import Lock
from typing import Any

from embedded_aws.eks.node_objects import as_node
from embedded_aws.eks.pod_statuses import TIME
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal

_MERGE = "application/merge-patch+json"
# Of names; a dot and the number follow.
_LONGEST = 253 - 17
# That are remembered of a pod; those before them are forgotten.
_MOST = 100


@dataclass(slots=True, kw_only=True)
class _Event:
    """An event.

    Attributes:
        warns: it is of type Warning.
        first: when it happened first.
        last: when it happened last.
        count: how often it happened.
        told: how often the API server knows of.
    """

    warns: bool
    first: str
    last: str = ""
    count: int = 0
    told: int = 0
    number: str = field(default_factory=partial(token_hex, 8))


class PodEvents:
    """The events of one pod.

    Args:
        client: an administrator's, of the API server.
        pod: the pod.
    """

    def __init__(self, client: ApiClient, pod: Mapping[str, Any]) -> None:
        self._client = client
        self._metadata: Mapping[str, Any] = pod["metadata"]
        self._node = str(pod["spec"]["nodeName"])
        # By where in the pod, reason and message.
        self._events: dict[tuple[str, str, str], _Event] = {}
        self._guard = Lock()

    def note(self, place: str, reason: str, message: str, *, warns: bool = False) -> None:
        """Note an event, from any thread, which `tell` makes known.

        Args:
            place: field of the pod that it is about, for instance `spec.containers{one}`.
            reason: one word.
            message: the rest.
            warns: it is of type Warning.
        """
        now = datetime.now(UTC).strftime(TIME)
        key = place, reason, message
        with self._guard:
            if key not in self._events:
                if len(self._events) >= _MOST:
                    del self._events[next(iter(self._events))]
                self._events[key] = _Event(warns=warns, first=now)
            event = self._events[key]
            event.last, event.count = now, event.count + 1

    def tell(self) -> None:
        """Have the API server know what was noted, in as far as it takes it."""
        with self._guard:
            news = [pair for pair in self._events.items() if pair[1].count > pair[1].told]
        for (place, reason, message), event in news:
            count = event.count
            # In a namespace that is deleted, for instance, nobody will miss it.
            with suppress(ApiRefusal):
                self._tell(place, reason, message, event, count)
            event.told = count

    def _tell(self, place: str, reason: str, message: str, event: _Event, count: int) -> None:
        namespace, pod = self._metadata["namespace"], self._metadata["name"]
        name = f"{pod[:_LONGEST]}.{event.number}"
        path = f"/api/v1/namespaces/{namespace}/events"
        seen = {"lastTimestamp": event.last, "count": count}
        if event.told:
            self._client.call(
                "PATCH", f"{path}/{name}", seen, content_type=_MERGE, **as_node(self._node)
            )
            return
        body = {
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "namespace": namespace,
                "name": pod,
                "uid": self._metadata["uid"],
                "fieldPath": place,
            },
            "type": "Warning" if event.warns else "Normal",
            "reason": reason,
            "message": message,
            "source": {"component": "kubelet", "host": self._node},
            "reportingComponent": "kubelet",
            "reportingInstance": self._node,
            "firstTimestamp": event.first,
            **seen,
        }
        self._client.call("POST", path, body, **as_node(self._node))
