"""Stacks, resources, events and change sets as CloudFormation's API shows them.

The same record serves for every operation that shows a thing: botocore's model of the answer picks
the members that the operation has, and leaves out those that are None.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from embedded_aws.cloudformation.api.capabilities import needed_capabilities
from embedded_aws.cloudformation.changes.description import described
from embedded_aws.cloudformation.records import Event, Resource
from embedded_aws.cloudformation.stack import Stack
from embedded_aws.cloudformation.store import ChangeSet
from embedded_aws.cloudformation.template.document import Template
from embedded_aws.cloudformation.template.parameters import StackParameter


def shown_stack(stack: Stack) -> Mapping[str, Any]:
    """Return a stack."""
    desired = stack.desired
    template = desired.template if desired else None
    description = template.description if template else None
    return {
        "StackId": stack.stack_id,
        "StackName": stack.name,
        "Description": description,
        "TemplateDescription": description,
        "Parameters": _parameters(desired.parameters) if desired else [],
        "CreationTime": stack.created,
        "LastUpdatedTime": stack.updated,
        "DeletionTime": stack.deleted,
        "StackStatus": stack.status,
        "StackStatusReason": stack.reason,
        "DisableRollback": stack.disable_rollback,
        "NotificationARNs": [],
        "TimeoutInMinutes": stack.timeout_minutes,
        "Capabilities": needed_capabilities(template.resources) if template else [],
        "Outputs": [
            {
                "OutputKey": output.name,
                "OutputValue": output.value,
                "Description": output.description,
                "ExportName": output.export,
            }
            for output in stack.outputs
        ],
        "RoleARN": stack.role_arn,
        "Tags": _tags(stack.tags),
        "EnableTerminationProtection": stack.termination_protection,
        "ParentId": stack.parent_id,
        "RootId": stack.root_id,
        "DriftInformation": {"StackDriftStatus": "NOT_CHECKED"},
    }


def shown_event(stack: Stack, event: Event) -> Mapping[str, Any]:
    """Return an event."""
    return {
        **shown_resource(stack, event.resource),
        "EventId": event.event_id,
        "EventType": "STACK_EVENT",
        "OperationId": event.operation_id,
        "PhysicalResourceId": event.resource.physical_id,
        "Timestamp": event.timestamp,
        "ClientRequestToken": event.token,
    }


def shown_resource(stack: Stack, resource: Resource) -> Mapping[str, Any]:
    """Return a resource."""
    return {
        "StackName": stack.name,
        "StackId": stack.stack_id,
        "LogicalResourceId": resource.logical_id,
        "PhysicalResourceId": resource.physical_id or None,
        "ResourceType": resource.resource_type,
        "ResourceStatus": resource.status,
        "ResourceStatusReason": resource.reason,
        "Timestamp": resource.changed_at,
        "LastUpdatedTimestamp": resource.changed_at,
        "DriftInformation": {"StackResourceDriftStatus": "NOT_CHECKED"},
    }


def shown_change_set(change_set: ChangeSet) -> Mapping[str, Any]:
    """Return a change set."""
    desired = change_set.changes.desired
    return {
        "ChangeSetId": change_set.change_set_id,
        "ChangeSetName": change_set.name,
        "StackId": change_set.stack.stack_id,
        "StackName": change_set.stack.name,
        "Description": change_set.description,
        "CreationTime": change_set.created,
        "ExecutionStatus": change_set.execution_status,
        "Status": change_set.status,
        "StatusReason": change_set.reason,
        "Parameters": _parameters(desired.parameters),
        "Tags": _tags(desired.tags),
        "NotificationARNs": [],
        "Changes": list(map(described, change_set.changes)),
        "OnStackFailure": change_set.on_failure,
        "Capabilities": needed_capabilities(desired.template.resources),
    }


def shown_template(template: Template) -> Mapping[str, Any]:
    """Return a template."""
    capabilities = needed_capabilities(template.resources)
    reason = "The following resource(s) require capabilities: [AWS::IAM]"
    return {
        "Parameters": list(_declared(template)),
        "Description": template.description,
        "Capabilities": capabilities,
        "CapabilitiesReason": reason if capabilities else None,
        "ResourceTypes": sorted({it["Type"] for it in template.resources.values()}),
        "Version": template.document.get("AWSTemplateFormatVersion"),
        "DeclaredTransforms": [],
    }


def _declared(template: Template) -> Iterator[Mapping[str, Any]]:
    for name, declared in template.section("Parameters").items():
        default = declared.get("Default")
        yield {
            "ParameterKey": name,
            "DefaultValue": None if default is None else str(default),
            "ParameterType": declared.get("Type"),
            "NoEcho": str(declared.get("NoEcho", False)).lower() == "true",
            "Description": declared.get("Description"),
            "ParameterConstraints": {
                "AllowedValues": [str(value) for value in declared.get("AllowedValues", [])]
            },
        }


def _parameters(parameters: Mapping[str, StackParameter]) -> list[Mapping[str, Any]]:
    return [
        {
            "ParameterKey": name,
            "ParameterValue": "****" if parameter.no_echo else parameter.given,
            "ResolvedValue": parameter.stored,
        }
        for name, parameter in parameters.items()
    ]


def _tags(tags: Mapping[str, str]) -> list[Mapping[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
