"""Resources made by their handlers in an account of this folder's own, without a stack around."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from embedded_aws import services
from embedded_aws.cloudformation.clients import client as embedded_client
from embedded_aws.cloudformation.resource import Made, Request, ResourceHandler, handler_of
from embedded_aws.hooks import when_account_made

ACCOUNT = "210987654321"
REGION = "us-west-2"
STACK_TAGS = {"aws:cloudformation:stack-name": "Stack", "Owner": "ml-platform"}

Client = Callable[[str], Any]


@dataclass(slots=True, kw_only=True)
class Deployed:
    """A resource as it stands, and what a stack can do with it."""

    handler: ResourceHandler
    request: Request
    made: Made

    @property
    def ref(self) -> str:
        return self.made.physical_id

    @property
    def attributes(self) -> Mapping[str, Any]:
        return self.made.attributes

    def update(self, *without: str, **properties: Any) -> None:
        """Change some properties, and drop those in `without`."""
        before = self.request.properties
        kept = {name: value for name, value in before.items() if name not in without}
        self.request = replace(self.request, properties={**kept, **properties})
        self.made = self.handler.update(self.request, self.ref, before)

    def delete(self) -> None:
        self.handler.delete(self.request, self.ref)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploy:
    """Makes a resource: `deploy("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")`."""

    client: Client

    def __call__(
        self, resource_type: str, logical_id: str = "Thing", /, **properties: Any
    ) -> Deployed:
        handler = handler_of(resource_type)
        assert handler is not None
        request = Request(
            resource_type=resource_type,
            logical_id=logical_id,
            properties=properties,
            stack_name="Stack",
            stack_id=f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/Stack/0a1b",
            account=ACCOUNT,
            region=REGION,
            tags=STACK_TAGS,
            client=self.client,
        )
        return Deployed(handler=handler, request=request, made=handler.create(request))


@pytest.fixture(scope="session")
def client() -> Client:
    """Gives boto3 clients of the embedded AWS."""
    services.install()
    when_account_made.call(ACCOUNT, REGION)
    return partial(embedded_client, account=ACCOUNT, region=REGION)


@pytest.fixture(scope="session")
def deploy(client: Client) -> Deploy:
    return Deploy(client=client)


@pytest.fixture
def vpc(deploy: Deploy) -> Deployed:
    return deploy("AWS::EC2::VPC", "Vpc", CidrBlock="10.20.0.0/16")


@pytest.fixture
def subnet(deploy: Deploy, vpc: Deployed) -> Deployed:
    """A subnet in a zone that offers trn1.32xlarge."""
    return deploy(
        "AWS::EC2::Subnet",
        "Subnet",
        VpcId=vpc.ref,
        CidrBlock="10.20.0.0/20",
        AvailabilityZoneId="usw2-az4",
    )


@pytest.fixture
def group(deploy: Deploy, vpc: Deployed) -> Deployed:
    return deploy("AWS::EC2::SecurityGroup", "Group", GroupDescription="peers", VpcId=vpc.ref)


@pytest.fixture
def role(deploy: Deploy) -> Deployed:
    """A role that EC2 may take."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "ec2.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    return deploy("AWS::IAM::Role", "Role", AssumeRolePolicyDocument=document)
