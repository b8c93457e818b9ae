"""Batch compute environments, job queues and job definitions."""

import secrets
from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler, changed, present
from embedded_aws.cloudformation.handlers.tags import all_tags
from embedded_aws.cloudformation.resource import Made, Properties, Request, resource


def _name(request: Request, name_property: str) -> str:
    """Return the name; Batch's handlers generate `LogicalId-` and fifteen hex digits."""
    generated = f"{request.logical_id[:112]}-{secrets.token_hex(8)[:15]}"
    name: str = request.properties.get(name_property) or generated
    return name


def _in_capitals(properties: Properties) -> dict[str, Any]:
    """Return a compute environment's properties with the API's spelling of their values.

    CloudFormation takes these values in any case, and CDK writes `managed`: the schema's
    enumCaseInsensitive. The API documents capitals only.
    """
    converted = {**properties, "Type": properties["Type"].upper()}
    if resources := properties.get("ComputeResources"):
        names = ("AllocationStrategy", "Type")
        spelled = {name: value.upper() for name, value in present(resources, *names).items()}
        converted["ComputeResources"] = {**resources, **spelled}
    return converted


class _BatchHandler(Handler):
    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        batch = request.client("batch")
        if tags:
            batch.tag_resource(resourceArn=physical_id, tags=dict(tags))
        if stale:
            batch.untag_resource(resourceArn=physical_id, tagKeys=stale)


@resource("AWS::Batch::ComputeEnvironment")
class ComputeEnvironment(_BatchHandler):
    """A compute environment; its Ref is the ARN."""

    fixed = ("EcsSettings", "EksConfiguration")

    _later = ("ComputeEnvironmentName", "ReplaceComputeEnvironment", "Tags", "UpdatePolicy")
    _changeable = ("Context", "ServiceRole", "State", "UnmanagedvCpus")

    def _create(self, request: Request) -> str:
        batch = request.client("batch")
        wanted = _in_capitals(request.properties)
        taken = arguments(batch, "CreateComputeEnvironment", wanted, leave=self._later)
        reply = batch.create_compute_environment(
            computeEnvironmentName=_name(request, "ComputeEnvironmentName"),
            **taken,
            tags=all_tags(request),
        )
        arn: str = reply["computeEnvironmentArn"]
        return arn

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        batch = request.client("batch")
        wanted = present(request.properties, *self._changeable, "UpdatePolicy")
        if changed(request, before, "ComputeResources"):
            # UpdateComputeEnvironment takes what changes, not what only a creation may say.
            old = _in_capitals(before).get("ComputeResources", {})
            new = _in_capitals(request.properties).get("ComputeResources", {})
            wanted["ComputeResources"] = {
                name: value for name, value in new.items() if value != old.get(name)
            }
        taken = arguments(batch, "UpdateComputeEnvironment", wanted)
        batch.update_compute_environment(computeEnvironment=physical_id, **taken)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"ComputeEnvironmentArn": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        batch = request.client("batch")
        reply = batch.describe_compute_environments(computeEnvironments=[physical_id])
        if reply["computeEnvironments"]:
            # Batch deletes nothing that is enabled.
            batch.update_compute_environment(computeEnvironment=physical_id, state="DISABLED")
            batch.delete_compute_environment(computeEnvironment=physical_id)


@resource("AWS::Batch::JobQueue")
class JobQueue(_BatchHandler):
    """A job queue; its Ref is the ARN."""

    def _create(self, request: Request) -> str:
        batch = request.client("batch")
        taken = arguments(
            batch, "CreateJobQueue", request.properties, leave=("JobQueueName", "Tags")
        )
        reply = batch.create_job_queue(
            jobQueueName=_name(request, "JobQueueName"), **taken, tags=all_tags(request)
        )
        arn: str = reply["jobQueueArn"]
        return arn

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        batch = request.client("batch")
        leave = ("JobQueueName", "JobQueueType", "Tags")
        taken = arguments(batch, "UpdateJobQueue", request.properties, leave=leave)
        batch.update_job_queue(jobQueue=physical_id, **taken)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"JobQueueArn": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        batch = request.client("batch")
        if batch.describe_job_queues(jobQueues=[physical_id])["jobQueues"]:
            batch.update_job_queue(jobQueue=physical_id, state="DISABLED")
            batch.delete_job_queue(jobQueue=physical_id)


@resource("AWS::Batch::JobDefinition")
class JobDefinition(_BatchHandler):
    """A job definition; its Ref is the ARN of the revision.

    A job definition cannot be changed: an update registers a revision, which is the resource from
    then on, and deregisters the one before unless the template keeps it.
    """

    def _create(self, request: Request) -> str:
        return self._register(request, _name(request, "JobDefinitionName"))

    def _register(self, request: Request, name: str) -> str:
        batch = request.client("batch")
        leave = ("JobDefinitionName", "ResourceRetentionPolicy", "Tags")
        taken = arguments(batch, "RegisterJobDefinition", request.properties, leave=leave)
        reply = batch.register_job_definition(
            jobDefinitionName=name, **taken, tags=all_tags(request)
        )
        arn: str = reply["jobDefinitionArn"]
        return arn

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        """Register a revision under the same name; its ARN becomes the Ref."""
        name = physical_id.rpartition("/")[2].rpartition(":")[0]
        revision = self._register(request, name)
        retention = request.properties.get("ResourceRetentionPolicy", {})
        if not retention.get("SkipDeregisterOnUpdate", False):
            self._delete(request, physical_id)
        return self._made(request, revision)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"JobDefinitionArn": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("batch").deregister_job_definition(jobDefinition=physical_id)
