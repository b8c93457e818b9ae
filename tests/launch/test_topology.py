"""Ranks follow the network where EC2 tells it, and the numbers of the nodes where it does not."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from amis import AMAZON_LINUX
from launched_nodes import Node, Nodes, nodes_of_a_job

from embedded_aws.embedded import EmbeddedAws
from trainshed_launch.topology import TopologyUnknown, nearest_first

INSTANCES = tuple(f"i-0123456789abcdef{number}" for number in range(4))
# As the AWS CLI reference prints it; nodes 0 and 2 are close to each other.
ANSWER = {
    "Instances": [
        {
            "InstanceId": name,
            "InstanceType": "p4d.24xlarge",
            "GroupName": "my-ml-cpg",
            "NetworkNodes": ["nn-1111", f"nn-{middle}", f"nn-{bottom}"],
            "ZoneId": "usw2-az2",
            "AvailabilityZone": "us-west-2a",
        }
        for name, middle, bottom in zip(INSTANCES, (7, 2, 7, 2), (8, 4, 9, 3), strict=True)
    ]
}
ZONE = "usw2-az4"
# As our job definitions say.
REGION = {"AWS_REGION": "us-west-2"}
DENIED = "An error occurred (UnauthorizedOperation) when calling DescribeInstanceTopology"
Launch = Callable[..., Node]


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_of_a_job(tmp_path, 4) as nodes:
        yield nodes


@pytest.fixture
def launch(job: Nodes, tmp_path: Path) -> Launch:
    """Start four nodes on instances; return the main node."""

    def start(instances: tuple[str, ...], **environment: str) -> Node:
        for index, name in enumerate(instances):
            tag = tmp_path / f"instance{index}/sys/class/dmi/id/board_asset_tag"
            tag.parent.mkdir(parents=True)
            tag.write_text(f"{name}\n", encoding="ascii")
            own = {"EMBEDDED_AWS_NODE": str(tmp_path / f"instance{index}"), **REGION}
            job.start(index, "sh", "-c", "echo rank $NODE_RANK", environment=own | environment)
        return job.started[0]

    return start


def ranks(job: Nodes) -> list[int]:
    """The rank that each node got, by the numbers of the nodes."""
    found = []
    for index in range(job.nodes):
        assert job.started[index].wait() == 0
        said = job.started[index].said.splitlines()
        found += [int(line.split()[1]) for line in said if line.startswith("rank ")]
    return found


def command_line(folder: Path, script: str) -> dict[str, str]:
    """Put a stand-in of the AWS CLI before everything else."""
    program = folder / "bin" / "aws"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.environ['PATH']}"}


def python_alone(folder: Path, *options: str) -> dict[str, str]:
    """Have this test's Python, in the form that is given, and no AWS CLI."""
    program = folder / "bin" / "python3"
    program.parent.mkdir()
    command = shlex.join([sys.executable, *options])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (program.parent / "sh").symlink_to("/bin/sh")
    return {"PATH": str(program.parent)}


def test_close_nodes_get_neighbouring_ranks_by_the_command_line(
    job: Nodes, launch: Launch, tmp_path: Path
) -> None:
    asked = "ec2 describe-instance-topology --region us-west-2 --output json --instance-ids"
    script = f"""[ "$*" = '{asked} {" ".join(INSTANCES)}' ] || exit 252
cat <<'END'
{json.dumps(ANSWER)}
END"""

    main = launch(INSTANCES, **command_line(tmp_path, script))

    assert ranks(job) == [0, 2, 1, 3], main.said
    assert "ranks follow the network: node 2, node 1, node 3" in main.said


