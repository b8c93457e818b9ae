"""Managed instances on an embedded AWS whose commands run, and what became of the commands."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any
from uuid import uuid4

import boto3
from networks import add_nat

from embedded_aws.embedded import EmbeddedAws

OVER = ("Success", "Failed", "TimedOut", "Cancelled")
MANAGED = ["ssm:UpdateInstanceInformation", "logs:*"]
_TOO_LONG = 60
_pause = threading.Event()


def until(found: Callable[[], Any], what: str) -> Any:
    """Return what a call finds, once it finds something."""
    deadline = time.monotonic() + _TOO_LONG
    while time.monotonic() < deadline:
        if result := found():
            return result
        _pause.wait(0.05)
    raise AssertionError(f"there was never {what}")


class CommandBench:
    """Instances of one subnet, for one test.

    Args:
        aws: where.
    """

    def __init__(self, aws: EmbeddedAws) -> None:
        self.aws = aws
        self.ssm, self.ec2, self.logs = (aws.client(each) for each in ("ssm", "ec2", "logs"))
        self.name = f"t{uuid4().hex[:12]}"

    @cached_property
    def subnet(self) -> str:
        vpc = self.ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
        made = self.ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/20")
        subnet = str(made["Subnet"]["SubnetId"])
        add_nat(self.ec2, subnet)
        return subnet

    def profile(self, *actions: str) -> str:
        """Make an instance profile whose role may do something; return its name."""
        iam, name = self.aws.client("iam"), f"{self.name}-{uuid4().hex[:6]}"
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        trust = {
            "Effect": "Allow",
            "Action": "sts:AssumeRole",
            "Principal": {"Service": "ec2.amazonaws.com"},
        }
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps({"Statement": [trust]}))
        iam.put_role_policy(
            RoleName=name,
            PolicyName="own",
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
        )
        iam.create_instance_profile(InstanceProfileName=name)
        iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)
        return name

    @cached_property
    def managed(self) -> str:
        """An instance profile of managed instances."""
        return self.profile(*MANAGED)

    def client_of_role(self, service: str, *statements: Any) -> Any:
        """Return a client with the credentials of a new role that has these statements."""
        iam = self.aws.client("iam")
        role = iam.create_role(RoleName=f"{self.name}-sender", AssumeRolePolicyDocument="{}")
        document = json.dumps({"Version": "2012-10-17", "Statement": statements})
        iam.put_role_policy(
            RoleName=f"{self.name}-sender", PolicyName="own", PolicyDocument=document
        )
        assumed = self.aws.client("sts").assume_role(
            RoleArn=role["Role"]["Arn"], RoleSessionName="test"
        )["Credentials"]
        return boto3.client(
            service,
            endpoint_url=self.aws.endpoint,
            region_name="us-west-2",
            aws_access_key_id=assumed["AccessKeyId"],
            aws_secret_access_key=assumed["SecretAccessKey"],
            aws_session_token=assumed["SessionToken"],
        )

    def launch(self, count: int = 1, *, profile: str | None = None, **more: Any) -> list[str]:
        """Launch instances; return their ids."""
        request = {
            "ImageId": "ami-0123456789abcdef0",
            "InstanceType": "m5.large",
            "SubnetId": self.subnet,
            "IamInstanceProfile": {"Name": profile or self.managed},
            **more,
        }
        launched = self.ec2.run_instances(MinCount=count, MaxCount=count, **request)
        return [each["InstanceId"] for each in launched["Instances"]]

    def address(self, instance: str) -> str:
        [found] = self.ec2.describe_instances(InstanceIds=[instance])["Reservations"]
        return str(found["Instances"][0]["PrivateIpAddress"])

    def send(self, script: str, instances: Sequence[str], **more: Any) -> str:
        """Send a script; return the id of the command."""
        request = {
            "DocumentName": "AWS-RunShellScript",
            "Parameters": {"commands": script.split("\n")},
            "InstanceIds": list(instances),
            **more,
        }
        return str(self.ssm.send_command(**request)["Command"]["CommandId"])

    def run(self, script: str, **more: Any) -> Any:
        """Run a script on a new instance to its end; return the invocation."""
        [instance] = self.launch()
        return self.wait(self.send(script, [instance], **more), instance)

    def invocation(self, command: str, instance: str, **more: Any) -> Any:
        return self.ssm.get_command_invocation(CommandId=command, InstanceId=instance, **more)

    def wait(self, command: str, instance: str, *states: str) -> Any:
        """Return an invocation when it is in one of some states, by default when it is over."""

        def found() -> Any:
            invocation = self.invocation(command, instance)
            return invocation if invocation["Status"] in (states or OVER) else None

        return until(found, f"an invocation that is {states or OVER}")

    def command(self, command: str) -> Any:
        [found] = self.ssm.list_commands(CommandId=command)["Commands"]
        return found

    def lines(self, group: str, stream: str) -> list[str]:
        """Return what was logged; nothing while there is no such stream."""
        try:
            events = self.logs.get_log_events(
                logGroupName=group, logStreamName=stream, startFromHead=True
            )["events"]
        except self.logs.exceptions.ResourceNotFoundException:
            return []
        return [event["message"] for event in events]
