"""Deployed clusters whose nodes run jobs, for tests of commands."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import job_bench
import pytest

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings

PROGRAMS = Path(__file__).parents[2] / "packer/files/opt/trainshed"
CLUSTER = """name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 4}}
image: {uri: "registry.example/train:1"}
"""


def deploy_stacks(aws: EmbeddedAws, assembly: Path, *names: str) -> None:
    """Deploy stacks of a cloud assembly, one after the other."""
    for name in names:
        template = json.loads((assembly / f"{name}.template.json").read_text())
        aws.deploy(template, stack_name=name)


@contextmanager
def deployed_cluster(
    folder: Path,
    assembly: Path,
    stacks: Sequence[str],
    publish: Callable[[EmbeddedAws], object],
    *,
    tools: Sequence[Path] = (),
    speed: float = 60,
) -> Iterator[EmbeddedAws]:
    """Yield an embedded AWS with stacks deployed, whose nodes have the programs of our AMIs.

    Args:
        folder: for what it writes.
        assembly: cloud assembly that has the stacks.
        stacks: their names, in the order of their deployment.
        publish: publishes the AMI of the nodes.
        tools: folders with further programs of the nodes.
        speed: of what AWS waits for.
    """
    with ExitStack() as until_the_end:
        # For the nodes alone: a fixture of the session would have it for all tests that follow.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", os.pathsep.join(map(str, (PROGRAMS, *tools, os.environ["PATH"]))))
            settings = JobSettings(loopback=True, speed=speed)
            found = until_the_end.enter_context(job_bench.job_aws(folder, settings))
        publish(found)
        deploy_stacks(found, assembly, *stacks)
        yield found


def outputs(aws: EmbeddedAws, cluster: str = "TrainCluster") -> dict[str, str]:
    """Return the outputs of a cluster's stack."""
    [found] = aws.client("cloudformation").describe_stacks(StackName=cluster)["Stacks"]
    return {each["OutputKey"]: each["OutputValue"] for each in found["Outputs"]}
