"""Compute environments of several instance types: which one a job gets."""

from collections.abc import Callable, Iterator

import pytest
from job_bench import JobBench

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault

# EC2's lack of capacity in the API reference, "Error codes".
LACKING = "InsufficientInstanceCapacity"
# Of 128 and 256 GiB.
FIRST, SECOND = "g6.8xlarge", "g6e.8xlarge"
Bench = Callable[[str], JobBench]


@pytest.fixture
def bench(loopback_aws: EmbeddedAws) -> Iterator[Bench]:
    yield lambda strategy: JobBench(
        loopback_aws,
        instance_type=FIRST,
        other_types=[SECOND],
        spot=strategy.startswith("SPOT"),
        strategy=strategy,
    )
    loopback_aws.fail()


def lacks(aws: EmbeddedAws, *types: str) -> None:
    whens = [{"InstanceType": name} for name in types]
    aws.fail(
        *(Fault(service="ec2", operation="RunInstances", code=LACKING, when=each) for each in whens)
    )


def submit(bench: JobBench, *, memory: int = 100_000) -> str:
    needs = [{"type": "VCPU", "value": "32"}, {"type": "MEMORY", "value": str(memory)}]
    return bench.submit(bench.define("true", resourceRequirements=needs))


def host_type(bench: JobBench, job: str) -> str:
    ended = bench.wait(job)
    assert ended["status"] == "SUCCEEDED"
    host = ended["container"]["containerInstanceArn"].rpartition("/")[2]
    [found] = bench.ec2.describe_instances(InstanceIds=[host])["Reservations"]
    return str(found["Instances"][0]["InstanceType"])


@pytest.mark.parametrize(
    "strategy",
    ["SPOT_CAPACITY_OPTIMIZED_PRIORITIZED", "SPOT_CAPACITY_OPTIMIZED", "BEST_FIT_PROGRESSIVE"],
)
def test_the_next_type_is_launched_where_ec2_lacks_the_first(
    loopback_aws: EmbeddedAws, bench: Bench, strategy: str
) -> None:
    own = bench(strategy)
    usual = host_type(own, submit(own))

    lacks(loopback_aws, FIRST)

    assert usual == FIRST
    assert host_type(own, submit(own)) == SECOND


def test_by_price_and_capacity_the_cheapest_comes_first(
    loopback_aws: EmbeddedAws, bench: Bench
) -> None:
    own = bench("SPOT_PRICE_CAPACITY_OPTIMIZED")
    loopback_aws.set_spot_price(SECOND, 0.001)

    assert host_type(own, submit(own)) == SECOND


def test_a_type_that_a_job_does_not_fit_on_is_left_out(bench: Bench) -> None:
    own = bench("SPOT_CAPACITY_OPTIMIZED_PRIORITIZED")

    assert host_type(own, submit(own, memory=200_000)) == SECOND


def test_by_best_fit_a_job_waits_for_the_one_type(loopback_aws: EmbeddedAws, bench: Bench) -> None:
    own = bench("BEST_FIT")
    lacks(loopback_aws, FIRST)

    job = submit(own)

    waits = own.wait(job, "RUNNABLE", reason="CAPACITY:")
    assert waits["statusReason"].endswith(f"instance type [{FIRST}]")
    own.batch.terminate_job(jobId=job, reason="seen")


def test_a_job_waits_while_ec2_lacks_all_types(loopback_aws: EmbeddedAws, bench: Bench) -> None:
    own = bench("SPOT_CAPACITY_OPTIMIZED_PRIORITIZED")
    lacks(loopback_aws, FIRST, SECOND)

    job = submit(own)

    waits = own.wait(job, "RUNNABLE", reason="CAPACITY:")
    assert waits["statusReason"].endswith(f"instance type [{SECOND}]")
    own.batch.terminate_job(jobId=job, reason="seen")
