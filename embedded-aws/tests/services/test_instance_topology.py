"""Where instances are in the network."""

from collections.abc import Callable
from typing import Any

import pytest
from amis import AMAZON_LINUX


@pytest.fixture
def launch(ec2: Any) -> Callable[..., list[str]]:
    """Launch instances, in a placement group or none; return their ids."""

    def run(count: int, group: str = "", type: str = "trn1.32xlarge") -> list[str]:
        subnets = ec2.describe_subnets(
            Filters=[
                {"Name": "default-for-az", "Values": ["true"]},
                {"Name": "availability-zone-id", "Values": ["usw2-az4"]},
            ]
        )["Subnets"]
        launched = ec2.run_instances(
            ImageId=AMAZON_LINUX,
            InstanceType=type,
            SubnetId=subnets[0]["SubnetId"],
            MinCount=count,
            MaxCount=count,
            **({"Placement": {"GroupName": group}} if group else {}),
        )
        return [instance["InstanceId"] for instance in launched["Instances"]]

    return run


def network_nodes(ec2: Any, *names: str) -> list[list[str]]:
    rows = ec2.describe_instance_topology(InstanceIds=list(names))["Instances"]
    by_name = {row["InstanceId"]: row.get("NetworkNodes", []) for row in rows}
    return [by_name[name] for name in names]


def test_instances_of_a_cluster_placement_group_are_together(
    ec2: Any, launch: Callable[..., list[str]], placement_group: str
) -> None:
    together, alone = launch(2, placement_group), launch(2)

    first, second, third, fourth = network_nodes(ec2, *together, *alone)

    assert first == second
    assert len(set(first)) == 3
    assert len({*first, *third, *fourth}) == 7
    assert first[0] == third[0] == fourth[0]


def test_types_without_a_topology_and_instances_that_do_not_run_have_no_network_nodes(
    ec2: Any, launch: Callable[..., list[str]]
) -> None:
    [small], [stopped], [newest] = launch(1, type="c5.large"), launch(1), launch(1)
    ec2.stop_instances(InstanceIds=[stopped])

    assert network_nodes(ec2, small, stopped) == [[], []]
    pages = ec2.get_paginator("describe_instance_topology").paginate()
    everything = {row["InstanceId"] for page in pages for row in page["Instances"]}
    assert newest in everything
    assert small not in everything


def test_the_newest_types_have_four_network_nodes(
    ec2: Any, launch: Callable[..., list[str]]
) -> None:
    assert [len(nodes) for nodes in network_nodes(ec2, *launch(1, type="p6-b200.48xlarge"))] == [4]


def test_instances_that_are_not_named_come_in_pages(
    ec2: Any, launch: Callable[..., list[str]], placement_group: str
) -> None:
    inside = launch(21, placement_group)

    first = ec2.describe_instance_topology(GroupNames=[placement_group])
    rest = ec2.describe_instance_topology(
        GroupNames=[placement_group], NextToken=first["NextToken"]
    )
    pages = [
        len(page["Instances"])
        for page in ec2.get_paginator("describe_instance_topology").paginate(
            GroupNames=[placement_group], PaginationConfig={"PageSize": 9}
        )
    ]

    found = [row["InstanceId"] for page in (first, rest) for row in page["Instances"]]
    assert (len(first["Instances"]), sorted(found)) == (20, sorted(inside))
    assert "NextToken" not in rest
    assert pages == [9, 9, 3]


def test_groups_and_filters_select(
    ec2: Any, launch: Callable[..., list[str]], placement_group: str
) -> None:
    inside, _ = launch(2, placement_group), launch(1)

    rows = ec2.describe_instance_topology(
        GroupNames=[placement_group], Filters=[{"Name": "instance-type", "Values": ["trn1*"]}]
    )["Instances"]

    assert {row["InstanceId"] for row in rows} == set(inside)
    assert {(row["GroupName"], row["ZoneId"]) for row in rows} == {(placement_group, "usw2-az4")}


@pytest.mark.parametrize(
    ("params", "code"),
    [
        pytest.param(
            {"InstanceIds": ["i-0123456789abcdef0"] * 101}, "InvalidParameterValue", id="101"
        ),
        pytest.param({"GroupNames": ["bert"] * 101}, "InvalidParameterValue", id="101-groups"),
        pytest.param({"NextToken": "more"}, "InvalidParameterValue", id="token"),
        pytest.param(
            {"InstanceIds": ["i-0123456789abcdef0"], "MaxResults": 5},
            "InvalidParameterCombination",
            id="names-and-pages",
        ),
        pytest.param(
            {"InstanceIds": ["i-0123456789abcdef0"]}, "InvalidInstanceID.NotFound", id="none"
        ),
        pytest.param(
            {"Filters": [{"Name": "state", "Values": ["x"]}]}, "InvalidParameterValue", id="filter"
        ),
    ],
)
def test_what_ec2_refuses(
    ec2: Any, refusal: Callable[..., Any], params: dict[str, Any], code: str
) -> None:
    assert refusal(ec2.describe_instance_topology, **params).code == code
