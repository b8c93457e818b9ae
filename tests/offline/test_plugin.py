"""What trainshed's plug-in adds to the embedded AWS."""

import re
from datetime import date
from pathlib import Path

import pytest

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.guests.flavours import flavour_of
from embedded_aws.inventory import inventory
from embedded_aws.plugins import ProjectNeeds, plugins, project_needs
from trainshed.app.sources import packer_folder
from trainshed.catalogue import all_types, lookup
from trainshed.nodes.cells import Cell
from trainshed.offline.plugin import PLUGIN
from trainshed.offline.stand_in import add_stand_in
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import recipe_names
from trainshed_node import scratch


def test_it_is_the_only_one_here() -> None:
    assert plugins() == (PLUGIN,)


@pytest.mark.parametrize("name", [name for name in all_types() if lookup(name).withdrawn])
def test_a_withdrawn_type_is_there_until_the_day_it_was_missing(
    clean_aws: EmbeddedAws, name: str
) -> None:
    last_seen = lookup(name).lifecycle.last_seen
    assert last_seen
    wanted = [{"Name": "instance-type", "Values": [name]}]
    today = clean_aws.client("ec2").describe_instance_types(Filters=wanted)["InstanceTypes"]

    clean_aws.reset(as_of=last_seen.isoformat())

    ec2 = clean_aws.client("ec2", region="us-west-2")
    [then] = ec2.describe_instance_types(Filters=wanted, IncludeUnsupportedInRegion=True)[
        "InstanceTypes"
    ]
    assert today == []
    assert then["NetworkInfo"]["MaximumNetworkCards"] == len(lookup(name).network_cards)


def write_clusters(folder: Path, **texts: str) -> None:
    (folder / "clusters").mkdir()
    for name, text in texts.items():
        (folder / "clusters" / f"{name}.yaml").write_text(text)


def test_a_project_needs_the_regions_of_its_clusters_and_their_types(tmp_path: Path) -> None:
    cluster = "name: {}\nregion: {}\ninstance: {{type: {}}}\n"
    write_clusters(
        tmp_path,
        a=cluster.format("A1", "us-east-1", "dl1.24xlarge"),
        b=cluster.format("B1", "us-west-2", "trn1.32xlarge"),
        c=cluster.format("C1", "us-east-1", "p3.16xlarge"),
    )
    seen = [lookup(name).lifecycle.last_seen for name in ("dl1.24xlarge", "p3.16xlarge")]

    needs = project_needs(tmp_path)

    assert needs.regions == ("us-east-1", "us-west-2")
    assert needs.as_of == min(day for day in seen if day)


def test_a_cluster_without_a_region_is_in_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_clusters(tmp_path, a="name: A1\ninstance: {type: trn1.32xlarge}\n")
    monkeypatch.setenv("AWS_REGION", "us-east-2")

    assert project_needs(tmp_path) == ProjectNeeds(regions=("us-east-2",), as_of=None)


def test_wrong_cluster_files_are_left_to_those_who_read_them(tmp_path: Path) -> None:
    good = "name: B1\nregion: us-east-1\ninstance: {type: dl1.24xlarge}\n"
    write_clusters(tmp_path, a="name: [", b=good, c=good.replace("us-east-1", "us-nowhere-1"))

    assert project_needs(tmp_path) == ProjectNeeds(regions=("us-east-1",), as_of=date(2026, 7, 1))


def test_without_clusters_a_project_needs_nothing(tmp_path: Path) -> None:
    assert project_needs(tmp_path) == ProjectNeeds()


def test_the_inventory_has_what_nodes_mount_and_no_other_parameter(clean_aws: EmbeddedAws) -> None:
    for parameter in ("/trainshed/lustre/train/dns-name", "/elsewhere"):
        clean_aws.client("ssm").put_parameter(
            Name=parameter, Value="x", Type="String", Description="DNS name"
        )

    assert inventory(clean_aws.client) == [
        {"kind": "parameter", "name": "/trainshed/lustre/train/dns-name", "facts": "DNS name"}
    ]


@pytest.mark.parametrize("cell", list(Cell))
def test_every_stand_in_has_a_root_to_boot(clean_aws: EmbeddedAws, cell: str) -> None:
    image_id = add_stand_in(clean_aws.client, *cell.split("/"))
    images = clean_aws.client("ec2").describe_images(ImageIds=[image_id])["Images"]

    fitting = [
        root
        for pattern, root in PLUGIN.guest_flavours().items()
        if re.fullmatch(pattern, images[0]["Name"])
    ]

    assert len(fitting) == 1
    pins = read_pins(packer_folder() / "pins.json")
    base = pins.base_of(*cell.split("/"))
    assert images[0]["RootDeviceName"] == pins.bases[base].root_device
    assert {"Key": "trainshed:base", "Value": base} in images[0]["Tags"]


def test_every_ami_that_can_be_baked_mounts_the_instance_store_as_its_first_boot_does() -> None:
    for name in recipe_names(read_pins(packer_folder() / "pins.json")):
        ami = f"trainshed-{'-'.join(name)}-20261122T000000Z"

        [path] = [
            path
            for pattern, path in PLUGIN.instance_store_mounts().items()
            if re.fullmatch(pattern, ami)
        ]

        assert path == str(scratch.SCRATCH), name


def test_every_ami_that_can_be_baked_has_the_root_of_its_base() -> None:
    roots = {
        "amazon-linux-2023": "amazon",
        "ubuntu-22.04": "ubuntu",
        "ubuntu-24.04": "noble",
        "ubuntu-24.04_6.8": "noble",
    }
    for name in recipe_names(read_pins(packer_folder() / "pins.json")):
        flavour = flavour_of(f"trainshed-{'-'.join(name)}-20261122T000000Z")

        assert flavour is not None and flavour.partition("-")[0] == roots[name[2]], name


def test_the_kubelet_of_every_ami_for_eks_is_that_of_its_cell() -> None:
    for name in recipe_names(read_pins(packer_folder() / "pins.json")):
        ami = f"trainshed-{'-'.join(name)}-20261122T000000Z"

        found = [
            version for pattern, version in PLUGIN.kubelets().items() if re.fullmatch(pattern, ami)
        ]

        agent, _, version = name[1].partition("-")
        assert found == ([version] if agent == "eks" else []), name


def test_nodes_of_every_ami_for_eks_join_by_the_program_of_their_base() -> None:
    for accelerator, agent, base in recipe_names(read_pins(packer_folder() / "pins.json")):
        ami = f"trainshed-{accelerator}-{agent}-{base}-20261122T000000Z"

        found = [
            program
            for pattern, program in PLUGIN.joining_programs().items()
            if re.fullmatch(pattern, ami)
        ]

        program = "nodeadm" if base.startswith("amazon") else "bootstrap.sh"
        assert found == ([program] if agent.startswith("eks-") else []), ami
