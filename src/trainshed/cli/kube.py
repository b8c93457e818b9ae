"""`trainshed kube`: use the Kubernetes of a cluster of Amazon EKS."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from trainshed.account.deployed_stacks import find_stack
from trainshed.aws import AwsRefusal, Region
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    load_cluster,
)
from trainshed.cli.options import JsonOption, region_option
from trainshed.cli.output import print_json, print_records, say
from trainshed.cli.progress import progress
from trainshed.errors import Failure, TrainshedError
from trainshed.kubernetes.apply_progress import Stage, apply_and_wait
from trainshed.kubernetes.applying import stages_of
from trainshed.kubernetes.client import connect
from trainshed.kubernetes.cluster import EksCluster, find_cluster
from trainshed.kubernetes.kubeconfig import kubeconfig_file, write_context
from trainshed.kubernetes.locking import lock_changes, new_lock
from trainshed.kubernetes.node_group import NodeGroupIssue, find_node_group
from trainshed.kubernetes.nodes import KubernetesNode, NodesPlan, differences, find_nodes
from trainshed.kubernetes.object_step import ApplyStep
from trainshed.kubernetes.objects import ObjectsPlan
from trainshed.kubernetes.token import make_token
from trainshed.orchestrators import part
from trainshed.plan import ClusterPlan
from trainshed.plan.kube_lock import KubeLock, lock_file

app = typer.Typer(add_completion=False)


@app.command()
def config(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(
            help="File to write.", show_default="KUBECONFIG, or ~/.kube/config", metavar="PATH"
        ),
    ] = None,
) -> None:
    """Let kubectl use a cluster: write its context, without secrets, and make it the current one.

    All else in the file stays. kubectl gets its tokens from `trainshed kube token`.
    """
    plan = _planned(cluster, clusters, region)
    file = kubeconfig or kubeconfig_file(os.environ)
    context = f"{plan.name}.{plan.region}.trainshed"
    write_context(
        file,
        _cluster(plan),
        context=context,
        namespace=part(plan.orchestrator, "kubernetes").planned_objects(plan).namespace,
        profile=os.environ.get("AWS_PROFILE"),
    )
    say(f"{context} is the current context of {file}")


@app.command()
def token(
    cluster: Annotated[
        str, typer.Option(help="Name of the cluster, as EKS has it.", metavar="NAME")
    ],
    region: Annotated[str, region_option("AWS region of the cluster.", "none")],
) -> None:
    """Print a token for a cluster of Amazon EKS, as kubectl asks for it: an ExecCredential."""
    made = make_token(Region(region), cluster)
    print_json(
        {
            "apiVersion": "client.authentication.k8s.io/v1",
            "kind": "ExecCredential",
            "status": {
                "expirationTimestamp": f"{made.expires:%Y-%m-%dT%H:%M:%SZ}",
                "token": made.text,
            },
        }
    )


@app.command()
def nodes(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what each node has, and what differs from the plan; exits with 1 when something does."""
    plan = _planned(cluster, clusters, region)
    planned: NodesPlan = part(plan.orchestrator, "kubernetes").planned_nodes(plan)
    eks = _cluster(plan)
    with connect(eks) as client:
        found = find_nodes(client, eks, plan.name)
    differs = [*differences(planned, found)]
    issues = _node_group_issues(plan) if len(found) < planned.count else ()
    if as_json:
        print_json(
            {
                "planned": asdict(planned),
                "nodes": [asdict(each) for each in found],
                "differences": [asdict(each) for each in differs],
                "node_group_issues": [asdict(each) for each in issues],
            }
        )
    else:
        _show_nodes(planned, found)
        for each in differs:
            where = each.node or plan.name
            say(f"{where}: {each.what} is {each.found}, planned is {each.planned}; {each.advice}")
        say(*map(str, issues))
        if not differs:
            say(f"all {len(found)} nodes are as planned")
    if differs:
        raise typer.Exit(1)


