"""The strict CloudFormation as its users see it, and resource types made for its tests."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import boto3
import pytest

from embedded_aws.cloudformation.resource import HandlerError, Made, Properties, Request, resource

REGION = "us-west-2"
ACCOUNT = "123456789012"

# What handlers of test types were asked to do, by stack name.
_calls: dict[str, list[tuple[str, str]]] = {}

# What handlers of test types cannot do at the moment, whatever their properties say.
_obstacles: set[tuple[str, str, str]] = set()


@resource("Test::Engine::Thing")
class Thing:
    """Does what its properties say: fails where `Fail` says, is made anew where `Moves` says.

    Its attributes are its properties.
    """

    def create(self, request: Request) -> Made:
        _note(request, "create")
        return Made(physical_id=f"thing-{uuid4().hex[:8]}", attributes=dict(request.properties))

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        _note(request, "update")
        return Made(physical_id=physical_id, attributes=dict(request.properties))

    def delete(self, request: Request, physical_id: str) -> None:
        _note(request, "delete")


def _note(request: Request, action: str) -> None:
    _calls.setdefault(request.stack_name, []).append((action, request.logical_id))
    fails = request.properties.get("Fail", [])
    if action in fails or (request.stack_name, action, request.logical_id) in _obstacles:
        raise HandlerError(f"{request.logical_id} does not want to {action}")
    if f"bug-in-{action}" in fails:
        raise ZeroDivisionError("handlers have bugs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """The server, as its users see it."""

    url: str
    client: Callable[[str], Any]

    @property
    def cloudformation(self) -> Any:
        return self.client("cloudformation")


@pytest.fixture(scope="session")
def cloud(endpoint: str) -> Cloud:
    clients: dict[str, Any] = {}

    def client(service: str) -> Any:
        if service not in clients:
            clients[service] = boto3.client(
                service,
                endpoint_url=endpoint,
                region_name=REGION,
                aws_access_key_id="test",
                aws_secret_access_key="test",
            )
        return clients[service]

    return Cloud(url=endpoint, client=client)


def template(resources: Mapping[str, Any], **sections: Any) -> str:
    return json.dumps({"Resources": resources, **sections})


def thing(*fail: str, **properties: Any) -> dict[str, Any]:
    if fail:
        properties["Fail"] = list(fail)
    return {"Type": "Test::Engine::Thing", "Properties": properties}


@dataclass(slots=True, kw_only=True)
class Tester:
    """One stack under test, with an unused name."""

    cloud: Cloud
    name: str = field(default_factory=lambda: f"stack-{uuid4().hex[:8]}")
    template: Callable[..., str] = template
    thing: Callable[..., dict[str, Any]] = thing

    def create(self, resources: Mapping[str, Any], *, sections: Any = None, **more: Any) -> str:
        """Create the stack and return its status."""
        self.cloud.cloudformation.create_stack(
            StackName=self.name, TemplateBody=template(resources, **(sections or {})), **more
        )
        return self.status

    def update(self, resources: Mapping[str, Any], *, sections: Any = None, **more: Any) -> str:
        """Update the stack and return its status."""
        self.cloud.cloudformation.update_stack(
            StackName=self.name, TemplateBody=template(resources, **(sections or {})), **more
        )
        return self.status

    def delete(self, **more: Any) -> str:
        """Delete the stack and return its status."""
        stack_id = self.described["StackId"]
        self.cloud.cloudformation.delete_stack(StackName=self.name, **more)
        stacks = self.cloud.cloudformation.describe_stacks(StackName=stack_id)["Stacks"]
        return str(stacks[0]["StackStatus"])

    def put_obstacle(self, action: str, logical_id: str) -> None:
        """Make a handler of a test type fail, until the obstacle is removed."""
        _obstacles.add((self.name, action, logical_id))

    def remove_obstacles(self) -> None:
        _obstacles.clear()

    @property
    def described(self) -> dict[str, Any]:
        stacks = self.cloud.cloudformation.describe_stacks(StackName=self.name)["Stacks"]
        described: dict[str, Any] = stacks[0]
        return described

    @property
    def status(self) -> str:
        return str(self.described["StackStatus"])

    @property
    def outputs(self) -> dict[str, str]:
        return {it["OutputKey"]: it["OutputValue"] for it in self.described.get("Outputs", [])}

    @property
    def calls(self) -> list[tuple[str, str]]:
        """What test types' handlers were asked to do."""
        return _calls.get(self.name, [])

    @property
    def resources(self) -> dict[str, dict[str, Any]]:
        listed = self.cloud.cloudformation.describe_stack_resources(StackName=self.name)
        return {it["LogicalResourceId"]: it for it in listed["StackResources"]}

    def physical_id(self, logical_id: str) -> str:
        return str(self.resources[logical_id]["PhysicalResourceId"])

    @property
    def events(self) -> list[tuple[str, str]]:
        """Logical ids and statuses, oldest first; the stack itself is called `stack`."""
        return [(event["LogicalResourceId"], event["ResourceStatus"]) for event in self.history]

    @property
    def history(self) -> list[dict[str, Any]]:
        """Whole events, oldest first."""
        events = self.cloud.cloudformation.describe_stack_events(StackName=self.name)
        history: list[dict[str, Any]] = events["StackEvents"][::-1]
        for event in history:
            if event["PhysicalResourceId"] == event["StackId"]:
                event["LogicalResourceId"] = "stack"
        return history

    def reason(self, logical_id: str, status: str) -> str:
        """The reason of the last event of that kind."""
        return next(
            str(event.get("ResourceStatusReason", ""))
            for event in reversed(self.history)
            if (event["LogicalResourceId"], event["ResourceStatus"]) == (logical_id, status)
        )


@pytest.fixture
def stack(cloud: Cloud) -> Tester:
    return Tester(cloud=cloud)


@pytest.fixture
def other(cloud: Cloud) -> Tester:
    """A second stack."""
    return Tester(cloud=cloud)


@pytest.fixture
def upload(stack: Tester) -> Callable[..., str]:
    """Put a template into a bucket and return its URL; each has its own unless a key is given."""
    s3 = stack.cloud.client("s3")
    configuration = {"LocationConstraint": REGION}
    s3.create_bucket(Bucket=stack.name, CreateBucketConfiguration=configuration)

    def upload(body: str, key: str | None = None) -> str:
        key = key or f"templates/{abs(hash(body))}.json"
        s3.put_object(Bucket=stack.name, Key=key, Body=body)
        return f"{stack.cloud.url}/{stack.name}/{key}"

    return upload
