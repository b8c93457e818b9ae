"""Accounts in which a cluster is fine."""

from collections.abc import Callable
from pathlib import Path

import pytest
from preflight_account import REGION, TRN_QUOTA, ZONE, Account, Templates

from embedded_aws.embedded import EmbeddedAws
from trainshed.app.synthesis import read_assembly
from trainshed.plan import Fleet


@pytest.fixture
def account(clean_aws: EmbeddedAws, publish_ami: Callable[..., str], tmp_path: Path) -> Account:
    """An account with a quota, an AMI and a bootstrap, and nothing else."""
    clean_aws.grant_quota(TRN_QUOTA, 4 * 128)
    ami = publish_ami(clean_aws)
    clean_aws.client("ssm").put_parameter(
        Name="/cdk-bootstrap/hnb659fds/version", Value="21", Type="String"
    )
    return Account(aws=clean_aws, folder=tmp_path, ids={"ami": ami})


@pytest.fixture
def templates(synthesise: Callable[..., Path], account: Account) -> Templates:
    """The templates of the cluster by the names of its stacks."""
    assembly = synthesise(Fleet(clusters=(account.plan(),)))
    return {name: stack.template for name, stack in read_assembly(assembly).items()}


@pytest.fixture
def network(account: Account) -> Account:
    """The account, with a network in which a cluster is fine."""
    ec2 = account.aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.50.0.0/16")["Vpc"]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    private, public = (
        ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZoneId=ZONE)["Subnet"]["SubnetId"]
        for cidr in ("10.50.0.0/26", "10.50.1.0/26")
    )
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    nat = ec2.create_nat_gateway(
        SubnetId=public, AllocationId=ec2.allocate_address(Domain="vpc")["AllocationId"]
    )["NatGateway"]["NatGatewayId"]
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.associate_route_table(RouteTableId=table, SubnetId=private)
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
    ec2.create_vpc_endpoint(
        VpcId=vpc, ServiceName=f"com.amazonaws.{REGION}.s3", RouteTableIds=[table]
    )
    account.ids.update(vpc=vpc, subnet=private, table=table, public=public, gateway=gateway)
    return account
