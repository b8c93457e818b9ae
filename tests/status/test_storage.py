"""Whether shared storage is available, and how full it is, by what AWS says of it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from deployed_stack import deployed_stack

from trainshed.aws import AwsRefusal, Region
from trainshed.jobs.why.questions import Questions
from trainshed.plan import make_plan
from trainshed.spec import ClusterSpec
from trainshed.status.model import StorageStatus
from trainshed.status.storage import storage_problems, storage_status

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
GIB = 2**30
MADE, EXISTING = "fs-0a0a0a0a0a0a0a0a0", "fs-0b0b0b0b0b0b0b0b0"


class Storages(Region):
    """A region where each file system is as it is said, with data points of what is used.

    Args:
        described: what is said of it.
        used: how many minutes ago it was how full, in GiB.
        refusal: the code by which AWS refuses to say something of it; empty when it does not.
    """

    def __init__(
        self, described: Mapping[str, Any], *, used: Sequence[tuple[int, float]], refusal: str
    ) -> None:
        super().__init__("us-west-2")
        self._described = dict(described)
        self._used = used
        self._refusal = refusal
        self.asked: list[tuple[str, str]] = []

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        self.asked.append((service, operation))
        if service == "cloudwatch":
            assert params["Dimensions"] == [{"Name": "FileSystemId", "Value": MADE}]
            assert (params["MetricName"], params["Period"]) == ("PhysicalDiskUsage", 60)
            points = [(NOW - timedelta(minutes=ago), gib * GIB) for ago, gib in self._used]
            return {
                "Datapoints": [
                    {"Timestamp": at, "Sum": size}
                    for at, size in points
                    if params["StartTime"] <= at < params["EndTime"]
                ]
            }
        if self._refusal:
            raise AwsRefusal(self._refusal, "no")
        return {"FileSystems": [self._described]}


def looked_at(
    storage: Mapping[str, Any],
    described: Mapping[str, Any],
    *,
    used: Sequence[tuple[int, float]] = (),
    made: bool = True,
    refusal: str = "",
) -> tuple[StorageStatus | None, list[tuple[str, str]]]:
    spec = {
        "name": "Train",
        "region": "us-west-2",
        "instance": {"type": "trn1.32xlarge", "nodes": {"max": 2}},
        "image": {"uri": "registry.example/train:1"},
        "storage": storage,
    }
    [plan] = make_plan(ClusterSpec.model_validate(spec)).storages
    stack = deployed_stack(resources={plan.resource_type: (MADE,)} if made else {})
    region = Storages(described, used=used, refusal=refusal)
    return storage_status(region, plan, stack, NOW, Questions()), region.asked


def lustre(used: Sequence[tuple[int, float]], **described: Any) -> StorageStatus:
    found, _ = looked_at(
        {"lustre": {"deployment": "scratch-2"}},
        {"Lifecycle": "AVAILABLE", "StorageCapacity": 1200, **described},
        used=used,
    )
    assert found
    return found


def test_lustre_is_as_full_as_the_newest_value_says() -> None:
    found = lustre([(14, 200), (2, 900), (9, 300)])

    assert (found.name, found.capacity_gib, found.used_gib) == (MADE, 1200, 900)
    assert found.used_percent == 75


def test_a_value_that_is_too_old_or_missing_is_none() -> None:
    assert lustre([(14, 600)]).used_percent == 50
    assert lustre([(16, 600)]).used_percent is None
    assert lustre([]).used_gib is None


@pytest.mark.parametrize(("used", "problems"), [(1019, 0), (1020, 1), (1200, 1)])
def test_storage_is_nearly_full_from_85_percent_on(used: int, problems: int) -> None:
    assert len([*storage_problems(lustre([(1, used)]))]) == problems


@pytest.mark.parametrize(
    ("state", "well"), [("AVAILABLE", True), ("UPDATING", True), ("MISCONFIGURED", False)]
)
def test_a_state_in_which_nodes_cannot_use_it_is_wrong(state: str, well: bool) -> None:
    problems = [*storage_problems(lustre([], Lifecycle=state))]

    assert problems == ([] if well else [f"lustre {MADE} is {state}"])


@pytest.mark.parametrize(("state", "well"), [("updating", True), ("error", False)])
def test_efs_says_itself_what_is_used(state: str, well: bool) -> None:
    described = {"LifeCycleState": state, "SizeInBytes": {"Value": 3 * GIB}}

    found, asked = looked_at({"efs": {}}, described)

    assert found
    assert (found.used_gib, found.capacity_gib, found.used_percent) == (3, None, None)
    assert (not [*storage_problems(found)], asked) == (well, [("efs", "describe_file_systems")])


def test_nothing_says_what_is_used_of_openzfs() -> None:
    openzfs, asked = looked_at(
        {"openzfs": {"capacity_gib": 64, "throughput": 160}},
        {"Lifecycle": "AVAILABLE", "StorageCapacity": 64},
    )

    assert openzfs
    assert (openzfs.capacity_gib, openzfs.used_gib) == (64, None)
    assert asked == [("fsx", "describe_file_systems")]


def test_lustre_that_grows_by_itself_is_never_full() -> None:
    found = lustre([(1, 100)], StorageCapacity=None)

    assert (found.used_gib, found.used_percent) == (100, None)
    assert lustre([], StorageCapacity=None).used_gib is None


def test_a_bucket_is_asked_for() -> None:
    found, asked = looked_at({"bucket": {}}, {})

    assert found
    assert (found.state, asked) == ("available", [("s3", "head_bucket")])


@pytest.mark.parametrize(
    ("storage", "code"),
    [
        ({"lustre": {"deployment": "scratch-2"}}, "FileSystemNotFound"),
        ({"efs": {}}, "FileSystemNotFound"),
        ({"bucket": {}}, "404"),
    ],
)
def test_storage_that_is_gone_is_wrong_and_what_may_not_be_asked_is_not_known(
    storage: Any, code: str
) -> None:
    [kind] = storage

    found, _ = looked_at(storage, {}, refusal=code)

    assert found
    assert [*storage_problems(found)] == [f"{kind} {MADE} is missing"]
    with pytest.raises(AwsRefusal):
        looked_at(storage, {}, refusal="AccessDeniedException")


def test_storage_that_no_stack_has_yet_is_not_there() -> None:
    assert looked_at({"efs": {}}, {}, made=False) == (None, [])


def test_existing_storage_is_the_one_that_is_named() -> None:
    described = {"LifeCycleState": "available", "SizeInBytes": {"Value": 0}}

    found, _ = looked_at({"efs": {"existing": EXISTING}}, described)

    assert found and found.name == EXISTING
