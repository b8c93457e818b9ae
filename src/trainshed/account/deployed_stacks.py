"""CloudFormation stacks as AWS has them, whatever the cluster files say by now."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trainshed.aws import Region, accepting

# CDK names an export STACK:ExportsOutput...
_IMPORT = re.compile(r"Fn::ImportValue\W+([\w-]+):")
# CloudFormation user guide, "Stack status codes". Created by a change set that was not run: the
# CDK CLI does not wait for it.
_NOT_BEGUN = "REVIEW_IN_PROGRESS"
_AS_ASKED = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE")
_AS_BEFORE = ("UPDATE_ROLLBACK_COMPLETE", "IMPORT_ROLLBACK_COMPLETE")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedStack:
    """One stack.

    Attributes:
        name: its name.
        stack_id: its ARN, under which it is found even after its deletion.
        status: for instance CREATE_COMPLETE.
        protected: termination protection is on.
        outputs: value by key.
        resources: physical ids by resource type.
        changed_at: when it was last created or updated.
    """

    name: str
    stack_id: str
    status: str
    protected: bool
    outputs: Mapping[str, str]
    resources: Mapping[str, tuple[str, ...]]
    changed_at: datetime

    @property
    def is_begun(self) -> bool:
        """Its first deployment has begun."""
        return self.status != _NOT_BEGUN

    @property
    def is_at_work(self) -> bool:
        """CloudFormation is still at work on it."""
        return self.is_begun and self.status.endswith("_IN_PROGRESS")

    @property
    def is_as_asked(self) -> bool:
        """What was asked of it last has been done."""
        return self.status in _AS_ASKED

    @property
    def is_whole(self) -> bool:
        """It is as its template has it: as was asked last, or as before when that failed."""
        return self.status in (*_AS_ASKED, *_AS_BEFORE)

    def ids(self, *resource_types: str) -> tuple[str, ...]:
        """Return the physical ids of the resources of some types."""
        return tuple(found for kind in resource_types for found in self.resources.get(kind, ()))


def find_stack(region: Region, name: str) -> DeployedStack | None:
    """Return the stack of a name, or None when there is none."""
    described = _described(region, name)
    return _deployed(region, described) if described else None


def all_stacks(region: Region) -> Iterator[DeployedStack]:
    """Yield each stack of a region, whoever made it."""
    for described in region.pages("cloudformation", "describe_stacks", "Stacks"):
        # Gone meanwhile.
        with accepting("ValidationError", saying="does not exist"):
            yield _deployed(region, described)


def all_outputs(region: Region) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the name and the outputs of each stack of a region."""
    for described in region.pages("cloudformation", "describe_stacks", "Stacks"):
        yield described["StackName"], _outputs(described)


def status_of(region: Region, stack_id: str) -> str:
    """Return the status of a stack that is there, or was."""
    described = _described(region, stack_id)
    return str(described["StackStatus"]) if described else "DELETE_COMPLETE"


def imported_from(region: Region, stack: DeployedStack) -> frozenset[str]:
    """Return the names of the stacks that a stack imports from."""
    return frozenset(_IMPORT.findall(str(template_of(region, stack))))


def template_of(region: Region, stack: DeployedStack) -> Any:
    """Return the template of a stack: JSON as a mapping, YAML as text; empty for one in review."""
    answer = region.call("cloudformation", "get_template", StackName=stack.stack_id)
    return answer.get("TemplateBody", "")


def importers(region: Region, stack: DeployedStack) -> dict[str, frozenset[str]]:
    """Return which stacks use each export of a stack, by the export's name."""
    exports = [
        export["Name"]
        for export in region.pages("cloudformation", "list_exports", "Exports")
        if export["ExportingStackId"] == stack.stack_id
    ]
    return {name: frozenset(_importers(region, name)) for name in exports}


def _importers(region: Region, export: str) -> list[str]:
    with accepting("ValidationError", saying="not imported"):
        return list(region.pages("cloudformation", "list_imports", "Imports", ExportName=export))
    return []


def _deployed(region: Region, described: Mapping[str, Any]) -> DeployedStack:
    resources: dict[str, tuple[str, ...]] = {}
    for entry in region.pages(
        "cloudformation",
        "list_stack_resources",
        "StackResourceSummaries",
        StackName=described["StackId"],
    ):
        if entry.get("PhysicalResourceId") and entry["ResourceStatus"] != "DELETE_COMPLETE":
            kind = entry["ResourceType"]
            resources[kind] = (*resources.get(kind, ()), entry["PhysicalResourceId"])
    return DeployedStack(
        name=described["StackName"],
        stack_id=described["StackId"],
        status=described["StackStatus"],
        protected=described.get("EnableTerminationProtection", False),
        outputs=_outputs(described),
        resources=resources,
        changed_at=described.get("LastUpdatedTime", described["CreationTime"]),
    )


def _outputs(described: Mapping[str, Any]) -> dict[str, str]:
    return {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())}


def _described(region: Region, name: str) -> dict[str, Any] | None:
    with accepting("ValidationError", saying="does not exist"):
        answer = region.call("cloudformation", "describe_stacks", StackName=name)
        found: dict[str, Any] = answer["Stacks"][0]
        return found
    return None
