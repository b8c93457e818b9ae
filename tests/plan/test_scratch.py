"""Volumes of EBS as the scratch space of nodes: how many, how large, how fast."""

from collections.abc import Callable

import pytest
from batch_plans import batch_of

from trainshed.plan import ClusterPlan

Problems = Callable[..., list[str]]
Planned = Callable[[str], ClusterPlan]


def scratch(type_: str, ebs: str) -> str:
    """A cluster of one node with scratch volumes of EBS."""
    return (
        "name: Cluster1\nregion: us-west-2\n"
        f"instance: {{type: {type_}, nodes: {{max: 1}}, scratch: {{ebs: {{{ebs}}}}}}}\n"
    )


def test_a_type_slower_than_a_gp3_volume_may_have_what_each_volume_has(
    planned: Planned, problems: Problems, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainshed.plan.scratch.ebs_throughput", lambda instance: 100)

    (line,) = problems(scratch("p3.2xlarge", "gib: 100, throughput: 126"))

    assert line.endswith("give 125")
    assert planned(scratch("p3.2xlarge", "gib: 100, throughput: 125")).scratch


@pytest.mark.parametrize(
    ("type_", "ebs", "volumes", "speed"),
    [
        # What gp3 has without a charge.
        ("p3.16xlarge", "gib: 2000", ("gp3", 1, 2000, 3000, 125), "125 MiB/s, 3000 IOPS"),
        (
            "p3.16xlarge",
            "gib: 2000, throughput: 1668",
            ("gp3", 1, 2000, 6672, 1668),
            "1668 MiB/s, 6672 IOPS",
        ),
        # 2,000 MiB/s of one volume are the limit, and each is rounded up.
        (
            "inf2.48xlarge",
            "gib: 2001, throughput: 7001",
            ("gp3", 4, 501, 7004, 1751),
            "7004 MiB/s, 28016 IOPS",
        ),
        # 65,536 GiB are.
        ("p3.16xlarge", "gib: 65537", ("gp3", 2, 32769, 3000, 125), "250 MiB/s, 6000 IOPS"),
        # 80,000 IOPS are.
        (
            "inf2.48xlarge",
            "gib: 2000, iops: 80001",
            ("gp3", 2, 1000, 40001, 125),
            "250 MiB/s, 80002 IOPS",
        ),
        # io2 reaches 32,000 IOPS on Xen, and more on Nitro.
        (
            "p3.16xlarge",
            "gib: 2000, type: io2, iops: 64000",
            ("io2", 2, 1000, 32000, 4000),
            "1668 MiB/s, 64000 IOPS",
        ),
        (
            "inf2.48xlarge",
            "gib: 2000, type: io2, iops: 64000",
            ("io2", 1, 2000, 64000, 4000),
            "4000 MiB/s, 64000 IOPS",
        ),
        (
            "inf2.48xlarge",
            "gib: 4, type: io2, iops: 1000",
            ("io2", 1, 4, 1000, 256),
            "256 MiB/s, 1000 IOPS",
        ),
    ],
)
def test_scratch_volumes_are_the_fewest_that_have_what_is_asked(
    planned: Planned, type_: str, ebs: str, volumes: tuple[str, int, int, int, int], speed: str
) -> None:
    plan = planned(scratch(type_, ebs))

    assert plan.scratch
    made = plan.scratch.volumes
    assert made
    assert (made.type, made.count, made.gib, made.iops, made.throughput) == volumes
    decided = {each.field: each.value for each in plan.decisions}
    assert decided["scratch space"] == f"/scratch, {made.count * made.gib} GiB"
    assert decided["scratch volumes"] == f"{made.count} x {made.type} of {made.gib} GiB, encrypted"
    assert decided["scratch speed"] == speed
    assert batch_of(plan).container.folders["scratch"] == "/scratch"
