"""Mounting a Lustre file system when a node boots."""

import shlex
from pathlib import Path

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.plan import LustrePlan

_SCRIPT = Path(__file__).parent / "handlers" / "mount_lustre.sh"
# Half an hour: a file system that is created at the same time takes ten minutes or so.
_ATTEMPTS = 90
_DELAY_SECONDS = 20


class LustreMount(Construct):
    """What a node does at boot to see a `LustreFileSystem`, whichever stack that is in.

    The node reads where the file system is from the SSM parameters that `LustreFileSystem`
    publishes, so compute needs no export of the storage stack. It waits half an hour for them and
    for the mount. Until the mount is there, systemd does not start the ECS agent: a job would bind
    an empty directory. The image needs the Lustre client and the AWS CLI; to reach an EFA-enabled
    file system over EFA, it needs the client's EFA configuration, too, or it uses TCP.

    Follows FSx for Lustre's user guide, "Mounting from an Amazon EC2 instance" and "Mounting
    automatically", and the ECS agent's unit, which is ordered after cloud-init
    (https://github.com/aws/amazon-ecs-init/pull/175). It creates no resource.

    Attributes:
        parameter_names: SSM parameters with the DNS name and the mount name.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed.plan import LustrePlan
        from trainshed.spec import Compression, DeploymentType
        from trainshed_constructs import LustreMount

        stack = Stack(App(), "Compute")
        plan = LustrePlan(
            name="train", stack_name="TrainStorage", network="train", zone=None,
            deployment=DeploymentType.SCRATCH_2, capacity_gib=1200, throughput=None,
            metadata_iops=None, efa=False, compression=Compression.LZ4, s3=None, mount="/fsx",
            allow_replacement=False,
        )
        user_data = ec2.MultipartUserData()
        LustreMount(stack, "Mount", plan=plan).add_to(user_data)
    """

    def __init__(self, scope: Construct, construct_id: str, *, plan: LustrePlan) -> None:
        """Find the parameters.

        Args:
            scope: parent.
            construct_id: id within the parent.
            plan: the file system.
        """
        super().__init__(scope, construct_id)
        self._mount = plan.mount
        self.parameter_names = (
            f"{plan.parameter_prefix}/dns-name",
            f"{plan.parameter_prefix}/mount-name",
        )

    def add_to(self, user_data: ec2.MultipartUserData) -> None:
        """Add the script that mounts to what a node runs at boot."""
        user_data.add_part(
            ec2.MultipartBody.from_raw_body(
                content_type='text/x-shellscript; charset="us-ascii"', body=self.script
            )
        )

    def grant(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the role of the nodes read the two parameters."""
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["ssm:GetParameters"],
            resource_arns=[
                f"arn:{Aws.PARTITION}:ssm:{Aws.REGION}:{Aws.ACCOUNT_ID}:parameter{name}"
                for name in self.parameter_names
            ],
        )

    @property
    def script(self) -> str:
        """The script, for an Amazon Linux 2023 node that runs the ECS agent."""
        dns_name, mount_name = self.parameter_names
        variables = {
            "MOUNT": shlex.quote(self._mount),
            "DNS_NAME": shlex.quote(dns_name),
            "MOUNT_NAME": shlex.quote(mount_name),
            "REGION": Aws.REGION,
            "ATTEMPTS": _ATTEMPTS,
            "DELAY": _DELAY_SECONDS,
        }
        settings = "".join(f"{name}={value}\n" for name, value in variables.items())
        return f"#!/bin/bash\n{settings}{_SCRIPT.read_text(encoding='ascii')}"
