"""Batch compute environments, job queues and job definitions."""

import secrets
import time
from dataclasses import replace
from typing import Any, ClassVar, Final

from embedded_aws.clock import seconds_here
from embedded_aws.cloudformation.handlers.handler import Handler, changed, changes, present
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import HandlerError, Made, Properties, Request, resource

_HANDLER_SECONDS: Final = 7200
_POLL_SECONDS: Final = 0.1


def _in_capitals(properties: Properties) -> dict[str, Any]:
    """Return a compute environment's properties with the API's spelling of their values.

    CloudFormation accepts these values in any case (the schema's enumCaseInsensitive), and CDK
    writes `managed`. The API documents upper case only.
    """
    converted = {**properties, "Type": properties["Type"].upper()}
    if resources := properties.get("ComputeResources"):
        names = ("AllocationStrategy", "Type")
        spelled = {name: value.upper() for name, value in present(resources, *names).items()}
        converted["ComputeResources"] = {**resources, **spelled}
    return converted


class _BatchHandler(Handler):
    service = "batch"
    tagging = Tagging(target="resourceArn", form=dict)

    def _generated_name(self, request: Request) -> str:
        """Batch's handlers generate `LogicalId-` and fifteen hex digits."""
        return f"{request.logical_id[:112]}-{secrets.token_hex(8)[:15]}"


class _SwitchedHandler(_BatchHandler):
    """A handler of what Batch deletes only while it is disabled."""

    changing: ClassVar[str]

    def _delete(self, request: Request, physical_id: str) -> None:
        if self._described(request, physical_id):
            self._call(request, self.changing, {self.target: physical_id, "state": "DISABLED"})
            super()._delete(request, physical_id)


@resource("AWS::Batch::ComputeEnvironment")
class ComputeEnvironment(_SwitchedHandler):
    """A compute environment; its Ref is the ARN."""

    target, name = "computeEnvironment", "ComputeEnvironmentName"
    creation = "CreateComputeEnvironment", "computeEnvironmentArn"
    changing = "UpdateComputeEnvironment"
    reading = "DescribeComputeEnvironments", "computeEnvironments"
    deletion = "DeleteComputeEnvironment"
    later = ("ReplaceComputeEnvironment", "UpdatePolicy")
    fixed = ("EcsSettings", "EksConfiguration")

    _changeable = ("Context", "ServiceRole", "State", "UnmanagedvCpus")

    def _wanted(self, request: Request) -> dict[str, Any]:
        return _in_capitals(super()._wanted(request))

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        wanted = present(request.properties, *self._changeable, "UpdatePolicy")
        if changed(request, before, "ComputeResources"):
            # UpdateComputeEnvironment does not accept what only the creation may set.
            old = _in_capitals(before).get("ComputeResources", {})
            new = _in_capitals(request.properties).get("ComputeResources", {})
            wanted["ComputeResources"] = changes(old, new)
        self._call(request, self.changing, wanted, computeEnvironment=physical_id)
        self._wait_until_valid(request, physical_id)

    def _wait_until_valid(self, request: Request, physical_id: str) -> None:
        """Wait while jobs run on the former nodes.

        Inferred: that CloudFormation does: its handler may call DescribeComputeEnvironments for an
        update. CloudFormation's schema of schemas: an operation of a handler whose schema says
        nothing else times out after 120 minutes. From memory: the words.
        """
        ends_at = time.monotonic() + seconds_here(_HANDLER_SECONDS)
        while self._described(request, physical_id)["status"] == "UPDATING":
            if time.monotonic() > ends_at:
                raise HandlerError("Exceeded attempts to wait", "NotStabilized")
            time.sleep(_POLL_SECONDS)


@resource("AWS::Batch::JobQueue")
class JobQueue(_SwitchedHandler):
    """A job queue; its Ref is the ARN."""

    target, name = "jobQueue", "JobQueueName"
    creation = "CreateJobQueue", "jobQueueArn"
    changing = "UpdateJobQueue"
    reading = "DescribeJobQueues", "jobQueues"
    deletion = "DeleteJobQueue"


@resource("AWS::Batch::JobDefinition")
class JobDefinition(_BatchHandler):
    """A job definition; its Ref is the ARN of the revision.

    A job definition cannot be changed: an update registers a new revision, which replaces the
    previous one, and deregisters that unless the template keeps it.
    """

    target, name = "jobDefinition", "JobDefinitionName"
    creation = "RegisterJobDefinition", "jobDefinitionArn"
    deletion = "DeregisterJobDefinition"
    later = ("ResourceRetentionPolicy",)

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        """Register a revision under the same name; its ARN becomes the Ref."""
        name = physical_id.rpartition("/")[2].rpartition(":")[0]
        named = {**request.properties, "JobDefinitionName": name}
        revision = self._create(replace(request, properties=named))
        retention = request.properties.get("ResourceRetentionPolicy", {})
        if not retention.get("SkipDeregisterOnUpdate", False):
            self._delete(request, physical_id)
        return self._made(request, revision)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"JobDefinitionArn": physical_id}
