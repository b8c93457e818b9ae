"""The picture of what runs where in a cluster on Amazon EKS, drawn from the plan of an example.

`make schema` writes it to docs/images.
"""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from lightkube.resources.apps_v1 import DaemonSet

from trainshed.catalogue.kubernetes import SYSTEM_NODES, SYSTEM_TYPE
from trainshed.explain.drawing import box, style_sheet, text
from trainshed.kubernetes.objects import cluster_objects
from trainshed.orchestrators import part
from trainshed.orchestrators.eks.plan import EksPlan
from trainshed.plan import ClusterPlan, load_fleet

EXAMPLE = Path("examples/dl1-eks.yaml")
PICTURE = Path("docs/images/eks-dl1.svg")
_WIDTH, _HEIGHT = 900, 660
_STYLE = style_sheet(
    light={
        ".arrow": "stroke: #59636e; stroke-width: 1.5; fill: none; marker-end: url(#head)",
        ".head": "fill: #59636e",
        ".vpc": "fill: none; stroke: #59636e; stroke-dasharray: 6 4",
        ".subnet": "fill: #ffffff; stroke: #d1d9e0",
        ".stack": "fill: #0969da; font-size: 11px",
    },
    dark={
        ".arrow": "stroke: #9198a1",
        ".head": "fill: #9198a1",
        ".vpc": "stroke: #9198a1",
        ".subnet": "fill: #0d1117; stroke: #3d444d",
        ".stack": "fill: #4493f8",
    },
)
_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0 8 4 0 8z"/>'
    "</marker></defs>"
)


def draw(plan: ClusterPlan) -> str:
    """Return an SVG picture of the stacks, subnets, nodes and pods of a cluster.

    It follows the reader's light or dark colour scheme.

    Args:
        plan: of a cluster on EKS in a network of ours, with a file system of ours.
    """
    jobs = plan.jobs
    assert isinstance(jobs, EksPlan)
    body = [
        *_title(plan, jobs),
        *_outside(plan, jobs),
        *_network(plan),
        *_nodes(plan, jobs),
        *_traffic(),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(f"what runs where in {plan.name} on Amazon EKS")}">\n'
        f"{_STYLE}\n{_HEAD}\n"
        f'<rect class="page" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _title(plan: ClusterPlan, jobs: EksPlan) -> Iterator[str]:
    what = f"{plan.nodes.max} x {plan.instance.name}, Kubernetes {jobs.control_plane.version.name}"
    yield text(20, 28, f"{plan.name} on Amazon EKS: {what}", "title")
    yield text(20, 46, "blue: the stack that has it", "stack")


def _outside(plan: ClusterPlan, jobs: EksPlan) -> Iterator[str]:
    control_plane = jobs.control_plane
    yield from _card(
        (20, 62, 240, 112),
        "Your machine, in the VPC or a network of its own"
        if control_plane.public_cidrs
        else "Your machine, with a way to the VPC",
        "",
        ("trainshed kube and job, kubectl",),
        ("each call has a token: a call of STS,", "signed by the role of your credentials"),
    )
    yield from _card(
        (320, 62, 270, 112),
        "Control plane, in an account of AWS",
        control_plane.stack_name,
        ("API server, scheduler, controllers, etcd",),
        (
            *(f"{entry.role}: {entry.policy}" for entry in control_plane.access),
            "secrets encrypted by a key of the stack",
        ),
    )
    yield from _card(
        (640, 62, 240, 112),
        f"AWS services, {plan.region}",
        "",
        ("ECR: images of jobs and plugins", "CloudWatch Logs, STS, EC2, S3"),
        ("roles of pods by EKS Pod Identity,", "S3 by its endpoint, others by NAT"),
    )


