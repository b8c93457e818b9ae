"""Mounting a Lustre file system when a node boots."""

import json
import shlex
from pathlib import Path

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.plan import ExistingLustrePlan, LustrePlan

_SCRIPT = Path(__file__).parent / "handlers" / "first_boot_settings.sh"


class LustreMount(Construct):
    """What a node does at boot to see a `LustreFileSystem`, whichever stack that is in.

    User data tells the image what to mount, in /etc/trainshed/first-boot.json, and nothing more.
    The image's own first-boot program mounts it: it reads where the file system is from the SSM
    parameters that `LustreFileSystem` publishes, so compute needs no export of the storage stack,
    and waits half an hour for them and for the mount. Until the mount is there, systemd does not
    start the ECS agent: a job would bind an empty directory. An image that has no such program,
    because `trainshed ami build` did not bake it, keeps the ECS agent down and says why. To reach
    an EFA-enabled file system over EFA, the image needs the client's EFA configuration, too, or it
    uses TCP.

    Follows cloud-init's documentation, "Cloud boothook": such a part runs at each boot, in the
    stage that services of the image can wait for. It creates no resource.

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

    def __init__(
        self, scope: Construct, construct_id: str, *, plan: LustrePlan | ExistingLustrePlan
    ) -> None:
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
        """Add what tells the image to what a node runs at boot."""
        user_data.add_part(
            ec2.MultipartBody.from_raw_body(
                content_type='text/cloud-boothook; charset="us-ascii"', body=self.script
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
        """The script that writes the settings."""
        dns_name, mount_name = self.parameter_names
        settings = {
            "region": Aws.REGION,
            "lustre": {
                "mount": self._mount,
                "dns_name_parameter": dns_name,
                "mount_name_parameter": mount_name,
            },
        }
        variables = {"MOUNT": self._mount, "SETTINGS": json.dumps(settings)}
        lines = "".join(f"{name}={shlex.quote(value)}\n" for name, value in variables.items())
        return f"#!/bin/bash\n{lines}{_SCRIPT.read_text(encoding='ascii')}"
