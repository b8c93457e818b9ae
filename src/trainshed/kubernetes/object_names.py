"""How an object of Kubernetes is called, and where it is."""

from typing import Any

from lightkube.core.resource import api_info

from trainshed.kubernetes.objects import KubernetesObject


def named(each: KubernetesObject) -> str:
    """Return the kind and the name of an object, with its namespace."""
    space = namespace_of(each)
    return f"{kind_of(each)} {space + '/' if space else ''}{name_of(each)}"


def kind_of(each: KubernetesObject) -> str:
    """Return its kind, for instance `DaemonSet`."""
    kind: str = api_info(type(each)).resource.kind
    return kind


def name_of(each: KubernetesObject) -> str:
    """Return its name."""
    return (each.metadata and each.metadata.name) or ""


def namespace_of(each: KubernetesObject) -> str | None:
    """Return the namespace that it is in, or None."""
    return each.metadata.namespace if each.metadata else None


def where(each: KubernetesObject) -> dict[str, Any]:
    """Return where a client finds it, as keywords."""
    space = namespace_of(each)
    return {"namespace": space} if space else {}
