"""The EC2 instances on which jobs run, launched by a compute environment.

Batch user guide: Batch sets type, subnet, instance profile and AMI of an instance, whose launch
template gives the rest; jobs that no instance can be launched for wait in RUNNABLE, with one of the
reasons below ("Jobs stuck in a RUNNABLE status": the first is verbatim, the others' words are from
memory). re:Post, "EKS Insufficient capacity errors": an Auto Scaling group that EC2 has too few
instances for tries again until they are there. Inferred: the nodes of a multi-node job for which
there is room run meanwhile, and are billed. "Jobs stuck in RUNNABLE due to capacity": the reason,
of multi-node jobs, too; inferred: also when some of their nodes run. Inferred: on AWS instances
run several container jobs at a time; here each job has its own, those that have no job
(`idle_instances`) and others, launched one after the other up to the first that EC2 refuses. The
next attempt gets those that still run, each node the same one. The group's activities tell of them
as on AWS.
A compute environment of type SPOT asks for Spot itself: "instance market options" of the template
are ignored. API reference, ComputeResource, allocationStrategy: which of several types comes first,
and that no other one is tried with BEST_FIT. Inferred: on Spot all types have the same capacity, so
that the order or the price decides. Types on demand are tried in the order of the environment,
though on AWS their price may decide. Inferred: a job tells of the last type that was refused.
ECS developer guide, "Draining Amazon ECS container instances": no task is placed on an
instance that EC2 takes back, where the agent has ECS_ENABLE_SPOT_INSTANCE_DRAINING; here it always
has, and such an instance ends with its attempt. Inferred: one that a user drains does, too, where
AWS Batch ends it some minutes later because it is idle.
ECS developer guide, "Amazon ECS container instance IAM role": an instance joins the cluster if its
role lets the agent register there and poll. Inferred: the reason of a job whose instances do not;
on AWS they keep running, as those of the minimum do here.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.autoscaling.group import GROUP_NAME_TAG
from embedded_aws.batch import container_instances, node_groups
from embedded_aws.batch.compute_resources import EC2_TYPES, ON_SPOT, launch_template
from embedded_aws.batch.job_containers import Container, requirement
from embedded_aws.cloudformation.clients import client
from embedded_aws.ec2.instance_agents import agent_can
from embedded_aws.ec2.instance_types import family_records, require
from embedded_aws.ec2.service_launches import LaunchRefused, run_instances
from embedded_aws.ec2.spot_notices import notice_of
from embedded_aws.ec2.spot_prices import price_now
from embedded_aws.ec2.subnets import subnet_of

_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
_TOO_MANY = (
    "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - CE(s) associated with the job queue "
    "cannot meet the CPU requirement of the job."
)
_TOO_LARGE = (
    "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - The job resource requirement (vCPU/memory/GPU) is "
    "higher than that can be met by the CE(s) attached to the job queue."
)
# Documented: EC2's error codes.
_FOR_CODE = {
    "InsufficientInstanceCapacity": _CAPACITY,
    "InsufficientHostCapacity": _CAPACITY,
    "InsufficientReservedInstanceCapacity": _CAPACITY,
    "UnauthorizedOperation": "MISCONFIGURATION:SERVICE_ROLE_PERMISSIONS",
    "Unsupported": "MISCONFIGURATION:EC2_INSTANCE_CONFIGURATION_UNSUPPORTED",
}
UNDETERMINED = "UNDETERMINED - Batch job is blocked, root cause is undetermined."
_ONE, _CHEAPEST = "BEST_FIT", "SPOT_PRICE_CAPACITY_OPTIMIZED"
# What `optimal` and its like are here.
_ANY_FAMILY = "m5"
# The AMI of environments that name none; on AWS Batch finds the newest for the image type.
_SOME_AMI = "ami-0ec5000000000ba7c"


class CannotPlace(Exception):
    """A job cannot have all of its instances; the message is the job's statusReason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The instances that a job needs.

    Attributes:
        environment: the compute environment.
        instance_types: that they may have, in the order in which they are tried.
        vcpus: of all of them together, if they are of the first.
        count: how many.
    """

    environment: Row
    instance_types: tuple[str, ...]
    vcpus: int
    count: int


def need_of(environment: Row, containers: Sequence[Container]) -> Need:
    """Return what a job needs in a compute environment.

    Args:
        environment: of type MANAGED or UNMANAGED.
        containers: of the nodes.

    Raises:
        CannotPlace: it can never have that.
    """
    resources = environment.get("computeResources", {"type": "UNMANAGED"})
    if resources["type"] not in EC2_TYPES:
        raise CannotPlace(
            f"the embedded AWS runs no jobs on compute environments of type {resources['type']}"
        )
    vcpus = max(requirement(container, "VCPU") for container in containers)
    memory = max(requirement(container, "MEMORY") for container in containers)
    named = next((c["instanceType"] for c in containers if c.get("instanceType")), None)
    names = [named] if named else resources["instanceTypes"]
    by_type = {
        record["InstanceType"]: record["VCpuInfo"]["DefaultVCpus"]
        for name in names
        for record in _records(name)
        if record["MemoryInfo"]["SizeInMiB"] >= memory
    }
    large = [name for name, own in by_type.items() if own >= vcpus]
    if not large:
        raise CannotPlace(_TOO_LARGE)
    types = [name for name in large if by_type[name] * len(containers) <= resources["maxvCpus"]]
    if not types:
        raise CannotPlace(_TOO_MANY)
    return Need(
        environment=environment,
        instance_types=(types[0],) if resources["allocationStrategy"] == _ONE else tuple(types),
        vcpus=by_type[types[0]] * len(containers),
        count=len(containers),
    )


def minimum_need(environment: Row, vcpus: int) -> Need:
    """Return the instances that a compute environment's minimum needs.

    Args:
        environment: of type EC2 or SPOT.
        vcpus: that it lacks.
    """
    resources = environment["computeResources"]
    records = [record for name in resources["instanceTypes"] for record in _records(name)]
    types = [str(record["InstanceType"]) for record in records]
    own = records[0]["VCpuInfo"]["DefaultVCpus"]
    count = -(-vcpus // own)
    return Need(
        environment=environment,
        instance_types=(types[0],) if resources["allocationStrategy"] == _ONE else tuple(types),
        vcpus=own * count,
        count=count,
    )


def vcpus_of(instance: Any) -> int:
    """Return the vCPUs of moto's instance."""
    return int(require(instance.instance_type)["VCpuInfo"]["DefaultVCpus"])


