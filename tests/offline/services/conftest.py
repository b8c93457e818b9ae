"""One embedded AWS for all tests of the services."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from trainshed.offline import services

Client = Callable[..., Any]


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    services.install()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    url = f"http://localhost:{port}"
    before = os.environ.get("AWS_ENDPOINT_URL")
    os.environ["AWS_ENDPOINT_URL"] = url
    yield url
    server.stop()
    if before is None:
        del os.environ["AWS_ENDPOINT_URL"]
    else:
        os.environ["AWS_ENDPOINT_URL"] = before


@pytest.fixture(scope="session")
def client(endpoint: str) -> Client:
    session = boto3.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name="us-west-2"
    )
    clients: dict[tuple[str, str], Any] = {}

    def make(service: str, region: str = "us-west-2") -> Any:
        if (service, region) not in clients:
            clients[service, region] = session.client(
                service, region_name=region, endpoint_url=endpoint
            )
        return clients[service, region]

    return make


@pytest.fixture
def ec2(client: Client) -> Any:
    return client("ec2")


@pytest.fixture
def vpc(ec2: Any) -> str:
    """A VPC of the test's own."""
    vpc_id: str = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    return vpc_id


@pytest.fixture
def subnet(ec2: Any, vpc: str) -> str:
    """A subnet where trn1.32xlarge, p4d.24xlarge and g5.48xlarge are offered."""
    subnet_id: str = ec2.create_subnet(
        VpcId=vpc, CidrBlock="10.20.0.0/20", AvailabilityZoneId="usw2-az4"
    )["Subnet"]["SubnetId"]
    return subnet_id
