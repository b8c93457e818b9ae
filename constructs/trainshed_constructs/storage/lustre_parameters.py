"""Where a Lustre file system is, published for the nodes that mount it."""

from collections.abc import Mapping

from aws_cdk import aws_ssm as ssm
from constructs import Construct

from trainshed.plan.storage import StorageKind, parameter_prefix


def publish_lustre(scope: Construct, *, name: str, parameters: Mapping[str, str]) -> None:
    """Write what mounts a file system to SSM Parameter Store, where `FirstBoot` reads it.

    Args:
        scope: the construct of the file system.
        name: what clusters share it by.
        parameters: value by name: `dns-name`, `mount-name` and `file-system-id`.
    """
    for parameter, value in parameters.items():
        ssm.StringParameter(
            scope,
            parameter.title().replace("-", ""),
            parameter_name=f"{parameter_prefix(StorageKind.LUSTRE, name)}/{parameter}",
            string_value=value,
            description=f"Lustre file system {name}",
        )