def _records(name: str) -> list[dict[str, Any]]:
    """Return the instance types that an entry of `instanceTypes` means, the smallest first."""
    if "." in name:
        return [dict(require(name))]
    records = family_records(name) or family_records(_ANY_FAMILY)
    return sorted(map(dict, records), key=lambda record: record["VCpuInfo"]["DefaultVCpus"])


def launch(call: Call, need: Need, instances: list[Any], *, for_job: bool) -> None:
    """Launch the instances that are lacking, as many as EC2 has room for.

    Args:
        call: in whose account and region.
        need: of a job, or of the minimum.
        instances: moto's, one for each node, None for one that is lacking; gets those that are
            launched, and loses those that have ended.
        for_job: end those that do not join ECS; others stay.

    Raises:
        CannotPlace: EC2 refused one, or it does not join ECS; those before it stay.
    """
    if gone := [each for each in instances if each and not takes_tasks(call, need, each)]:
        terminate(call, need.environment, gone)
        instances[:] = [None if each in gone else each for each in instances]
    lacking = [index for index, each in enumerate(instances) if each is None]
    cause = node_groups.launch_cause(node_groups.group_of(call, need.environment), len(lacking))
    for index in lacking:
        instances[index] = _launch(call, need, cause, for_job=for_job)


def takes_tasks(call: Call, need: Need, instance: Any) -> bool:
    """Return whether moto's instance runs for long, and is an active one of ECS."""
    return (
        instance.state == "running"
        and notice_of(instance).terminate is None
        and container_instances.is_active(call, need.environment["ecsClusterArn"], instance)
    )


