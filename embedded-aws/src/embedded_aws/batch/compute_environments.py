"""Batch compute environments.

Batch API reference: names; the service-linked role is used when none is given; an environment is
deleted only when DISABLED and in no job queue; updates of anything but vCPUs, service role and
state are infrastructure updates, which BEST_FIT and roles that are not service-linked exclude; an
environment is UPDATING for as long as jobs run on its former instances. Documented: "resource is
being modified" is the refusal of DeleteJobQueue in astronomer-providers 413; inferred: that this is
that of environments, too. Inferred: the words of the DISABLED refusal.
"""

from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, action
from embedded_aws.batch import tables
from embedded_aws.batch.compute_resources import (
    EC2_TYPES,
    Resources,
    check_compute_resources,
    default_image_type,
)
from embedded_aws.batch.node_groups import delete_unused, members_of
from embedded_aws.batch.node_instances import vcpus_of
from embedded_aws.batch.refusals import check_name, refuse
from embedded_aws.batch.scheduler import HEALTHY
from embedded_aws.batch.service import scheduler
from embedded_aws.iam.roles import role_exists

# A compute environment, as DescribeComputeEnvironments returns it.
Environment = dict[str, Any]

_SERVICE_LINKED_ROLE = "aws-service-role/batch.amazonaws.com/AWSServiceRoleForBatch"
_SCALING_FIELDS = {"minvCpus", "maxvCpus", "desiredvCpus", "scalingPolicy"}


def find(call: Call, name_or_arn: str) -> Environment:
    """Return a compute environment.

    Raises:
        Refusal: there is none.
    """
    rows = tables.compute_environments(call)
    if found := tables.named(rows, "computeEnvironment", [name_or_arn]):
        return found[0]
    raise refuse(f"{name_or_arn} does not exist")


@action("batch", "CreateComputeEnvironment")
def create_compute_environment(call: Call) -> dict[str, Any]:
    """Create a compute environment; it is VALID at once."""
    name = call.params["computeEnvironmentName"]
    check_name("computeEnvironmentName", name)
    environments = tables.compute_environments(call)
    if tables.named(environments, "computeEnvironment", [name]):
        raise refuse("Object already exists")
    kind, state = call.params["type"], call.params.get("state", "ENABLED")
    role = call.params.get("serviceRole")
    if role and not role_exists(call, role):
        raise refuse(f"ServiceRole {role} does not exist.")
    resources = call.params.get("computeResources")
    if kind == "MANAGED":
        if resources is None:
            raise refuse("computeResources must be provided for a MANAGED compute environment")
        check_compute_resources(call, resources)
    elif not role:
        raise refuse("serviceRole is required for an UNMANAGED compute environment.")
    arn = call.arn("batch", f"compute-environment/{name}")
    cluster = call.backend("ecs").create_cluster(f"AWSBatch-{name}-{mock_random.uuid4()}")
    environment: Environment = {
        "computeEnvironmentName": name,
        "computeEnvironmentArn": arn,
        "ecsClusterArn": cluster.arn,
        "type": kind,
        "state": state,
        **HEALTHY,
        "serviceRole": role or f"arn:aws:iam::{call.account}:role/{_SERVICE_LINKED_ROLE}",
        "containerOrchestrationType": "ECS",
        "uuid": str(mock_random.uuid4()),
        "context": call.params.get("context"),
        "updatePolicy": {"terminateJobsOnUpdate": False, "jobExecutionTimeoutMinutes": 30},
    }
    if resources is not None:
        environment["computeResources"] = _with_defaults(resources)
    environments[arn] = environment
    call.backend("batch").tag_resource(arn, call.params.get("tags", {}))
    if running := scheduler():
        running.idle.keep_minimum(call, environment)
    return {"computeEnvironmentName": name, "computeEnvironmentArn": arn}


@action("batch", "DescribeComputeEnvironments")
def describe_compute_environments(call: Call) -> dict[str, Any]:
    """Describe the named compute environments, or all."""
    rows = tables.compute_environments(call)
    found = tables.described(call, rows, "computeEnvironment")
    return {"computeEnvironments": [_with_desired(call, each) for each in found]}


