"""What EKS clusters of tests stand on."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws

_pause = threading.Event()
_TOO_OFTEN = 1000
CLUSTER_POLICY = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    for _ in range(_TOO_OFTEN):
        if holds():
            return
        _pause.wait(0.02)
    raise AssertionError("it never came about")


@dataclass
class EksBench:
    """What the clusters of one test stand on, under names that no other test uses."""

    aws: EmbeddedAws

    @cached_property
    def name(self) -> str:
        return f"t{uuid4().hex[:12]}"

    @cached_property
    def eks(self) -> Any:
        return self.aws.client("eks")

    @cached_property
    def ec2(self) -> Any:
        return self.aws.client("ec2")

    @cached_property
    def vpc(self) -> str:
        vpc_id: str = self.ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
        return vpc_id

    @cached_property
    def subnets(self) -> list[str]:
        """Subnets in two zones; the first one's offers p5.48xlarge."""
        return [
            self.ec2.create_subnet(VpcId=self.vpc, CidrBlock=cidr, AvailabilityZoneId=zone)[
                "Subnet"
            ]["SubnetId"]
            for cidr, zone in (("10.20.0.0/20", "usw2-az4"), ("10.20.16.0/20", "usw2-az1"))
        ]

    def role(self, service: str, *policies: str) -> str:
        """Create a role that a service may assume, and return its ARN."""
        iam, name = self.aws.client("iam"), f"{service.partition('.')[0]}-{uuid4().hex[:8]}"
        principal = {"Service": service}
        statement = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
        trust = {"Version": "2012-10-17", "Statement": [statement]}
        role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))["Role"]
        for policy in policies:
            iam.attach_role_policy(RoleName=name, PolicyArn=policy)
        arn: str = role["Arn"]
        return arn

    def client_allowed(self, *actions: str) -> Any:
        """Return a client of EKS with the credentials of a role that may do only this."""
        iam, name = self.aws.client("iam"), f"caller-{uuid4().hex[:8]}"
        everybody = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
        allowed = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        trust, policy = (json.dumps({"Statement": [each]}) for each in (everybody, allowed))
        role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
        iam.put_role_policy(RoleName=name, PolicyName="own", PolicyDocument=policy)
        credentials = self.aws.client("sts").assume_role(RoleArn=role, RoleSessionName=name)[
            "Credentials"
        ]
        return boto3.client(
            "eks",
            endpoint_url=self.aws.endpoint,
            region_name="us-west-2",
            aws_access_key_id=credentials["AccessKeyId"],
            aws_secret_access_key=credentials["SecretAccessKey"],
            aws_session_token=credentials["SessionToken"],
        )

    @cached_property
    def cluster_role(self) -> str:
        return self.role("eks.amazonaws.com", CLUSTER_POLICY)

    def cluster_fields(self, **fields: Any) -> dict[str, Any]:
        """Return the arguments of CreateCluster."""
        return {
            "name": self.name,
            "roleArn": self.cluster_role,
            "resourcesVpcConfig": {"subnetIds": self.subnets},
            "accessConfig": {"authenticationMode": "API"},
            **fields,
        }

    def described(self) -> Any:
        return self.eks.describe_cluster(name=self.name)["cluster"]

    def until_settled(self) -> Any:
        """Wait until the cluster is neither created nor updated any more, and return it."""
        until(lambda: self.described()["status"] not in ("CREATING", "UPDATING"))
        return self.described()

    def create_cluster(self, **fields: Any) -> Any:
        """Create a cluster and return it once it is ready."""
        self.eks.create_cluster(**self.cluster_fields(**fields))
        return self.until_settled()

    def refusal(self, method: Callable[..., Any], **params: Any) -> str:
        """Call what must be refused, and return code and message."""
        with pytest.raises(ClientError) as error:
            method(**params)
        refused = error.value.response["Error"]
        return f"{refused['Code']}: {refused['Message']}"
