"""What a container of a pod may ask for that the embedded AWS does not do."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.eks.pod_problems import Waits


def refuse_unknown(spec: Mapping[str, Any], pod: Mapping[str, Any]) -> None:
    """Refuse a container that would not do here what it does in Kubernetes.

    Args:
        spec: of the container.
        pod: the `spec` of its pod.

    Raises:
        Waits: it asks for something that is not done.
    """
    if why := _why_no_namespaces(pod) or _why_not(spec):
        raise Waits("CreateContainerConfigError", f"the embedded AWS {why}")


def _why_no_namespaces(pod: Mapping[str, Any]) -> str | None:
    for field in ("hostPID", "hostIPC"):
        if pod.get(field):
            return f"does not know {field} of pods"
    several = len([*pod.get("initContainers", []), *pod["containers"]]) > 1
    if pod.get("shareProcessNamespace") and several:
        return "shares no process namespace between containers"
    return None


def _why_not(spec: Mapping[str, Any]) -> str | None:
    if "restartPolicyRules" in spec:
        return "does not know restartPolicyRules of containers"
    if spec.get("lifecycle"):
        return (
            f"does not know {', '.join(sorted(spec['lifecycle']))} of the lifecycle of containers"
        )
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe = spec.get(kind, {})
        if "grpc" in probe:
            return f"asks no {kind} by gRPC"
        for way in ("httpGet", "tcpSocket"):
            if host := probe.get(way, {}).get("host"):
                return f"asks no other host for a {kind}: {host}"
    return None