@action("batch", "UpdateComputeEnvironment")
def update_compute_environment(call: Call) -> dict[str, Any]:
    """Change state, scaling, role, or (as an infrastructure update) everything else."""
    environment = find(call, call.params["computeEnvironment"])
    if environment["status"] == "UPDATING":
        raise refuse("Cannot update, resource is being modified.")
    role = call.params.get("serviceRole")
    if role and not role_exists(call, role):
        raise refuse(f"ServiceRole {role} does not exist.")
    changes = dict(call.params.get("computeResources", {}))
    to_latest = changes.pop("updateToLatestImageVersion", False)
    before = environment.get("computeResources", {})
    infrastructure = {
        key for key, value in changes.items() if before.get(key) != value
    } - _SCALING_FIELDS
    if infrastructure or to_latest:
        _check_updatable(environment, role, sorted(infrastructure))
    if changes:
        after = {**before, **changes}
        if "minvCpus" in changes and "desiredvCpus" not in changes:
            # Batch adjusts the desired vCPUs itself (user guide, "Perform scaling updates").
            after["desiredvCpus"] = max(before.get("desiredvCpus", 0), changes["minvCpus"])
        # Empty lists and texts unset a value, for instance the security groups.
        after = {key: value for key, value in after.items() if value not in ([], "")}
        check_compute_resources(call, after)
        environment["computeResources"] = after
    for key in ("state", "serviceRole", "context", "unmanagedvCpus"):
        if call.params.get(key) is not None:
            environment[key] = call.params[key]
    policy = call.params.get("updatePolicy", {})
    environment["updatePolicy"] = {**environment["updatePolicy"], **policy}
    if running := scheduler():
        if infrastructure or to_latest:
            running.exchange_nodes(environment)
        running.idle.keep_minimum(call, environment)
    return {
        "computeEnvironmentName": environment["computeEnvironmentName"],
        "computeEnvironmentArn": environment["computeEnvironmentArn"],
    }


@action("batch", "DeleteComputeEnvironment")
def delete_compute_environment(call: Call) -> dict[str, Any]:
    """Delete a disabled compute environment that no queue has."""
    environment = find(call, call.params["computeEnvironment"])
    arn = environment["computeEnvironmentArn"]
    if environment["state"] != "DISABLED":
        raise refuse("Cannot delete, compute environment state must be DISABLED.")
    if environment["status"] == "UPDATING":
        raise refuse("Cannot delete, resource is being modified.")
    queues = tables.job_queues(call).values()
    if any(arn in (e["computeEnvironment"] for e in q["computeEnvironmentOrder"]) for q in queues):
        raise refuse("Cannot delete, found existing JobQueue relationship")
    if running := scheduler():
        running.idle.delete(call, environment)
    del tables.compute_environments(call)[arn]
    call.backend("ecs").delete_cluster(environment["ecsClusterArn"])
    delete_unused(call, environment)
    return {}


def _with_desired(call: Call, environment: Environment) -> Environment:
    """Set the desired vCPUs to those of the instances that are there, and to the minimum at least.

    API reference, ComputeResource, desiredvCpus: Batch "modifies this value between the minimum and
    maximum values based on job queue demand". Here it follows what was launched for that demand.
    """
    resources = environment.get("computeResources", {})
    if scheduler() is None or resources.get("type") not in EC2_TYPES:
        return environment
    vcpus = sum(vcpus_of(each.instance) for each in members_of(call, environment))
    desired = max(resources["minvCpus"], vcpus)
    return {**environment, "computeResources": {**resources, "desiredvCpus": desired}}


def _check_updatable(environment: Environment, role: str | None, fields: list[str]) -> None:
    strategy = environment["computeResources"].get("allocationStrategy", "BEST_FIT")
    if strategy == "BEST_FIT" and environment["computeResources"]["type"] in EC2_TYPES:
        raise refuse(
            f"Compute environments with allocation strategy BEST_FIT cannot update "
            f"{', '.join(fields)}; create a new one."
        )
    if "/aws-service-role/" not in (role or environment["serviceRole"]):
        raise refuse(
            f"Updating {', '.join(fields)} requires the service-linked role AWSServiceRoleForBatch."
        )


def _with_defaults(resources: Resources) -> dict[str, Any]:
    """Add the values that Batch fills in: desired vCPUs, strategy, image type."""
    filled = {"minvCpus": 0, **resources}
    filled.setdefault("desiredvCpus", filled["minvCpus"])
    if resources["type"] in EC2_TYPES:
        filled.setdefault("allocationStrategy", "BEST_FIT")
        image_type = default_image_type(resources["instanceTypes"])
        filled.setdefault("ec2Configuration", [{"imageType": image_type}])
    return filled
