"""Where shared storage is, published for the nodes that mount it."""

from collections.abc import Mapping

from aws_cdk import aws_ssm as ssm
from constructs import Construct

from trainshed.plan.storage import StoragePlan, parameter_prefix


def publish(
    scope: Construct, plan: type[StoragePlan], *, name: str, parameters: Mapping[str, str]
) -> None:
    """Write what mounts shared storage to SSM Parameter Store, where `FirstBoot` reads it.

    Args:
        scope: the construct of the storage.
        plan: its kind.
        name: what clusters share it by.
        parameters: value by name, for instance `dns-name`.
    """
    for parameter, value in parameters.items():
        ssm.StringParameter(
            scope,
            parameter.title().replace("-", ""),
            parameter_name=f"{parameter_prefix(plan.kind, name)}/{parameter}",
            string_value=value,
            description=f"{plan.title} {name}",
        )
