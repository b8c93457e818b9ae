"""What pods take from their own fields, from ConfigMaps and from Secrets, for variables and files.

Kubernetes, "Define Environment Variables for a Container" and "Downward API"; API reference, EnvVar
and Container: `$(NAME)` stands for a variable that comes before, `$$` for `$`, and a name that is
not there stays; later variables win. "Accessing the API from a Pod" and "Discovering services": the
variables of the service `kubernetes`, and with `enableServiceLinks` of the namespace's. Not known:
fields of resources.
"""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from embedded_aws.eks.pod_problems import Waits
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal

_REFERENCE = re.compile(r"\$(\$|\(([^)]*)\))")
_OF_MAP = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")
_NOT_FOUND = 404
_Object = Mapping[str, Any]


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the values of the variables that it names."""

    def value(found: re.Match[str]) -> str:
        return "$" if found[1] == "$" else variables.get(found[2], found[0])

    return _REFERENCE.sub(value, text)


def variables_of(
    client: ApiClient, pod: _Object, container: _Object, before: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of a container.

    Args:
        client: an administrator's.
        pod: whose container it is, with its address.
        container: of its `spec`.
        before: that it has in any case, unless it has others of the same names.

    Raises:
        Waits: something that they are taken from is not there.
    """
    found = {**before, **_of_services(client, pod)}
    for source in container.get("envFrom", []):
        for kind in ("configMapRef", "secretRef"):
            if reference := source.get(kind):
                data = read_data(client, pod, kind.removesuffix("Ref"), reference["name"], source)
                prefix = source.get("prefix", "")
                found |= {prefix + name: _text(value) for name, value in data.items()}
    for each in container.get("env", []):
        value = _value(client, pod, each)
        if value is not None:
            found[each["name"]] = expanded(value, found) if "value" in each else value
    return found


def field_of(pod: _Object, path: str) -> str:
    """Return a field of a pod that the downward API knows.

    Raises:
        Waits: it does not.
    """
    metadata, spec, status = pod["metadata"], pod["spec"], pod["status"]
    if of_map := _OF_MAP.fullmatch(path):
        return str(metadata.get(of_map[1], {}).get(of_map[2], ""))
    known = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": spec["nodeName"],
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "status.hostIP": status.get("hostIP", ""),
        "status.podIP": status.get("podIP", ""),
        "status.podIPs": status.get("podIP", ""),
        "status.hostIPs": status.get("hostIP", ""),
    }
    if path in known:
        return str(known[path])
    for name in ("labels", "annotations"):
        if path == f"metadata.{name}":
            pairs = metadata.get(name, {})
            return "\n".join(f'{each}="{pairs[each]}"' for each in sorted(pairs))
    raise Waits("CreateContainerConfigError", f"the embedded AWS does not know the field {path}")


def read_data(
    client: ApiClient,
    pod: _Object,
    kind: str,
    name: str,
    source: _Object,
    *,
    binary: bool = False,
) -> dict[str, bytes]:
    """Return the data of a ConfigMap or a Secret of the pod's namespace.

    Args:
        client: an administrator's.
        pod: it.
        kind: `configMap` or `secret`.
        name: of the object.
        source: what names it, which may say that it is `optional`.
        binary: with the `binaryData` of a ConfigMap, which only files have.

    Raises:
        Waits: it is not there.
    """
    namespace = pod["metadata"]["namespace"]
    try:
        found = client.call("GET", f"/api/v1/namespaces/{namespace}/{kind.lower()}s/{name}")
    except ApiRefusal as error:
        if error.code != _NOT_FOUND:
            raise
        if source.get("optional") or source.get(f"{kind}Ref", {}).get("optional"):
            return {}
        raise Waits("CreateContainerConfigError", f'{kind.lower()} "{name}" not found') from error
    data = found.get("data") or {}
    if kind == "secret":
        return _decoded(data)
    texts = {name: text.encode() for name, text in data.items()}
    return texts | _decoded((found.get("binaryData") if binary else None) or {})


def _decoded(data: Mapping[str, str]) -> dict[str, bytes]:
    return {name: base64.b64decode(text) for name, text in data.items()}


def _text(value: bytes) -> str:
    return value.decode(errors="replace")


def _value(client: ApiClient, pod: _Object, variable: _Object) -> str | None:
    source = variable.get("valueFrom")
    if not source:
        return str(variable.get("value", ""))
    if field := source.get("fieldRef"):
        return field_of(pod, field["fieldPath"])
    for kind in ("configMap", "secret"):
        if key := source.get(f"{kind}KeyRef"):
            data = read_data(client, pod, kind, key["name"], key)
            if key["key"] in data:
                return _text(data[key["key"]])
            if key.get("optional"):
                return None
            raise Waits(
                "CreateContainerConfigError",
                f"couldn't find key {key['key']} in {kind} "
                f"{pod['metadata']['namespace']}/{key['name']}",
            )
    [unknown] = source
    raise Waits("CreateContainerConfigError", f"the embedded AWS does not know {unknown}")


def _of_services(client: ApiClient, pod: _Object) -> dict[str, str]:
    """Return the variables by which services are found."""
    namespace = pod["metadata"]["namespace"]
    found = client.call("GET", "/api/v1/services")["items"]
    of_api = [each for each in found if _place(each) == ("default", "kubernetes")]
    links = pod["spec"].get("enableServiceLinks", True)
    own = [each for each in found if links and each["metadata"]["namespace"] == namespace]
    return dict(_links([*own, *of_api]))


def _place(service: _Object) -> tuple[str, str]:
    return service["metadata"]["namespace"], service["metadata"]["name"]


def _links(services: Sequence[_Object]) -> Iterator[tuple[str, str]]:
    for service in services:
        address = service["spec"].get("clusterIP", "None")
        if address in ("None", ""):
            continue
        name = service["metadata"]["name"].upper().replace("-", "_")
        ports = service["spec"]["ports"]
        yield f"{name}_SERVICE_HOST", address
        yield f"{name}_SERVICE_PORT", str(ports[0]["port"])
        first = ports[0]
        yield f"{name}_PORT", _url(address, first)
        for port in ports:
            if "name" in port:
                word = port["name"].upper().replace("-", "_")
                yield f"{name}_SERVICE_PORT_{word}", str(port["port"])
            stem = f"{name}_PORT_{port['port']}_{port.get('protocol', 'TCP')}"
            yield stem, _url(address, port)
            yield f"{stem}_PROTO", port.get("protocol", "TCP").lower()
            yield f"{stem}_PORT", str(port["port"])
            yield f"{stem}_ADDR", address


def _url(address: str, port: _Object) -> str:
    return f"{port.get('protocol', 'TCP').lower()}://{address}:{port['port']}"
