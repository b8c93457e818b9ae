"""Where a Lustre file system is, published for the nodes that mount it."""

from collections.abc import Mapping

from aws_cdk import aws_ssm as ssm
from constructs import Construct

from trainshed.plan.storage import parameter_prefix


def publish_lustre(scope: Construct, *, name: str, facts: Mapping[str, str]) -> None:
    """Write facts about a file system to SSM Parameter Store, where `FirstBoot` finds them.

    Args:
        scope: the construct of the file system.
        name: what clusters share it by.
        facts: value by name: `dns-name`, `mount-name` and `file-system-id`.
    """
    for fact, value in facts.items():
        ssm.StringParameter(
            scope,
            fact.title().replace("-", ""),
            parameter_name=f"{parameter_prefix(name)}/{fact}",
            string_value=value,
            description=f"Lustre file system {name}",
        )
