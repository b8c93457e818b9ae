"""What Batch refuses in the container properties of a job definition.

Batch API reference: image, vCPUs (1 or more) and memory (4 MiB or more) are required; GPUs are
whole; mount points name volumes of the definition; ulimits have Docker's names; names that start
with AWS_BATCH are reserved. Inferred: the exact words.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from embedded_aws.batch.refusals import check_one_of, refuse

# containerProperties, as the API takes it.
Container = Mapping[str, Any]

_ULIMITS = (
    *("core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice", "nofile"),
    *("nproc", "rss", "rtprio", "rttime", "sigpending", "stack"),
)
_LEAST_MEMORY_MIB = 4


def check_container(container: Container) -> None:
    """Refuse container properties that Batch refuses.

    Raises:
        Refusal: ClientException.
    """
    if not container.get("image"):
        raise refuse("Container properties must contain an image.")
    _check_requirements(container)
    for entry in container.get("environment", []):
        if entry.get("name", "").startswith("AWS_BATCH"):
            raise refuse(f"Environment variable {entry['name']}: AWS_BATCH is a reserved prefix.")
    _check_volumes(container)
    _check_ulimits(container.get("ulimits", []))
    _check_linux(container.get("linuxParameters", {}))


def _check_requirements(container: Container) -> None:
    requirements = {
        "VCPU": container.get("vcpus"),
        "MEMORY": container.get("memory"),
    }
    for requirement in container.get("resourceRequirements", []):
        requirements[requirement["type"]] = requirement["value"]
    for kind, least in (("VCPU", 1), ("MEMORY", _LEAST_MEMORY_MIB), ("GPU", 1)):
        value = requirements.get(kind)
        if value is None and kind != "GPU":
            raise refuse(f"Container properties must contain {kind}.")
        if value is not None and not (str(value).isdigit() and int(value) >= least):
            raise refuse(f"{kind} must be a whole number of at least {least}, not {value}.")


def _check_volumes(container: Container) -> None:
    names = [volume["name"] for volume in container.get("volumes", [])]
    if len(set(names)) < len(names):
        raise refuse("The name of each volume must be unique.")
    for mount in container.get("mountPoints", []):
        if mount["sourceVolume"] not in names:
            raise refuse(f"Unknown volume '{mount['sourceVolume']}' in mountPoints.")


def _check_ulimits(ulimits: Sequence[Mapping[str, Any]]) -> None:
    for ulimit in ulimits:
        name, soft, hard = ulimit["name"], ulimit["softLimit"], ulimit["hardLimit"]
        check_one_of("ulimit name", name, _ULIMITS)
        if hard != -1 and (soft == -1 or soft > hard):
            raise refuse(f"ulimit {name}: softLimit {soft} exceeds hardLimit {hard}.")


def _check_linux(parameters: Mapping[str, Any]) -> None:
    for device in parameters.get("devices", []):
        path = device.get("hostPath", "")
        if not path.startswith("/"):
            raise refuse(f"Device hostPath '{path}' must be an absolute path.")
    if parameters.get("sharedMemorySize", 1) < 1:
        raise refuse("sharedMemorySize must be at least 1 MiB.")
    if not 0 <= parameters.get("swappiness", 60) <= 100:
        raise refuse("swappiness must be between 0 and 100.")