def _launch(call: Call, need: Need, cause: str, *, for_job: bool) -> Any:
    subnet_id = need.environment["computeResources"]["subnets"][0]
    subnet = subnet_of(call, subnet_id)
    group = node_groups.group_of(call, need.environment)
    *others, last = _in_turn(call, need, subnet)

    def run(instance_type: str) -> Row:
        request = _request(call, need, instance_type, subnet_id, group.name)
        [launched] = run_instances(call, request, instance_type=instance_type, subnet=subnet)
        return launched

    for instance_type in others:
        with suppress(LaunchRefused):
            launched = run(instance_type)
            break
    else:
        try:
            launched = run(last)
        except LaunchRefused as refused:
            node_groups.record_refusal(group, cause, subnet, refused.message)
            raise CannotPlace(_reason(refused.code, last)) from refused
    node_groups.add_member(group, cause, launched, subnet)
    instance = call.backend("ec2").get_instance(launched["InstanceId"])
    if _joins(call, need.environment["ecsClusterArn"], instance):
        container_instances.register(call, need.environment["ecsClusterArn"], instance)
    elif for_job:
        terminate(call, need.environment, [instance])
        raise CannotPlace(UNDETERMINED)
    return instance


def _in_turn(call: Call, need: Need, subnet: Any) -> Sequence[str]:
    """Return the types in the order in which they are tried in moto's subnet."""
    if need.environment["computeResources"]["allocationStrategy"] != _CHEAPEST:
        return need.instance_types
    zone = subnet.availability_zone_id
    return sorted(
        need.instance_types, key=lambda each: price_now(call.account, call.region, each, zone)
    )


def _joins(call: Call, cluster: str, instance: Any) -> bool:
    """Whether the agent of moto's instance may register in an ECS cluster and poll."""
    own = call.arn("ecs", f"container-instance/{cluster.rpartition('/')[2]}/{instance.id}")
    return agent_can(
        call, instance, "ecs", "RegisterContainerInstance", {"cluster": cluster}
    ) and agent_can(call, instance, "ecs", "Poll", {"containerInstance": own})


def _request(
    call: Call, need: Need, instance_type: str, subnet_id: str, group_name: str
) -> dict[str, Any]:
    """Return the parameters of RunInstances."""
    resources = need.environment["computeResources"]
    template = launch_template(call, resources)
    amis = [each.get("imageIdOverride") for each in resources.get("ec2Configuration", [])]
    tags = {
        **node_groups.SERVICE_TAG,
        **resources.get("tags", {}),
        GROUP_NAME_TAG: group_name,
    }
    request = {
        "InstanceType": instance_type,
        "IamInstanceProfile": _profile(resources["instanceRole"]),
        "MinCount": 1,
        "MaxCount": 1,
        "TagSpecifications": [
            {
                "ResourceType": "instance",
                "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
            }
        ],
    }
    # Documented: the template's AMI counts first.
    own_ami = next(filter(None, [*amis, resources.get("imageId")]), _SOME_AMI)
    if not template.get("ImageId"):
        request["ImageId"] = own_ami
    if template:
        named = resources["launchTemplate"]
        names = {"LaunchTemplateId": "launchTemplateId", "LaunchTemplateName": "launchTemplateName"}
        request["LaunchTemplate"] = {
            **{name: named[key] for name, key in names.items() if named.get(key)},
            "Version": named.get("version") or "$Default",
        }
    if interfaces := template.get("NetworkInterfaces"):
        # Documented: Batch ignores the subnets of a template's interfaces.
        request["NetworkInterfaces"] = [{**each, "SubnetId": subnet_id} for each in interfaces]
    else:
        request |= {
            "SubnetId": subnet_id,
            "SecurityGroupIds": resources.get("securityGroupIds", []),
        }
    if group := resources.get("placementGroup"):
        request["Placement"] = {"GroupName": group}
    if resources["type"] == "SPOT":
        request["InstanceMarketOptions"] = dict(ON_SPOT)
    return request


def _profile(name_or_arn: str) -> dict[str, str]:
    return {"Arn" if name_or_arn.startswith("arn:") else "Name": name_or_arn}


def _reason(code: str, instance_type: str) -> str:
    reason = _FOR_CODE.get(code)
    if reason == _CAPACITY:
        said = "Service cannot fulfill the capacity requested for instance type"
        return f"{reason} - {said} [{instance_type}]"
    return f"{reason} - {code}" if reason else UNDETERMINED


def terminate(call: Call, environment: Row, instances: Sequence[Any]) -> None:
    """End moto's instances; those that have ended already are no error.

    Args:
        call: in whose account and region.
        environment: the compute environment that launched them.
        instances: the instances.
    """
    ids = [instance.id for instance in instances]
    ec2 = client("ec2", account=call.account, region=call.region)
    ec2.terminate_instances(InstanceIds=ids)
    node_groups.remove_members(call, environment, ids)
