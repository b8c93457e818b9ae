"""The AMIs bake: a real `packer build` each, three at a time, on guests.

All on the bases that are taken by default, but of EKS each accelerator's newest version only, and
one older; of Ubuntu 24.04 the one with most on it.
"""

from typing import Any

import pytest
from bake_bench import Bake, Bakery
from guest_bench import Bench

from trainshed.pins.model import Pins
from trainshed.pins.recipe import AmiRecipe, ami_recipe

CELLS = [
    *(
        pytest.param((accelerator, orchestrator), id=f"{accelerator}-{orchestrator}")
        for accelerator in ("habana", "neuron", "nvidia")
        for orchestrator in ("ec2", "ecs")
    ),
    pytest.param(("habana", "eks-1.35"), id="habana-eks-1.35"),
    pytest.param(("neuron", "eks-1.35"), id="neuron-eks-1.35"),
    pytest.param(("neuron", "eks-1.36"), id="neuron-eks-1.36"),
    pytest.param(("nvidia", "eks-1.34"), id="nvidia-eks-1.34"),
    pytest.param(("nvidia", "eks-1.36"), id="nvidia-eks-1.36"),
    pytest.param(("nvidia", "ec2", "ubuntu-24.04"), id="nvidia-ec2-ubuntu-24.04"),
]

pytestmark = [pytest.mark.ladder, pytest.mark.parametrize("bake", CELLS, indirect=True)]


@pytest.fixture(scope="module")
def started(request: pytest.FixtureRequest, bakery: Bakery) -> Bakery:
    """Bakes under way: those of all cells that were selected."""
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.module is request.module:
            cell: Any = item.callspec.params["bake"]
            bakery.start(cell)
    return bakery


@pytest.fixture
def bake(request: pytest.FixtureRequest, started: Bakery) -> Bake:
    return started.baked(*request.param)


@pytest.fixture
def recipe(bake: Bake, pins: Pins) -> AmiRecipe:
    return ami_recipe(pins, bake.accelerator, bake.orchestrator, bake.base)


@pytest.fixture
def versions(recipe: AmiRecipe) -> dict[str, str]:
    """Component to version, as the pins have them for the recipe."""
    return {name: pin.version for name, pin in recipe.components.items()}


@pytest.fixture
def image(bake: Bake, bench: Bench) -> dict[str, Any]:
    return bench.wait_for_image(bake.image_id)


def test_the_manifest_has_cell_base_and_versions(
    bake: Bake, recipe: AmiRecipe, versions: dict[str, str]
) -> None:
    data = bake.manifest["custom_data"]

    assert {name: data[name] for name in ("accelerator", "orchestrator", "base", "commit")} == {
        "accelerator": bake.accelerator,
        "orchestrator": bake.orchestrator,
        "base": recipe.base,
        "commit": "0123abc",
    }
    assert data["kernel"] == recipe.kernel
    assert data["source_ami"] == recipe.source_ami.name
    prefix = "version:"
    assert {
        name.removeprefix(prefix): data[name] for name in data if name.startswith(prefix)
    } == versions


def test_image_and_snapshot_are_tagged_with_every_version(
    bake: Bake, recipe: AmiRecipe, versions: dict[str, str], image: dict[str, Any], bench: Bench
) -> None:
    (mapping,) = image["BlockDeviceMappings"]

    (snapshot,) = bench.ec2.describe_snapshots(SnapshotIds=[mapping["Ebs"]["SnapshotId"]])[
        "Snapshots"
    ]

    run = bake.recorder.parameters("RunInstances")
    expected = {
        "Name": bake.manifest["custom_data"]["name"],
        "trainshed:accelerator": bake.accelerator,
        "trainshed:orchestrator": bake.orchestrator,
        "trainshed:base": recipe.base,
        "trainshed:commit": "0123abc",
        "trainshed:build": bake.manifest["custom_data"]["build"],
        "trainshed:kernel": recipe.kernel,
        "trainshed:source-ami": run["ImageId"],
    } | {f"trainshed:version:{name}": version for name, version in versions.items()}
    assert _tags(image) == expected
    assert _tags(snapshot) == expected
    assert image["Name"] == expected["Name"]


