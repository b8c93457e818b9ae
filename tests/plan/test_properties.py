"""What holds for every type of the catalogue, and for any data in a cluster file."""

import re
from pathlib import Path
from typing import Any

import pytest
from batch_plans import batch_of
from hypothesis import given, reject
from hypothesis import strategies as st
from ruamel.yaml import YAML

from trainshed.catalogue import (
    AcceleratorFamily,
    all_types,
    lookup,
    regions_offering,
    zones_offering,
)
from trainshed.checks import judge
from trainshed.interfaces import InterfaceProfile
from trainshed.plan import ClusterPlan, load_fleet, make_plan
from trainshed.spec import (
    ClusterSpec,
    ImageSpec,
    InstanceSpec,
    JobSpec,
    LustreSpec,
    NetworkSpec,
    NodeRange,
    SpecError,
)

SHIPPED = sorted((Path(__file__).parents[2] / "clusters").glob("*.yaml"))
HUGE_PAGES = (
    Path(__file__).parents[2] / "packer/files/etc/udev/rules.d/60-trainshed-huge-pages.rules"
)
AMI = "ami-0123456789abcdef0"
# AWS Batch user guide, "Reserve system memory": ECS_RESERVED_MEMORY of its own AMIs.
ECS_AGENT_MIB = 32


def two_nodes(name: str) -> ClusterSpec:
    return ClusterSpec.model_validate(
        {
            "name": "Cluster1",
            "region": regions_offering(name)[0],
            "instance": {"type": name, "nodes": {"max": 2}, "ami": AMI},
        }
    )


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_cluster_plans(path: Path) -> None:
    (plan,) = load_fleet([path]).clusters

    assert plan.addresses <= plan.network.subnets[0].usable_addresses


def test_the_shipped_clusters_plan_together() -> None:
    fleet = load_fleet(SHIPPED)

    assert [plan.name for plan in fleet.clusters] == [
        "Dl1Cluster",
        "P4dCluster",
        "TrainCluster",
    ]
    assert len(fleet.networks) == len(fleet.repositories) == len(fleet.storages) == 3


@pytest.mark.parametrize("name", all_types())
def test_every_type_makes_a_cluster_of_several_nodes_but_trainium_without_efa(name: str) -> None:
    instance = lookup(name)
    if instance.accelerator.family is AcceleratorFamily.NEURON and not instance.efa_interfaces_max:
        with pytest.raises(SpecError, match=rf"{name} has no EFA, and accelerators of"):
            make_plan(two_nodes(name))
        return

    plan = make_plan(two_nodes(name))

    assert sum(row.kind.has_efa for row in plan.interfaces) == instance.efa_interfaces_max
    assert sum("uverbs" in device for device in batch_of(plan).container.devices) == (
        instance.efa_interfaces_max
    )
    assert ("TS-LIF-001" in [finding.rule for finding in judge(plan)]) == instance.withdrawn
    assert plan.capacity.own_placement_group
    assert bool(batch_of(plan).container.gpus) == (
        instance.accelerator.family is AcceleratorFamily.NVIDIA
    )


def one_node(name: str, region: str, **fields: Any) -> ClusterSpec:
    instance = {"type": name, "ami": AMI} | fields.pop("instance", {})
    return ClusterSpec.model_validate(
        {"name": "Cluster1", "region": region, "instance": instance, **fields}
    )


def assert_well_formed(plan: ClusterPlan) -> None:
    for finding in judge(plan):
        assert finding.place
        assert finding.place.field
        assert finding.message
        assert finding.remedy
        assert "None" not in finding.message + finding.remedy
        assert "\n" not in finding.message


@pytest.mark.parametrize("name", all_types())
def test_every_type_is_judged_in_every_region_that_offers_it(name: str) -> None:
    judged = 0
    for region in regions_offering(name):
        try:
            plan = make_plan(one_node(name, region))
        except SpecError as error:
            assert "is offered in local zones of" in str(error)
        else:
            assert_well_formed(plan)
            judged += 1

    assert judged


WITH_EFA = [name for name in all_types() if lookup(name).efa_interfaces_max]
EXISTING_NETWORK = {"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0"}


