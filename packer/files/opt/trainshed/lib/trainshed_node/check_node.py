"""First boot: a node that lacks a device or a setting takes no job.

One such node among hundreds is enough to make a job hang, or to run all of it at the speed of TCP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from trainshed_node.check_kubernetes import kubelet_problem
from trainshed_node.check_settings import check_settings
from trainshed_node.devices import device_problems, wait_for_drivers
from trainshed_node.errors import NodeError
from trainshed_node.fabric import fabric_problem
from trainshed_node.instance import instance_id
from trainshed_node.recipe import read_recipe
from trainshed_node.results import BOOT, FAILED


def check_node(home: Path, expected: Mapping[str, int], kubernetes: str) -> None:
    """Check that devices are there and answer, and that the settings of the AMI hold.

    Args:
        home: `/opt/trainshed`.
        expected: how many devices of each kind the node must have.
        kubernetes: minor version of the cluster that the node joins; empty for none.

    Raises:
        NodeError: with everything that is wrong.
    """
    wait_for_drivers()
    problems = [each.text for each in device_problems(expected)]
    problems += _setting_problems(home)
    if kubernetes and (problem := kubelet_problem(kubernetes)):
        problems.append(problem)
    # One GPU that is missing may be why the fabric does not come up.
    if not problems and expected.get("nvidia") and (problem := fabric_problem()):
        problems.append(problem)
    if problems:
        raise NodeError(
            instance_id(),
            f"takes no job: {'; '.join(problems)}; terminate this node, and if the next one says"
            " the same, correct its AMI or its launch template",
        )


def _setting_problems(home: Path) -> Iterator[str]:
    for result in check_settings(read_recipe(home), BOOT):
        if result.state == FAILED:
            yield f"{result.name}: {result.detail}"
