"""The order of the nodes by the network between them, where EC2 tells it.

EC2 user guide, "How Amazon EC2 topology works": each instance is under a network node in each of
three or four layers. The fewer layers two instances have to go up to meet, the closer they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from trainshed_node.instance import Instance
from trainshed_node.system import Finished, run

# A program that is read from a cold disk takes seconds; all nodes wait for it.
_SECONDS = 10
# API reference, DescribeInstanceTopology: at most so many instances that are named.
_LARGEST_CALL = 100
_NO_COMMAND = 127
# An image may lack the AWS CLI, and its Python have the SDK.
_WITH_BOTOCORE = """
import json, sys
try:
    from botocore.session import Session
except ImportError:
    sys.exit("there is neither the AWS CLI nor botocore")
ec2 = Session().create_client("ec2", region_name=sys.argv[1])
answer = ec2.describe_instance_topology(InstanceIds=sys.argv[2:])
print(json.dumps({"Instances": answer["Instances"]}))
"""


class TopologyUnknown(Exception):
    """EC2 does not say where the nodes are."""


def order_by_network(instances: Sequence[Instance | None]) -> list[int]:
    """Return the numbers of the nodes, so that those close to each other are neighbours.

    Args:
        instances: of the nodes by their numbers; the first one stays the first.

    Raises:
        TopologyUnknown: with the reason.
    """
    known = [instance for instance in instances if instance]
    if len(known) < len(instances):
        raise TopologyUnknown("not every node is known as an EC2 instance")
    layers = _ask(known)
    return nearest_first([layers.get(instance.name, ()) for instance in known])


def nearest_first(layers: Sequence[Sequence[str]]) -> list[int]:
    """Return the numbers of the nodes: close ones together, those close to the first one first.

    Args:
        layers: the network nodes above each node, from the top.

    Raises:
        TopologyUnknown: there are none above some node.
    """
    if not all(layers):
        raise TopologyUnknown(
            "EC2 lists no network nodes of this type, or of an instance that does not run"
        )
    # By the first node that is under them: the names of network nodes mean nothing.
    first: dict[str, int] = {}
    for number, above in enumerate(layers):
        for network_node in above:
            first.setdefault(network_node, number)
    return sorted(
        range(len(layers)), key=lambda number: [first[each] for each in layers[number]] + [number]
    )


def _ask(instances: Sequence[Instance]) -> Mapping[str, Sequence[str]]:
    """Return the network nodes above each instance, by its id."""
    layers = {}
    for start in range(0, len(instances), _LARGEST_CALL):
        names = [instance.name for instance in instances[start : start + _LARGEST_CALL]]
        answer = _describe(instances[0].region, names)
        if not answer.ok:
            raise TopologyUnknown(answer.last_line)
        try:
            for row in json.loads(answer.output)["Instances"]:
                layers[row["InstanceId"]] = row.get("NetworkNodes") or ()
        except (ValueError, KeyError, TypeError) as error:
            raise TopologyUnknown("its answer does not have the documented form") from error
    return layers


def _describe(region: str, names: Sequence[str]) -> Finished:
    answer = run(
        *("aws", "ec2", "describe-instance-topology", "--region", region, "--output", "json"),
        *("--instance-ids", *names),
        timeout=_SECONDS,
    )
    if answer.code != _NO_COMMAND:
        return answer
    return run("python3", "-c", _WITH_BOTOCORE, region, *names, timeout=_SECONDS)
