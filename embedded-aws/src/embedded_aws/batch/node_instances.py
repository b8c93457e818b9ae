"""The EC2 instances on which jobs run, launched by a compute environment.

Batch user guide: Batch sets type, subnet, instance profile and AMI of an instance, whose launch
template gives the rest; jobs that no instance can be launched for wait in RUNNABLE, with one of the
reasons below ("Jobs stuck in a RUNNABLE status": the first is verbatim, the others' words are from
memory). re:Post, "EKS Insufficient capacity errors": an Auto Scaling group that EC2 has too few
instances for tries again until they are there. Inferred: the nodes of a multi-node job for which
there is room run meanwhile, and are billed. "Jobs stuck in RUNNABLE due to capacity": the reason,
of multi-node jobs, too; inferred: also when some of their nodes run. Inferred: on AWS instances
outlive a job for some minutes and run several container jobs at a time; here each job has its own,
launched one after the other up to the first that EC2 refuses, which end with it: the next attempt
gets those that still run, each node the same one. The group's activities tell of them as on AWS.
A compute environment of type SPOT asks for Spot itself: "instance market options" of the template
are ignored. ECS developer guide, "Draining Amazon ECS container instances": no task is placed on an
instance that EC2 takes back, where the agent has ECS_ENABLE_SPOT_INSTANCE_DRAINING; here it always
has, and such an instance ends with its attempt.
ECS developer guide, "Amazon ECS container instance IAM role": an instance joins the cluster if its
role lets the agent register there and poll. Inferred: the reason of a job whose instances do not;
on AWS they keep running.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.autoscaling.group import GROUP_NAME_TAG
from embedded_aws.batch import node_groups
from embedded_aws.batch.compute_resources import EC2_TYPES, ON_SPOT, launch_template
from embedded_aws.batch.job_containers import Container, requirement
from embedded_aws.cloudformation.clients import client
from embedded_aws.ec2.instance_agents import agent_can
from embedded_aws.ec2.instance_types import family_records, require
from embedded_aws.ec2.service_launches import LaunchRefused, run_instances
from embedded_aws.ec2.spot_notices import notice_of
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
        instance_type: of all of them.
        vcpus: of all of them together.
        count: how many.
    """

    environment: Row
    instance_type: str
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
    for record in (record for name in names for record in _records(name)):
        own = record["VCpuInfo"]["DefaultVCpus"]
        if own >= vcpus and record["MemoryInfo"]["SizeInMiB"] >= memory:
            if own * len(containers) > resources["maxvCpus"]:
                raise CannotPlace(_TOO_MANY)
            return Need(
                environment=environment,
                instance_type=record["InstanceType"],
                vcpus=own * len(containers),
                count=len(containers),
            )
    raise CannotPlace(_TOO_LARGE)


def _records(name: str) -> list[dict[str, Any]]:
    """Return the instance types that an entry of `instanceTypes` means, the smallest first."""
    if "." in name:
        return [dict(require(name))]
    records = family_records(name) or family_records(_ANY_FAMILY)
    return sorted(map(dict, records), key=lambda record: record["VCpuInfo"]["DefaultVCpus"])


def launch(call: Call, need: Need, instances: list[Any]) -> None:
    """Launch the instances that a job lacks, as many as EC2 has room for.

    Args:
        call: in whose account and region.
        need: of the job.
        instances: moto's, one for each node, None for one that is lacking; gets those that are
            launched, and loses those that have ended.

    Raises:
        CannotPlace: EC2 refused one; those before it stay.
    """
    if gone := [each for each in instances if each and not _takes_tasks(each)]:
        terminate(call, need, gone)
        instances[:] = [None if each in gone else each for each in instances]
    lacking = [index for index, each in enumerate(instances) if each is None]
    cause = node_groups.launch_cause(node_groups.group_of(call, need.environment), len(lacking))
    for index in lacking:
        instances[index] = _launch(call, need, cause)


def _takes_tasks(instance: Any) -> bool:
    """Whether moto's instance runs, and EC2 does not take it back."""
    return instance.state == "running" and notice_of(instance).terminate is None


def _launch(call: Call, need: Need, cause: str) -> Any:
    subnet_id = need.environment["computeResources"]["subnets"][0]
    subnet = subnet_of(call, subnet_id)
    group = node_groups.group_of(call, need.environment)
    try:
        [launched] = run_instances(
            call,
            _request(call, need, subnet_id, group.name),
            instance_type=need.instance_type,
            subnet=subnet,
        )
    except LaunchRefused as refused:
        node_groups.record_refusal(group, cause, subnet, refused.message)
        raise CannotPlace(_reason(refused.code, need.instance_type)) from refused
    node_groups.add_member(group, cause, launched, subnet)
    instance = call.backend("ec2").get_instance(launched["InstanceId"])
    if not _joins(call, need.environment["ecsClusterArn"], instance):
        terminate(call, need, [instance])
        raise CannotPlace(UNDETERMINED)
    return instance


def _joins(call: Call, cluster: str, instance: Any) -> bool:
    """Whether the agent of moto's instance may register in an ECS cluster and poll."""
    own = call.arn("ecs", f"container-instance/{cluster.rpartition('/')[2]}/{instance.id}")
    return agent_can(
        call, instance, "ecs", "RegisterContainerInstance", {"cluster": cluster}
    ) and agent_can(call, instance, "ecs", "Poll", {"containerInstance": own})


def _request(call: Call, need: Need, subnet_id: str, group_name: str) -> dict[str, Any]:
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
        "InstanceType": need.instance_type,
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


def terminate(call: Call, need: Need, instances: Sequence[Any]) -> None:
    """End moto's instances; those that have ended already are no error.

    Args:
        call: in whose account and region.
        need: for which they were launched.
        instances: the instances.
    """
    ids = [instance.id for instance in instances]
    ec2 = client("ec2", account=call.account, region=call.region)
    ec2.terminate_instances(InstanceIds=ids)
    node_groups.remove_members(node_groups.group_of(call, need.environment), ids)