def _network(plan: ClusterPlan) -> Iterator[str]:
    network = plan.network
    [other], [subnet] = network.control_plane_subnets, network.subnets
    yield box(20, 208, 860, 432, "vpc")
    yield text(32, 610, f"VPC {network.cidr}")
    yield text(32, 628, network.stack_name, "stack")
    yield from _card(
        (40, 242, 190, 116),
        f"Subnet {other.cidr}",
        "",
        (f"zone {other.zone.name}",),
        ("interface of the API server;", "here because EKS asks for", "two zones"),
        kind="subnet",
    )
    yield box(250, 242, 612, 380, "subnet")
    yield text(262, 262, f"Subnet {subnet.private_cidr}, zone {subnet.zone.name}")
    yield text(262, 278, "the other interface of the API server, and all nodes", "soft")


def _nodes(plan: ClusterPlan, jobs: EksPlan) -> Iterator[str]:
    control_plane, job = jobs.control_plane, jobs.pod
    objects = cluster_objects(part(plan.orchestrator, "kubernetes").planned_objects(plan))
    plugins = [
        each.metadata.name
        for each in objects
        if isinstance(each, DaemonSet) and each.metadata and each.metadata.name
    ]
    yield from _card(
        (266, 292, 190, 150),
        f"System nodes, {SYSTEM_NODES} x {SYSTEM_TYPE}",
        control_plane.stack_name,
        ("coredns", "manager of JobSet"),
        (
            "and on all nodes: vpc-cni,",
            "kube-proxy, Pod Identity agent,",
            "Fluent Bit, node monitoring",
        ),
    )
    if plan.lustre:
        yield from _card(
            (266, 486, 190, 112),
            "FSx for Lustre",
            plan.lustre.stack_name,
            (f"mounted by nodes at {plan.lustre.mount}",),
            ("pods: the claim lustre,", "no CSI driver"),
        )
    efa = f", {len(plan.interfaces)} interfaces" if plan.devices.get("efa") else ""
    for step in (2, 1):
        yield box(500 + 6 * step, 292 + 6 * step, 342, 300, "card")
    yield from _card(
        (500, 292, 342, 300),
        f"{plan.nodes.max} nodes of {plan.instance.name}{efa}",
        f"{plan.name}, in one placement group",
        (f"taint {job.taint}", *(f"DaemonSet {name}" for name in plugins)),
        ("in kube-system; they announce the devices to the kubelet",),
    )
    counted = [f"{name}: {count}" for name, count in job.resources.items()]
    yield from _card(
        (516, 446, 310, 132),
        f"Pod of a job, namespace {jobs.namespace}: one to a node",
        "",
        (", ".join(counted[:2]), ", ".join(counted[2:4]), *counted[4:]),
        ("trainshed-launch finds the other pods by name",),
        kind="subnet",
    )


def _traffic() -> Iterator[str]:
    yield _arrow((260, 100), (320, 100))
    yield text(266, 92, "443", "soft")
    yield _arrow((400, 174), (135, 242))
    yield _arrow((455, 174), (455, 242))
    yield text(462, 200, "to nodes: 443, 10250; and back to 443", "soft")
    yield _arrow((760, 242), (760, 174))
    yield text(768, 200, "NAT, port 443", "soft")
    yield _arrow((500, 540), (456, 540))
    yield text(462, 532, "988", "soft")
    yield text(516, 614, "EFA between nodes: all traffic within one group", "soft")


def _card(
    place: tuple[int, int, int, int],
    title: str,
    stack: str,
    lines: Sequence[str],
    notes: Sequence[str],
    kind: str = "card",
) -> Iterator[str]:
    """Draw a box with its title, its stack, what runs there and what is to be known of it."""
    left, top, width, height = place
    yield box(left, top, width, height, kind)
    line = top + 20
    yield text(left + 10, line, title)
    for words, kind_of_line in (
        *([(stack, "stack")] if stack else []),
        *((each, "") for each in lines),
        *((each, "soft") for each in notes),
    ):
        line += 17
        yield text(left + 10, line, words, kind_of_line)


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    return f'<path class="arrow" d="M{start[0]} {start[1]} L{end[0]} {end[1]}"/>'


if __name__ == "__main__":
    [example] = load_fleet([EXAMPLE]).clusters
    PICTURE.write_text(draw(example), encoding="utf-8")
