"""CloudFormation's API: the calls that only read."""

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult, BaseResponse

from embedded_aws.actions import Refusal
from embedded_aws.cloudformation.api import describe
from embedded_aws.cloudformation.clients import client
from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.stack import Stack
from embedded_aws.cloudformation.store import ChangeSet, Store
from embedded_aws.cloudformation.template.document import Template, parse
from embedded_aws.cloudformation.template.source import template_text


class Queries(BaseResponse):
    """Answers the reading calls; moto parses requests and serialises answers."""

    @property
    def _store(self) -> Store:
        return Store(self.current_account, self.region)

    def _client(self, service: str) -> Any:
        return client(service, account=self.current_account, region=self.region)

    def _stack(self) -> Stack:
        return self._store.get(self._get_param("StackName"))

    def _submitted_template(self) -> Template:
        body, url = self._get_param("TemplateBody"), self._get_param("TemplateURL")
        return parse(template_text(body, url, self._client))

    def _change_set(self) -> ChangeSet:
        name = self._get_param("ChangeSetName")
        stack = self._store.find(self._get_param("StackName"))
        for change_set in reversed(list(self._store.change_sets.values())):
            if change_set.change_set_id == name or (
                change_set.name == name and change_set.stack is stack
            ):
                return change_set
        raise Refusal("ChangeSetNotFound", f"ChangeSet [{name}] does not exist")

    def describe_stacks(self) -> ActionResult:
        """DescribeStacks: one stack, or all that are not deleted."""
        name = self._get_param("StackName")
        stacks = [self._store.get(name)] if name else list(self._store.stacks.values())
        return ActionResult({"Stacks": [describe.shown_stack(stack) for stack in stacks]})

    def list_stacks(self) -> ActionResult:
        """ListStacks: deleted ones too, by status if wanted."""
        wanted = self._get_param("StackStatusFilter", [])
        stacks = [*self._store.stacks.values(), *self._store.deleted.values()]
        summaries = [
            describe.shown_stack(stack) for stack in stacks if not wanted or stack.status in wanted
        ]
        return ActionResult({"StackSummaries": summaries})

    def describe_stack_events(self) -> ActionResult:
        """DescribeStackEvents: newest first."""
        stack = self._store.find(name := self._get_param("StackName"))
        if stack is None:
            raise ValidationError(f"Stack [{name}] does not exist")
        events = [describe.shown_event(stack, event) for event in reversed(stack.events)]
        return ActionResult({"StackEvents": events})

    def describe_events(self) -> ActionResult:
        """DescribeEvents: of a stack, of one operation, or of a change set's creation."""
        operation = self._get_param("OperationId")
        if self._get_param("ChangeSetName"):
            change_set = self._change_set()
            stacks, operation = [change_set.stack], change_set.operation_id
        elif self._get_param("StackName"):
            stacks = [self._stack()]
        elif operation:
            stacks = [*self._store.stacks.values(), *self._store.deleted.values()]
        else:
            raise ValidationError(
                "One of ChangeSetName, OperationId or StackName must be specified as input."
            )
        failed_only = (self._get_param("Filters") or {}).get("FailedEvents", False)
        events = [
            describe.shown_event(stack, event)
            for stack in stacks
            for event in reversed(stack.events)
            if operation in (None, event.operation_id)
            if not failed_only or event.resource.status.endswith("_FAILED")
        ]
        return ActionResult({"OperationEvents": events})

    def describe_stack_resource(self) -> ActionResult:
        """DescribeStackResource."""
        stack, wanted = self._stack(), self._get_param("LogicalResourceId")
        for shown in self._shown_resources(stack):
            return ActionResult({"StackResourceDetail": shown})
        raise ValidationError(f"Resource {wanted} does not exist for stack {stack.name}")

    def describe_stack_resources(self) -> ActionResult:
        """DescribeStackResources, by stack or by a resource's physical id."""
        stack = self._stack() if self._get_param("StackName") else self._owner()
        return ActionResult({"StackResources": self._shown_resources(stack)})

    def _owner(self) -> Stack:
        physical_id = self._get_param("PhysicalResourceId")
        for stack in list(self._store.stacks.values()):
            if any(it.physical_id == physical_id for it in stack.resources.values()):
                return stack
        raise ValidationError(f"Stack for {physical_id} does not exist")

    def list_stack_resources(self) -> ActionResult:
        """ListStackResources."""
        return ActionResult({"StackResourceSummaries": self._shown_resources(self._stack())})

    def _shown_resources(self, stack: Stack) -> list[Mapping[str, Any]]:
        """Return the resource that the request names, or all; a deleted stack keeps listing its."""
        wanted = self._get_param("LogicalResourceId")
        ended = stack.status.startswith(("DELETE_", "ROLLBACK_"))
        listed = {**(stack.gone if ended else {}), **stack.resources}
        return [
            describe.shown_resource(stack, resource)
            for name, resource in listed.items()
            if wanted in (None, name)
        ]

    def get_template(self) -> ActionResult:
        """GetTemplate: Original and Processed are the same, as there are no transforms."""
        in_change_set = self._get_param("ChangeSetName")
        desired = self._change_set().changes.desired if in_change_set else self._stack().desired
        if desired is None:
            # A stack in review has none, and the CDK CLI asks for it.
            return ActionResult({"StagesAvailable": []})
        body = desired.template.body
        return ActionResult({"TemplateBody": body, "StagesAvailable": ["Original", "Processed"]})

    def get_template_summary(self) -> ActionResult:
        """GetTemplateSummary of a stack or of a template."""
        if name := self._get_param("StackName"):
            desired = self._store.get(name).desired
            if desired is None:
                raise ValidationError(
                    "GetTemplateSummary cannot be called on REVIEW_IN_PROGRESS stacks."
                )
            return ActionResult(describe.shown_template(desired.template))
        return ActionResult(describe.shown_template(self._submitted_template()))

    def validate_template(self) -> ActionResult:
        """ValidateTemplate: its layout only, as on AWS."""
        return ActionResult(describe.shown_template(self._submitted_template()))

    def describe_change_set(self) -> ActionResult:
        """DescribeChangeSet."""
        return ActionResult(describe.shown_change_set(self._change_set()))

    def list_change_sets(self) -> ActionResult:
        """ListChangeSets of a stack."""
        change_sets = self._store.change_sets_of(self._stack())
        return ActionResult({"Summaries": list(map(describe.shown_change_set, change_sets))})

    def list_exports(self) -> ActionResult:
        """ListExports of the region."""
        exports = [
            {"ExportingStackId": stack.stack_id, "Name": output.export, "Value": output.value}
            for stack, output in self._store.exports()
        ]
        return ActionResult({"Exports": exports})

    def list_imports(self) -> ActionResult:
        """ListImports of an export."""
        name = self._get_param("ExportName")
        importers = [stack.name for stack in self._store.importers(name)]
        if not importers:
            raise ValidationError(f"Export '{name}' is not imported by any stack.")
        return ActionResult({"Imports": importers})
