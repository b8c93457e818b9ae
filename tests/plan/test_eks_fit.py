"""The pod of a job fits on a node of EKS of every type, beside what else runs there.

The node and the add-ons are the embedded EKS's, which counts by the documents of nodeadm and of the
add-ons, not by our plan.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from moto.ec2.models.instance_types import INSTANCE_TYPES

from embedded_aws.eks.addon_objects import objects_of
from embedded_aws.eks.node_resources import resources_of
from trainshed.catalogue import (
    AcceleratorFamily,
    all_types,
    lookup,
    regions_offering,
    zones_offering,
)
from trainshed.catalogue.lookup import withdrawn_records
from trainshed.kubernetes.device_plugins import device_plugins
from trainshed.kubernetes.labels import OwnedObjects
from trainshed.orchestrators.eks.plan import EksPlan
from trainshed.plan import make_plan
from trainshed.spec import ClusterSpec

# What a cluster of ours has, and CloudWatch's, which users add.
ADD_ONS = (
    *("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "eks-node-monitoring-agent"),
    "amazon-cloudwatch-observability",
)
MILLI, MIB = "m", "Mi"


def amount(quantity: str, unit: str) -> int:
    """Return a quantity of Kubernetes in a unit, in which it is or of which it is a thousand."""
    if quantity.endswith(unit):
        return int(quantity.removesuffix(unit))
    return int(quantity) * 1000 if unit == MILLI else int(quantity)


def of_add_ons(instance_type: str) -> Iterator[Any]:
    """Yield what the containers of add-ons ask for on a node of a type."""
    for name in ADD_ONS:
        named = {"addonName": name, "addonVersion": "v1", "namespaceConfig": {"namespace": "a"}}
        for each in objects_of(named, region="us-west-2", service_cidr="10.100.0.0/16"):
            if each["kind"] == "DaemonSet" and runs_on(each["spec"]["template"], instance_type):
                for container in each["spec"]["template"]["spec"]["containers"]:
                    yield container["resources"]["requests"]


def runs_on(template: Any, instance_type: str) -> bool:
    affinity = template["spec"].get("affinity")
    if not affinity:
        return True
    required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    [term] = required["nodeSelectorTerms"]
    return instance_type in term["matchExpressions"][0]["values"]


def of_device_plugins(taint: str) -> Iterator[Any]:
    owned = OwnedObjects(cluster="Cluster1", namespace="cluster1")
    for each in device_plugins(owned, region="us-west-2", accelerator=taint, efa=True):
        if each.kind == "DaemonSet":
            for container in each.to_dict()["spec"]["template"]["spec"]["containers"]:
                yield container["resources"]["requests"]


@pytest.mark.parametrize(
    "name",
    [
        each
        for each in all_types()
        if lookup(each).accelerator.family is not AcceleratorFamily.QUALCOMM
    ],
)
def test_a_pod_of_a_job_fits_beside_add_ons_and_device_plugins(name: str) -> None:
    plan = planned(name, regions_offering(name)[0])

    asked, there = fits(plan, name)

    assert asked > there * 0.8


# The second has less memory, takes fewer pods or both.
@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("g6e.8xlarge", "g6.8xlarge"),
        ("g7e.8xlarge", "g6.8xlarge"),
        ("g6e.8xlarge", "g7e.8xlarge"),
        ("g7e.24xlarge", "g6e.24xlarge"),
        ("p4d.24xlarge", "p4de.24xlarge"),
    ],
)
def test_a_pod_of_a_job_fits_on_each_of_several_types(name: str, other: str) -> None:
    region, zone = next(
        (region, zone)
        for region in regions_offering(name)
        for zone in zones_offering(name, region)
        if zone in zones_offering(other, region)
    )

    plan = planned(name, region, zone=zone, capacity={"instance_types": [name, other]})

    for each in (name, other):
        fits(plan, each)


def planned(name: str, region: str, **more: object) -> EksPlan:
    fields = {
        "name": "Cluster1",
        "region": region,
        "orchestrator": "eks",
        "instance": {"type": name, "nodes": {"max": 1}, "ami": "ami-0123456789abcdef0"},
    }
    plan = make_plan(ClusterSpec.model_validate(fields | more)).jobs
    assert isinstance(plan, EksPlan)
    return plan


def fits(plan: EksPlan, name: str) -> tuple[int, int]:
    """Check that the pod fits on a node of a type, and return its memory and the node's, in MiB."""
    record = INSTANCE_TYPES.get(name) or withdrawn_records()[name]
    pages = lookup(name).huge_pages_mib // 2
    node = resources_of(
        record, {}, {}, huge_pages=pages, reserves_by_type=plan.bootstrap_script
    ).allocatable
    others = [*of_add_ons(name), *of_device_plugins(plan.pod.taint)]
    for resource, unit in (("cpu", MILLI), ("memory", MIB)):
        taken = sum(amount(each.get(resource, "0"), unit) for each in others)
        assert taken > 0
        asked = amount(plan.pod.resources[resource], unit)
        assert asked + taken <= amount(node[resource], unit), resource
    return amount(plan.pod.resources["memory"], MIB), amount(node["memory"], MIB)
