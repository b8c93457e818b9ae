"""The default VPC: its contents, and calls that name no VPC.

VPC user guide, "Default VPCs": a subnet in each zone, an internet gateway, a route to it in the
main route table. EC2 API reference, CreateSecurityGroup: VpcId is required where there is no
default VPC. Inferred: the refusal's words.

AWS gives one to a new account, which many owners delete. Here there is none, so that nothing
depends on one. moto keeps using the one that an account had at first.
"""

from typing import Any

from moto.ec2.models import EC2Backend, ec2_backends

from embedded_aws.actions import Call, Refusal, action, correction
from embedded_aws.hooks import when_account_made


@correction
def know_the_default_vpc() -> None:
    """Have moto look up the default VPC each time."""
    # mypy does not know attributes that are added to a class; moto offers no other way.
    EC2Backend.default_vpc = property(_default_vpc, _forget)  # type: ignore[assignment]


@when_account_made
def _take_default_vpc(account: str, region: str) -> None:
    ec2 = ec2_backends[account][region]
    for vpc in ec2.describe_vpcs(filters={"is-default": ["true"]}):
        for subnet in ec2.describe_subnets(filters={"vpc-id": vpc.id}):
            ec2.delete_subnet(subnet.id)
        ec2.delete_vpc(vpc.id)


def _default_vpc(ec2: EC2Backend) -> Any:
    vpc = ec2.get_default_vpc()
    if vpc is None:
        raise Refusal("VPCIdNotSpecified", "No default VPC for this user.")
    return vpc


def _forget(ec2: EC2Backend, vpc: Any) -> None:
    """Ignore moto's assignment: the default VPC is looked up each time."""


@action("ec2", "CreateDefaultVpc")
def create_default_vpc(call: Call) -> Any:
    """Create a default VPC with a route to the internet."""
    answer = call.moto()
    ec2 = call.backend("ec2")
    vpc = ec2.get_default_vpc()
    gateway = ec2.create_internet_gateway()
    ec2.attach_internet_gateway(gateway.id, vpc.id)
    main_table = ec2.describe_route_tables(
        filters={"vpc-id": [vpc.id], "association.main": ["true"]}
    )[0]
    ec2.create_route(main_table.id, "0.0.0.0/0", gateway_id=gateway.id)
    return answer