def test_the_root_volume_is_the_one_that_was_asked_for(
    bake: Bake, recipe: AmiRecipe, image: dict[str, Any]
) -> None:
    asked = bake.recorder.parameters("RunInstances")
    (mapping,) = image["BlockDeviceMappings"]

    first = "BlockDeviceMapping.1"
    assert asked[f"{first}.DeviceName"] == recipe.root_device
    assert asked[f"{first}.Ebs.VolumeType"] == "gp3"
    assert asked[f"{first}.Ebs.DeleteOnTermination"] == "true"
    assert asked[f"{first}.Ebs.Encrypted"] == "true"
    assert f"{first}.DeviceName".replace("1", "2") not in asked
    assert mapping["DeviceName"] == image["RootDeviceName"] == recipe.root_device
    assert mapping["Ebs"]["VolumeSize"] == int(asked[f"{first}.Ebs.VolumeSize"])
    assert mapping["Ebs"]["VolumeType"] == "gp3"
    assert mapping["Ebs"]["Encrypted"]


def test_the_self_test_passed_and_looked_at_every_component(
    bake: Bake, recipe: AmiRecipe, versions: dict[str, str]
) -> None:
    results = {result["name"]: result for result in bake.selftest["components"]}

    assert bake.selftest["ok"]
    assert [name for name in results if results[name]["state"] == "failed"] == []
    assert {name: (results[name]["version"], results[name]["state"]) for name in versions} == {
        name: (version, "ok") for name, version in versions.items()
    }
    assert results["running kernel"]["version"] == recipe.kernel


def test_its_drivers_were_compiled_for_the_pinned_kernel(bake: Bake, recipe: AmiRecipe) -> None:
    drivers = {"habana": "habanalabs", "neuron": "aws-neuronx", "nvidia": "nvidia"}

    results = {result["name"]: result for result in bake.selftest["components"]}

    for module in ("efa", drivers[bake.accelerator]):
        assert results[f"dkms {module}"]["state"] == "ok"
    assert bake.selftest["ami"]["kernel"] == recipe.kernel


def test_a_node_of_eks_has_the_kubelet_of_its_version(bake: Bake) -> None:
    results = {result["name"]: result for result in bake.selftest["components"]}

    minor = bake.orchestrator.partition("eks-")[2]
    assert ("kubelet" in results) is bool(minor)
    if minor:
        assert (results["kubelet"]["version"], results["kubelet"]["state"]) == (f"{minor}.1", "ok")


def test_the_list_of_packages_came_back(bake: Bake) -> None:
    listed = (bake.output / "packages.txt").read_text()

    drivers = {
        "habana": "habanalabs-dkms",
        "neuron": "aws-neuronx-dkms",
        "nvidia": "nvidia-dkms-580-open" if bake.base else "kmod-nvidia-open-dkms",
    }
    assert drivers[bake.accelerator] in listed


def test_the_disk_was_kept_of_a_stopped_builder_that_then_went(bake: Bake) -> None:
    actions = bake.recorder.actions

    order = ["RunInstances", "StopInstances", "CreateImage", "TerminateInstances"]
    positions = [actions.index(action) for action in order]
    assert positions == sorted(positions)
    assert all(actions.count(action) == 1 for action in order)


def test_nothing_but_the_image_is_left(bake: Bake, bench: Bench) -> None:
    calls = bake.recorder
    key, group = (
        calls.parameters("CreateKeyPair")["KeyName"],
        calls.parameters("CreateSecurityGroup")["GroupName"],
    )

    keys = bench.ec2.describe_key_pairs(Filters=[{"Name": "key-name", "Values": [key]}])
    groups = bench.ec2.describe_security_groups(Filters=[{"Name": "group-name", "Values": [group]}])
    builders = bench.ec2.describe_instances(Filters=[{"Name": "key-name", "Values": [key]}])
    volumes = bench.ec2.describe_volumes(
        Filters=[{"Name": "tag:Name", "Values": [f"{bake.manifest['custom_data']['name']}*"]}]
    )

    assert keys["KeyPairs"] == groups["SecurityGroups"] == volumes["Volumes"] == []
    states = [
        instance["State"]["Name"]
        for reservation in builders["Reservations"]
        for instance in reservation["Instances"]
    ]
    assert states == ["terminated"]


def _tags(resource: dict[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in resource["Tags"]}
