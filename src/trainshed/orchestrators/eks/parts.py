"""The parts of a cluster that run its jobs on Amazon EKS."""

from collections.abc import Iterator

from trainshed.catalogue.kubernetes import SYSTEM_GIB, SYSTEM_NODES, SYSTEM_TYPE
from trainshed.orchestrators.eks.plan import EksPlan
from trainshed.parts.image import image_part, shown_image
from trainshed.parts.job import job_facts
from trainshed.parts.model import Arrow, Charge, Fact, PartResources, PlannedPart
from trainshed.plan import ClusterPlan
from trainshed.prices import EKS_HOUR, GP3, Purchase, instance_item

STARTS_JOBS = ("pods", "control-plane", "node-group")


def planned_parts(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield what starts the jobs of a cluster, and where its image is."""
    eks = plan.jobs
    assert isinstance(eks, EksPlan)
    control_plane = eks.control_plane
    yield PlannedPart(
        kind="pods",
        facts=(
            Fact(name="JobSet"),
            Fact(name="container image", value=shown_image(eks.image, eks.repository)),
            *job_facts(plan),
            Fact(name="attempts of a job", value=str(eks.attempts), minor=True),
            Fact(
                name="pod of a job",
                value=", ".join(f"{count} {name}" for name, count in eks.pod.resources.items()),
                minor=True,
            ),
            Fact(
                name="shared memory of a job",
                value=f"{eks.pod.shared_memory_mib} MiB",
                minor=True,
            ),
        ),
    )
    yield PlannedPart(
        kind="control-plane",
        facts=(
            Fact(name="control plane", value=control_plane.name),
            Fact(name="Kubernetes", value=control_plane.version.name),
            Fact(name="system nodes", value=f"{SYSTEM_NODES} x {SYSTEM_TYPE}"),
            Fact(
                name="API server",
                value=", ".join(map(str, control_plane.public_cidrs)) or "from its VPC alone",
            ),
        ),
        charges=(
            Charge(component="control plane of EKS", item=EKS_HOUR, least=1, most=1),
            Charge(
                component=f"system nodes, {SYSTEM_TYPE}",
                item=instance_item(Purchase.ON_DEMAND, SYSTEM_TYPE),
                least=SYSTEM_NODES,
                most=SYSTEM_NODES,
            ),
            Charge(
                component=f"root volumes of system nodes, gp3, {SYSTEM_GIB} GiB each",
                item=GP3,
                units=SYSTEM_GIB,
                least=SYSTEM_NODES,
                most=SYSTEM_NODES,
            ),
        ),
        resources=PartResources(
            stack=control_plane.stack_name, types=("AWS::EKS::Cluster", "AWS::EKS::Addon")
        ),
    )
    yield PlannedPart(
        kind="node-group",
        facts=(Fact(name="node group"),),
        resources=PartResources(stack=plan.name, types=("AWS::EKS::Nodegroup",)),
    )
    yield image_part(eks.repository)


def planned_links(plan: ClusterPlan) -> Iterator[Arrow]:
    """Yield the arrows between these parts, and to the nodes."""
    yield Arrow(start="pods", end="control-plane", text="submitted to")
    yield Arrow(start="control-plane", end="nodes", text="places pods on")
    yield Arrow(start="node-group", end="nodes", text="launches")
    images = "repository" if plan.repository else "registry"
    yield Arrow(start="nodes", end=images, text="pull the image")


def new_template(plan: ClusterPlan) -> str:
    """Say who takes a new version of the launch template, and when."""
    return "the node group replaces its nodes one after another, and the pods on them end"
