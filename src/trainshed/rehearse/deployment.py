"""Deploy a cluster to an embedded AWS, by the templates that the project's own app makes."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from embedded_aws.embedded import EmbeddedAws
from trainshed.app.synthesis import SynthesisedStack, read_app, synthesise, with_needed
from trainshed.errors import TrainshedError
from trainshed.offline.stand_in import add_stand_in
from trainshed.orchestrators import ORCHESTRATOR_OUTPUT

_CHANNEL = re.compile(r"/trainshed/ami/([a-z]+)/([a-z0-9.-]+)/[A-Za-z0-9_.-]+")


def synthesised(cluster: str, output: Path) -> dict[str, SynthesisedStack]:
    """Return the stacks of a cluster of the project here, those that others need first.

    Args:
        cluster: its name.
        output: folder for the cloud assembly.

    Raises:
        TrainshedError: there is no project here, it does not synthesise, or has no such
            cluster that takes jobs.
    """
    stacks = synthesise(read_app(Path()), output)
    clusters = [
        name
        for name, stack in stacks.items()
        if ORCHESTRATOR_OUTPUT in stack.template.get("Outputs", {})
    ]
    if cluster not in clusters:
        raise TrainshedError(
            f"there is no cluster {cluster!r} that takes jobs here; those that do are: "
            f"{', '.join(clusters) or 'none'}"
        )
    return with_needed(cluster, stacks)


def deploy(aws: EmbeddedAws, templates: Mapping[str, Mapping[str, Any]]) -> Mapping[str, str]:
    """Deploy stacks in order, with AMIs in the channels that they read; return the last's outputs.

    Nothing is baked into these AMIs.
    """
    for channel in sorted(set(_channels(templates))):
        _, _, _, accelerator, orchestrator, _ = channel.split("/")
        aws.client("ssm").put_parameter(
            Name=channel,
            Value=add_stand_in(aws.client, accelerator, orchestrator),
            Type="String",
            DataType="aws:ec2:image",
        )
    outputs: Mapping[str, str] = {}
    for name, template in templates.items():
        outputs = aws.deploy(template, stack_name=name).outputs
    return outputs


def _channels(templates: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for template in templates.values():
        for found in _CHANNEL.finditer(json.dumps(template)):
            yield found[0]
