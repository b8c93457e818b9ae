"""A cluster whose jobs Kubernetes places, on a control plane of Amazon EKS."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from trainshed.account.tags import CLUSTER_LABEL
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.eks.plan import SERVICE_ACCOUNT, EksPlan
from trainshed_constructs import (
    AcceleratorNodes,
    FailedBootLimit,
    JobIdentity,
    NodeRole,
    add_bootstrap_script,
    add_node_config,
    grant_pull,
    suspend_node_group,
)
from trainshed_stacks.control_plane_stack import ControlPlaneStack
from trainshed_stacks.data_bucket import bucket_name, job_buckets, let_jobs_use_key
from trainshed_stacks.job_image import job_image
from trainshed_stacks.node_launch import NodeLaunch
from trainshed_stacks.outputs import add_outputs


def add_eks(
    stack: cdk.Stack, launch: NodeLaunch, plan: EksPlan, control_plane: ControlPlaneStack
) -> AcceleratorNodes:
    """Add the nodes of a cluster, and what its jobs may do, to its stack.

    Args:
        stack: of the cluster.
        launch: what its nodes are launched with.
        plan: what pods get.
        control_plane: that the nodes join.
    """
    cluster, kubernetes = launch.plan, control_plane.kubernetes
    role = NodeRole(stack, "NodeRole")
    launch.let_boot(role.role)
    image_uri, repository = job_image(stack, plan.image, plan.repository)
    if repository:
        grant_pull(repository, role.role)
    user_data = ec2.MultipartUserData()
    labels, services = {CLUSTER_LABEL: cluster.name}, plan.control_plane.service_cidr
    expression = plan.max_pods.expression
    if plan.bootstrap_script:
        add_bootstrap_script(
            user_data,
            cluster=kubernetes.cluster,
            service_cidr=services,
            labels=labels,
            taint=plan.pod.taint,
            max_pods=plan.max_pods.counts[cluster.instance.name] if expression else None,
        )
    else:
        add_node_config(
            user_data,
            cluster=kubernetes.cluster,
            service_cidr=services,
            labels=labels,
            taint=plan.pod.taint,
            max_pods_expression=expression,
        )
    others = [each.name for each in cluster.capacity.other_types]
    template = launch.template(
        image_id=launch.image_id,
        instance_type=None if others else cluster.instance.name,
        placement_group_name=launch.placement_group_name(),
        user_data=user_data,
        managed_group=True,
    )
    nodes = AcceleratorNodes(
        stack,
        "Group",
        cluster_name=plan.control_plane.name,
        role=role.role,
        subnet=launch.subnet,
        nodes=cluster.nodes.max,
        launch_template_id=template.launch_template_id,
        launch_template_version=template.latest_version,
        instance_types=[cluster.instance.name, *others] if others else (),
        taint=plan.pod.taint,
        capacity=cluster.capacity.kind,
        repair=plan.repair,
    )
    limit = FailedBootLimit(
        stack,
        "FailedBoots",
        cluster=cluster.name,
        stop=suspend_node_group(plan.control_plane.name),
        limit=cluster.failed_boot_limit,
        hours=cluster.failed_boot_hours,
    )
    # The creation of the group lasts until its nodes have joined: it counts those that fail, too.
    nodes.group.node.add_dependency(limit)
    jobs = JobIdentity(
        stack,
        "Jobs",
        cluster_name=plan.control_plane.name,
        namespace=plan.namespace,
        service_account=SERVICE_ACCOUNT,
        buckets=job_buckets(cluster),
        policies=cluster.job_access.policies,
    )
    let_jobs_use_key(cluster, jobs.role)
    of_bucket = {}
    if cluster.bucket:
        name = bucket_name(cluster, cluster.bucket)
        of_bucket["Bucket"] = "S3 bucket of the jobs", name
    add_outputs(
        stack,
        cluster.name,
        Orchestrator.EKS,
        EksCluster=("Cluster of Amazon EKS", plan.control_plane.name),
        Namespace=("Namespace of the jobs", plan.namespace),
        NodeGroup=("Node group", nodes.group.attr_nodegroup_name),
        Image=("Container image of the jobs", image_uri),
        **of_bucket,
    )
    return nodes
