"""Stacks that are protected, as the CDK CLI deploys them."""

import json
from collections.abc import Iterable
from pathlib import Path

from embedded_aws.embedded import EmbeddedAws


def deploy_protected(aws: EmbeddedAws, assembly: Path, stacks: Iterable[str]) -> None:
    """Deploy stacks of a cloud assembly, and protect those that it says."""
    manifest = json.loads((assembly / "manifest.json").read_text())["artifacts"]
    for name in stacks:
        template = json.loads((assembly / f"{name}.template.json").read_text())
        aws.deploy(template, stack_name=name)
        if manifest[name]["properties"].get("terminationProtection"):
            aws.client("cloudformation").update_termination_protection(
                StackName=name, EnableTerminationProtection=True
            )


def there(aws: EmbeddedAws) -> set[str]:
    """Return the names of the stacks that are there."""
    stacks = aws.client("cloudformation").describe_stacks()["Stacks"]
    return {each["StackName"] for each in stacks if each["StackStatus"] != "DELETE_COMPLETE"}