def test_close_nodes_get_neighbouring_ranks_by_botocore(
    job: Nodes, launch: Launch, tmp_path: Path, clean_aws: EmbeddedAws
) -> None:
    ec2 = clean_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZoneId=ZONE)
    instances = []
    for _ in range(2):
        group = f"t{uuid4().hex}"
        ec2.create_placement_group(GroupName=group, Strategy="cluster")
        launched = ec2.run_instances(
            ImageId=AMAZON_LINUX,
            InstanceType="trn1.32xlarge",
            SubnetId=subnet["Subnet"]["SubnetId"],
            MinCount=2,
            MaxCount=2,
            Placement={"GroupName": group},
        )
        instances.append([each["InstanceId"] for each in launched["Instances"]])
    mixed = tuple(name for pair in zip(*instances, strict=True) for name in pair)
    aws = {name: value for name, value in clean_aws.changes.items() if value}

    main = launch(mixed, **aws, **python_alone(tmp_path))

    assert ranks(job) == [0, 2, 1, 3], main.said
    assert "ranks follow the network: " in main.said


def test_without_any_tool_ranks_follow_the_numbers(
    job: Nodes, launch: Launch, tmp_path: Path
) -> None:
    # Without what is installed.
    main = launch(INSTANCES, **python_alone(tmp_path, "-S"))

    assert ranks(job) == [0, 1, 2, 3]
    assert "not the network: there is neither the AWS CLI nor botocore" in main.said


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        pytest.param(f"echo '{DENIED}' >&2; exit 254", DENIED, id="denied"),
        pytest.param("exec sleep 60", "aws took longer than 10 s", id="silent"),
        pytest.param(
            """echo '{"Instances": []}'""", "EC2 lists no network nodes of this type", id="type"
        ),
        pytest.param("echo hello", "its answer does not have the documented form", id="words"),
    ],
)
def test_what_the_command_line_does_not_tell_is_no_failure(
    job: Nodes, launch: Launch, tmp_path: Path, script: str, reason: str
) -> None:
    main = launch(INSTANCES, **command_line(tmp_path, script))

    assert ranks(job) == [0, 1, 2, 3]
    assert f"not the network: {reason}" in main.said


def test_nodes_that_are_no_instances_are_not_asked_for(job: Nodes) -> None:
    main = job.start_all("sh", "-c", "echo rank $NODE_RANK")

    assert ranks(job) == [0, 1, 2, 3]
    assert "not the network: not every node is known as an EC2 instance" in main.said


@pytest.mark.parametrize(
    ("names", "environment"),
    [
        # What a board says that is no instance, and an instance whose region nobody says.
        pytest.param(("To be filled by O.E.M.",) * 4, {}, id="no-instance"),
        pytest.param(INSTANCES, {"AWS_REGION": ""}, id="no-region"),
    ],
)
def test_a_board_without_an_instance_or_a_region_is_no_instance(
    job: Nodes, launch: Launch, names: tuple[str, ...], environment: dict[str, str]
) -> None:
    main = launch(names, **environment)

    assert ranks(job) == [0, 1, 2, 3]
    assert "not the network: not every node is known as an EC2 instance" in main.said


def test_the_order_of_two_nodes_is_not_asked_for(tmp_path: Path) -> None:
    with nodes_of_a_job(tmp_path, 2) as job:
        main = job.start_all("true")

        assert main.wait() == 0
    assert "ranks" not in main.said


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        pytest.param(["a b c", "a b c", "a b c"], [0, 1, 2], id="all-together"),
        pytest.param(["a b c", "a x y", "a b d", "a b c"], [0, 3, 2, 1], id="near-first-one-first"),
        pytest.param(["a b", "z y", "a x", "z w", "z y"], [0, 2, 1, 4, 3], id="groups-whole"),
        pytest.param(["a b c d", "a b c e", "a b c d"], [0, 2, 1], id="four-layers"),
    ],
)
def test_the_order_goes_from_near_to_far(layers: list[str], expected: list[int]) -> None:
    assert nearest_first([each.split() for each in layers]) == expected


def test_a_node_of_unknown_place_makes_the_order_unknown() -> None:
    with pytest.raises(TopologyUnknown, match="EC2 lists no network nodes"):
        nearest_first([["a", "b"], []])
