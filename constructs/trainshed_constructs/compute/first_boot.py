"""What a node does at boot before it takes jobs."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from trainshed.metrics import METRICS_LOG_GROUP
from trainshed.nodes.folders import SCRATCH
from trainshed.plan import Mount
from trainshed_constructs.errors import ConstructError
from trainshed_constructs.wildcards import own_arn

_SCRIPT = Path(__file__).with_name("first_boot_settings.sh")


class FirstBoot(Construct):
    """The part of the user data that configures the AMI's first-boot program.

    User data writes /etc/trainshed/first-boot.json, and has the node power off if the program
    fails; the rest is in the AMI. Its program checks that the node has its devices and that each
    answers, sets up scratch space and mounts the shared storage, whichever stacks that is in: it
    reads where it is from the SSM parameters that `LustreFileSystem` publishes, so compute
    needs no export of the storage stack, and waits half an hour for them and for the mount. Until
    it is done, systemd does not start the ECS agent: a job would bind an empty directory. An
    EFA-enabled file system is reached over as many EFA interfaces as given here.

    The program tells how the boot went by a tag of the instance, `trainshed:boot`, whose value is
    `ok` or `failed: ` and why, and counts failures in the metric `BootsFailed` (namespace
    `trainshed`, dimension `Cluster`); `NodeRole` lets it. What cannot be sent holds up nothing.
    With `signals`, it also signals CloudFormation that the boot went well, for a creation policy.

    The launch template has to terminate a node that powers itself off, as `EfaLaunchTemplate` does;
    `FailedBootLimit` bounds how often it is replaced. A node whose AMI has no such program,
    because `trainshed ami build` did not bake it, powers off as well if there is a file system to
    mount. Without one it works, with no scratch space.

    Follows cloud-init's documentation, "Cloud boothook": such a part runs at each boot, in the
    stage that services of the AMI can wait for; and systemd.unit(5), `FailureAction`.

    With `monitoring`, it creates the log group of the events from which CloudWatch makes the nodes'
    metrics, which are of no further use a day later; otherwise it creates no resource.

    Attributes:
        parameter_names: SSM parameters that say what is mounted, if anything is.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed.plan import Mount, StorageKind
        from trainshed_constructs import FirstBoot

        stack = Stack(App(), "Compute")
        user_data = ec2.MultipartUserData()
        lustre = Mount(kind=StorageKind.LUSTRE, name="train", path="/fsx")
        FirstBoot(
            stack, "FirstBoot", cluster="Train", devices={"efa": 8, "neuron": 16}, mounts=[lustre]
        ).add_to(user_data)
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: str | None = None,
        devices: Mapping[str, int] | None = None,
        kubernetes: str | None = None,
        monitoring: bool = False,
        mounts: Sequence[Mount] = (),
        scratch_devices: Sequence[str] = (),
        signals: str | None = None,
        reserved: bool = False,
    ) -> None:
        """Find the parameters.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster: name of the nodes' cluster; by default no boot is reported.
            devices: how many of each kind a node must have, see `trainshed.nodes.devices`; by
                default none are looked for.
            kubernetes: minor version of the cluster of EKS that the nodes join, which their kubelet
                must have; by default none.
            monitoring: the nodes send the metrics of their cluster, see `trainshed.metrics`; by
                default they do not.
            mounts: shared storage to mount; by default none.
            scratch_devices: device names, in the launch template, of the volumes of EBS that become
                scratch space; by default the instance store does.
            signals: logical id, in this stack, of the resource whose creation waits for the node;
                by default none.
            reserved: the nodes are in a Capacity Reservation or Capacity Block, where another
                instance may come on the same hardware: one that fails reboots once before it powers
                off.

        Raises:
            ConstructError: there are metrics, and no cluster that they are of.
        """
        super().__init__(scope, construct_id)
        self._cluster = cluster
        self._devices = devices
        self._kubernetes = kubernetes
        self._mounts = mounts
        self._scratch_devices = scratch_devices
        self._signals = signals
        self._reserved = reserved
        if monitoring and not cluster:
            raise ConstructError(self, "monitoring needs the name of the cluster")
        self._metrics = (
            logs.LogGroup(
                self,
                "Metrics",
                log_group_name=METRICS_LOG_GROUP.format(cluster=cluster),
                retention=logs.RetentionDays.ONE_DAY,
                removal_policy=RemovalPolicy.DESTROY,
            )
            if monitoring
            else None
        )
        self.parameter_names = tuple(name for each in mounts for name in each.parameters.values())

    def add_to(self, user_data: ec2.MultipartUserData) -> None:
        """Add the settings of the first-boot program to what a node runs at boot."""
        user_data.add_part(
            ec2.MultipartBody.from_raw_body(
                content_type='text/cloud-boothook; charset="us-ascii"', body=self.script
            )
        )

    def grant(self, grantee: iam.IGrantable) -> None:
        """Let the role of the nodes read the parameters, and write the events of the metrics."""
        if self._metrics:
            self._metrics.grant_write(grantee)
        if self.parameter_names:
            iam.Grant.add_to_principal(
                grantee=grantee,
                actions=["ssm:GetParameters"],
                resource_arns=[own_arn("ssm", f"parameter{name}") for name in self.parameter_names],
            )

    @property
    def script(self) -> str:
        """The script that writes the settings."""
        folders = [each.path for each in self._mounts]
        if self._scratch_devices:
            folders.append(SCRATCH)
        variables = {
            "MOUNT": next(iter(folders), ""),
            "SETTINGS": json.dumps(self._settings()),
        }
        lines = "".join(f"{name}={shlex.quote(value)}\n" for name, value in variables.items())
        return f"#!/bin/bash\n{lines}{_SCRIPT.read_text(encoding='ascii')}"

    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {"region": Aws.REGION}
        if self._cluster:
            settings["cluster"] = self._cluster
        if self._devices:
            settings["devices"] = dict(self._devices)
        if self._kubernetes:
            settings["kubernetes"] = self._kubernetes
        if self._metrics:
            settings["monitoring"] = True
        if self._scratch_devices:
            settings["scratch_devices"] = list(self._scratch_devices)
        if self._signals:
            # Its id: what a call by name is held against, the role does not name.
            settings["signals"] = {"stack": Aws.STACK_ID, "resource": self._signals}
        if self._reserved:
            settings["reserved"] = True
        return settings | {each.kind.value: _settings(each) for each in self._mounts}


def _settings(mount: Mount) -> dict[str, Any]:
    settings: dict[str, Any] = {"mount": mount.path}
    for what, name in mount.parameters.items():
        settings[f"{what.replace('-', '_')}_parameter"] = name
    if mount.efa_interfaces:
        settings["efa_interfaces"] = mount.efa_interfaces
    return settings