@app.command()
def apply(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only ask the API server what would change.")
    ] = False,
    wait_minutes: Annotated[
        float,
        typer.Option(min=0, help="Wait so long until everything is ready.", metavar="MINUTES"),
    ] = 10,
    as_json: JsonOption = False,
) -> None:
    """Apply what Kubernetes needs of a cluster: locked charts, then kube/CLUSTER.yaml.

    JobSet and Kueue are installed where the lock has their charts (`trainshed kube lock`), unless
    somebody else has installed them. Server-side apply, by the field manager trainshed. It deletes
    what it applied before and what the cluster no longer has, and nothing else. After a failure or
    an interruption, run the same command again.
    """
    plan = _planned(cluster, clusters, region)
    planned: ObjectsPlan = part(plan.orchestrator, "kubernetes").planned_objects(plan)
    assert plan.control_plane
    eks = _cluster(plan)
    with connect(eks) as client, progress() as show:
        charts, applier = stages_of(client, eks, plan.control_plane, planned, show)
        show(f"asking the API server of {eks.name} what would change")
        stages: tuple[Stage, ...] = (*charts, applier)
        steps = (*(step for each in charts for step in each.plan()), *applier.plan())
        if not applier.queues:
            say(
                f"{eks.name} has no Kueue, so {plan.name} gets no queue: two jobs that need more "
                "nodes together than there are may each hold some for ever; run: trainshed kube "
                f"lock {plan.name}; then this command again",
                err=True,
            )
        if not dry_run:
            apply_and_wait(stages, steps, minutes=wait_minutes, show=show)
    if as_json:
        print_json([asdict(each) for each in steps])
    else:
        _show_steps(steps, "would be" if dry_run else "is")


@app.command()
def lock(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Lock the add-ons and charts of a cluster: CONTROL-PLANE.lock.json beside the cluster file.

    Add-ons get the version that EKS takes by default today, for the cluster's version of
    Kubernetes; the charts of JobSet and Kueue the release that trainshed is tried with, by its
    digest. Commit the file: the next deployment and the next `kube apply` take what it has.
    """
    plan = _planned(cluster, clusters, region)
    assert plan.control_plane
    file = lock_file(Path(plan.where.file), plan.control_plane.name)
    known, kubernetes = plan.control_plane.lock, plan.control_plane.version.name
    with progress() as show:
        made = new_lock(Region(plan.region), kubernetes, known, show)
    changes = lock_changes(known, made)
    if changes:
        _write_lock(file, made)
    if as_json:
        print_json([asdict(each) for each in changes])
        return
    for each in changes:
        say(f"{each.name}: {each.before or 'new'} -> {each.after or 'gone'}")
    say(f"{file} is {'written; commit it' if changes else 'as it was'}")


def _write_lock(file: Path, lock: KubeLock) -> None:
    """Write all of it or nothing."""
    written = file.with_name(f".{file.name}.new")
    try:
        written.write_text(lock.to_json(), encoding="utf-8")
        written.replace(file)
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror or error}") from error


def _show_steps(steps: tuple[ApplyStep, ...], heading: str) -> None:
    print_records(
        [asdict(each) for each in steps],
        columns=("name", "outcome"),
        headings={"name": "object", "outcome": heading},
    )
    for each in steps:
        for change in each.changes:
            before, after = (
                "nothing" if value is None else value for value in (change.before, change.after)
            )
            say(f"{each.name}: {change.field}: {before} -> {after}")


def _show_nodes(planned: NodesPlan, found: tuple[KubernetesNode, ...]) -> None:
    if not found:
        return
    resources = (*planned.devices, *planned.sizes)
    records: list[dict[str, Any]] = [
        {
            "node": each.name,
            "instance": each.instance_type,
            "zone": each.zones,
            "kubernetes": each.kubernetes,
            "ready": each.ready,
            "taints": each.taints,
        }
        | {name: _counted(each, name) for name in resources}
        for each in found
    ]
    print_records(
        records, columns=("node", "instance", "zone", "kubernetes", "ready", *resources, "taints")
    )


def _node_group_issues(plan: ClusterPlan) -> tuple[NodeGroupIssue, ...]:
    """Return what EKS says of the group of the cluster's nodes, as far as the role may ask."""
    assert plan.control_plane
    region = Region(plan.region)
    try:
        stack = find_stack(region, plan.name)
        if stack is None:
            return ()
        group = stack.outputs["NodeGroup"]
        return find_node_group(region, plan.control_plane.name, group).issues
    except AwsRefusal as error:
        say(f"the node group is not looked at: {error}", err=True)
        return ()


def _counted(node: KubernetesNode, resource: str) -> str:
    """Return what pods may ask for, of what is there."""
    allocatable, capacity = (
        counts.get(resource, "0") for counts in (node.allocatable, node.capacity)
    )
    return allocatable if allocatable == capacity else f"{allocatable} of {capacity}"


def _planned(cluster: str, clusters: str, region: str | None) -> ClusterPlan:
    plan = load_cluster(cluster, clusters, region)
    if not plan.control_plane:
        raise TrainshedError(
            f"{plan.name} has orchestrator {plan.orchestrator}, and so no Kubernetes"
        )
    return plan


def _cluster(plan: ClusterPlan) -> EksCluster:
    assert plan.control_plane
    return find_cluster(Region(plan.region), plan.control_plane.name)