@given(data=st.data())
def test_whatever_can_be_planned_can_be_judged(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(WITH_EFA))
    region = data.draw(st.sampled_from(regions_offering(name)))
    most = data.draw(st.sampled_from([1, 2, 30, 50, 160]))
    reserved = st.sampled_from(["reservation", "capacity_block"])
    fields = {
        "zone": st.sampled_from([None, f"{region}b", *zones_offering(name, region)]),
        "orchestrator": st.sampled_from(["batch", "ec2"]),
        "capacity": st.just("on-demand")
        | reserved.map(lambda kind: {kind: "cr-0123456789abcdef0"}),
        "network": st.sampled_from([{}, EXISTING_NETWORK, {"cidr": "172.17.0.0/16"}]),
        "storage": st.sampled_from(
            [{}, {"lustre": {}}, {"lustre": {"existing": "fs-0123456789abcdef0"}}]
        ),
    }
    instance = {
        "nodes": data.draw(st.sampled_from([{"max": most}, {"min": most, "max": most}])),
        "interfaces": data.draw(st.none() | st.sampled_from(InterfaceProfile)),
    }
    drawn = {field: data.draw(values) for field, values in fields.items()}

    try:
        plan = make_plan(one_node(name, region, instance=instance, **drawn))
    except SpecError:
        reject()

    assert_well_formed(plan)


# EFA is 1d0f, Gaudi 1da3: what the rules of our AMIs reserve, in pages of 2 MiB.
RULE = re.compile(r'ATTR\{vendor\}=="0x(1d0f|1da3)"[^#]*?echo (\d+) >')


@pytest.mark.parametrize("name", all_types())
def test_a_container_leaves_room_for_huge_pages_and_for_the_system(name: str) -> None:
    pages = {vendor: int(count) for vendor, count in RULE.findall(HUGE_PAGES.read_text())}
    instance = lookup(name)
    habana = instance.accelerator.family is AcceleratorFamily.HABANA
    reserved = 2 * max(
        pages["1d0f"] if instance.efa_interfaces_max else 0, pages["1da3"] if habana else 0
    )
    spec = two_nodes(name)
    one = spec.instance.model_copy(update={"nodes": NodeRange(max=1)})

    container = batch_of(make_plan(spec.model_copy(update={"instance": one}))).container

    left = instance.memory_mib - reserved - container.memory_mib
    assert left >= 0.05 * instance.memory_mib + ECS_AGENT_MIB
    assert container.memory_mib >= 0.8 * instance.memory_mib
    assert 0 < container.shared_memory_mib <= container.memory_mib


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | st.dates()
    | st.text(max_size=20)
    | st.sampled_from(["us-west-2", "trn1.32xlarge", "usw2-az1", "10.0.0.0/16", "spot", "lz4"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
MODELS = (ClusterSpec, InstanceSpec, NodeRange, NetworkSpec, LustreSpec, ImageSpec, JobSpec)
FIELDS = sorted({name for model in MODELS for name in model.model_fields})
field_like = st.dictionaries(
    st.sampled_from(FIELDS) | st.text(max_size=5),
    st.dictionaries(st.sampled_from(FIELDS), anything, max_size=3) | anything,
    max_size=4,
)


def plan_or_words(text: str | bytes, folder: Path) -> ClusterPlan | str:
    """Plan the text: a plan, or the words of a SpecError; any other exception fails the test."""
    path = folder / "c.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    try:
        return load_fleet([path], region="us-west-2").clusters[0]
    except SpecError as error:
        for line in str(error).split("\n"):
            assert line.startswith(str(path))
            assert len(line) < 2000
        return str(error)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clusters")


def dump(data: Any, path: Path) -> str:
    YAML(typ="safe", pure=True).dump(data, path)
    return path.read_text(encoding="utf-8")


@given(data=field_like | anything)
def test_any_data_gives_a_plan_or_words(folder: Path, data: Any) -> None:
    assert plan_or_words(dump(data, folder / "data.yaml"), folder)


@given(text=st.text() | st.binary())
def test_any_text_gives_words(folder: Path, text: str | bytes) -> None:
    assert isinstance(plan_or_words(text, folder), str)


def paths(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = (
        [found for key, value in data.items() for found in paths(value, (*path, key))]
        if (isinstance(data, dict))
        else []
    )
    return [path, *below] if path else below


@given(data=st.data())
def test_any_value_of_a_shipped_file_changed_gives_a_plan_or_words(
    folder: Path, data: st.DataObject
) -> None:
    cluster = YAML(typ="safe", pure=True).load(data.draw(st.sampled_from(SHIPPED)))
    *parents, key = data.draw(st.sampled_from(paths(cluster)))
    holder = cluster
    for parent in parents:
        holder = holder[parent]
    if data.draw(st.booleans()):
        holder[key] = data.draw(anything)
    else:
        holder[data.draw(st.text(max_size=8))] = holder.pop(key)

    assert plan_or_words(dump(cluster, folder / "data.yaml"), folder)


@given(data=st.data())
def test_any_character_of_a_shipped_file_changed_gives_a_plan_or_words(
    folder: Path, data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from(SHIPPED)).read_text(encoding="utf-8")
    at = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 10))
    new = data.draw(st.text(alphabet=st.sampled_from("\t\n {}[]:-&*!|>'\"%@`,#?a1"), max_size=4))

    assert plan_or_words(text[:at] + new + text[at + length :], folder)
