"""Write the cluster file for a node group of an eksctl file."""

import re
from typing import Any

from trainshed.catalogue.kubernetes import default_kubernetes, kubernetes_versions
from trainshed.day import today
from trainshed.errors import TrainshedError, did_you_mean
from trainshed.lint.cluster_files.access import write_access
from trainshed.lint.cluster_files.draft import Draft, fits
from trainshed.lint.cluster_files.network import write_network
from trainshed.lint.cluster_files.nodes import accelerated_type, write_nodes
from trainshed.lint.eksctl import EksctlCluster
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.model import Unknown
from trainshed.lint.read import reading, value_of
from trainshed.plan import plan_fleet
from trainshed.spec import ClusterSpec, SpecError, forms

_LONGEST_NAME, _LONGEST_SHARE = 50, 32
# Keys of a node group, and of the whole file, that have a counterpart, or none that matters.
_TAKEN_OVER = frozenset(
    (
        *("name", "instanceType", "instanceTypes", "minSize", "maxSize", "desiredCapacity"),
        *("efaEnabled", "placement", "ami", "amiFamily", "volumeSize", "volumeType", "spot"),
        *("availabilityZones", "subnets", "privateNetworking"),
        *("capacityReservation", "instanceMarketOptions"),
    )
)
_TAKEN_OVER_OF_FILE = frozenset(
    (
        *("apiVersion", "kind", "metadata", "nodeGroups", "managedNodeGroups", "vpc"),
        *("accessConfig", "iamIdentityMappings", "kubernetesNetworkConfig"),
        *("availabilityZones", "upgradePolicy", "cloudWatch"),
    )
)


def cluster_file(cluster: EksctlCluster, asked: str) -> str:
    """Return the text of a cluster file for a node group.

    It has a comment for all that is not taken over, or that is another way with trainshed, and for
    what makes it impossible.

    Args:
        cluster: the eksctl file.
        asked: name of the node group.

    Raises:
        TrainshedError: there is no such group, or it has no accelerators, or the file does not
            decide its type.
    """
    file = cluster.where.file
    found = [group for group in cluster.groups if group.name == asked]
    if not found:
        names = tuple(dict.fromkeys(group.name for group in cluster.groups))
        raise TrainshedError(
            f"{file} has no node group {asked!r}{did_you_mean(asked, names)} (it has: "
            f"{', '.join(names) or 'none'})"
        )
    group = found[0]
    instance = accelerated_type(group)
    if isinstance(instance, Unknown) or instance is None:
        why = (
            f"not decided is {instance.why}"
            if isinstance(instance, Unknown)
            else "its type has no accelerators, or is not in the catalogue; the nodes of system "
            "pods come with the control plane"
        )
        raise TrainshedError(f"{file}: there is no cluster file for the node group {asked}: {why}")
    with reading():
        draft = Draft()
        _write_name(draft, cluster, group)
        draft.set("orchestrator", "eks")
        write_nodes(draft, group, instance)
        _write_version(draft, cluster)
        shared_name, content = _share_name(cluster, group), dict(cluster.content)
        draft.set("kubernetes", "name", shared_name)
        write_network(draft, content, group, shared_name=shared_name)
        write_access(draft, content)
        _note_the_rest(draft, cluster, group)
    _note_refusals(draft)
    heading = f"Node group {asked} of {file}, as a cluster of trainshed. What is another way:"
    return draft.text(heading, order=tuple(ClusterSpec.model_for(draft.fields).model_fields))


def _write_name(draft: Draft, cluster: EksctlCluster, group: EksctlGroup) -> None:
    words = f"{value_of(cluster.name) or ''}-{group.name}"
    slug = re.sub("[^A-Za-z0-9]+", "-", words).strip("-")[:_LONGEST_NAME].strip("-")
    name = slug if fits(forms.CLUSTER_NAME.pattern, slug) else f"Cluster-{slug}"
    draft.set("name", name[:_LONGEST_NAME].strip("-"))
    if region := value_of(cluster.region):
        draft.set("region", region)
    else:
        draft.note("region: from the environment; the file does not decide it")


def _write_version(draft: Draft, cluster: EksctlCluster) -> None:
    asked = value_of(cluster.control_planes[0].version)
    sold = {each.name for each in kubernetes_versions() if each.standard_until >= today()}
    if asked in sold:
        draft.set("kubernetes", "version", asked)
    elif asked:
        draft.note(
            f"kubernetes.version: {default_kubernetes().name}, the default, in place of {asked}, "
            "which has no standard support"
        )


def _share_name(cluster: EksctlCluster, group: EksctlGroup) -> str:
    name = value_of(cluster.name) or group.name
    slug = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_SHARE].strip("-")
    return slug if fits(forms.SHARE_NAME.pattern, slug) else f"c-{slug}"[:_LONGEST_SHARE].strip("-")


def _note_the_rest(draft: Draft, cluster: EksctlCluster, group: EksctlGroup) -> None:
    rest = [*_other(group.keys, _TAKEN_OVER), *_other(cluster.content, _TAKEN_OVER_OF_FILE)]
    if rest:
        draft.note(f"not taken over: {', '.join(rest)}")
    others = [each.name for each in cluster.groups if each is not group]
    if others:
        draft.note(
            f"not in it: {', '.join(others)}; a node group with accelerators is a cluster of its "
            "own with the same kubernetes.name, and system pods have nodes of the control plane"
        )


def _note_refusals(draft: Draft) -> None:
    """Tell what makes such a cluster impossible, for instance a type that the region lacks."""
    try:
        plan_fleet([ClusterSpec.model_validate(draft.fields)])
    except SpecError as error:
        for problem in error.problems:
            field = ".".join(map(str, problem.path))
            draft.note(f"refused as it is: {field}: {problem.message}")


def _other(keys: Any, taken_over: frozenset[str]) -> list[str]:
    return [key for key in keys if key not in taken_over]
