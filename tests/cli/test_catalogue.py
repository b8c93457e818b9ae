"""`trainshed catalogue`: cards, the list, and a refresh from an account."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from documented import documented
from moto.ec2.models.instance_types import InstanceTypeBackend

from trainshed import catalogue
from trainshed.catalogue.sync import DATA_FOLDER

Trainshed = Callable[..., Any]
SNAPSHOT = ("instance_types.json", "offerings.json", "withdrawn.json")


def facts(out: str) -> dict[str, str]:
    cells = [line.strip("│").split("│") for line in out.splitlines() if line.startswith("│")]
    return {name.strip(): value.strip() for name, value in cells}


def test_a_card_shows_the_facts(trainshed: Trainshed) -> None:
    answer = trainshed("catalogue", "show", "trn1.32xlarge")

    shown = facts(answer.out)
    assert answer.code == 0
    assert shown["accelerators"] == "16 x Trainium (neuron), 32 GiB, 2 NeuronCores each"
    assert shown["memory"] == "512 GiB"
    assert shown["network"] == "800 Gbps"
    assert shown["network cards"] == "0-7: 5 slots, interface/efa/efa-only"
    assert shown["EFA"] == "8 interfaces, with RDMA"
    assert shown["sold as"] == "capacity-block, on-demand, spot"
    assert shown["on-demand quota"] == "L-2C3B7624 (service ec2, vCPUs)"
    assert shown["us-west-2"] == "usw2-az1, usw2-az4"
    assert shown["lifecycle"] == "offered"


def test_a_card_groups_network_cards_that_are_alike(trainshed: Trainshed) -> None:
    shown = facts(trainshed("catalogue", "show", "p6-b300.48xlarge").out)

    assert shown["network cards"] == (
        "0: 4 slots, interface; 1-16: 4 slots, interface/efa/efa-only"
    )


def test_the_card_of_a_withdrawn_type_says_since_when_and_what_to_use(
    trainshed: Trainshed,
) -> None:
    answer = trainshed("catalogue", "show", "dl1.24xlarge")

    shown = facts(answer.out)
    assert shown["lifecycle"] == (
        "withdrawn; the EC2 API listed it last on 2026-07-01, and not on 2026-07-11; "
        "use trn1.32xlarge instead"
    )
    assert "Last known zones" in answer.out
    assert shown["us-west-2"] == "usw2-az1"


def test_a_card_says_what_the_overlay_corrects(trainshed: Trainshed) -> None:
    assert (
        "corrected: accelerator memory_mib is 98304; the EC2 API says 524288"
        in trainshed("catalogue", "show", "trn2.48xlarge").out
    )
    assert (
        "corrected: accelerator count is 16; the EC2 API says nothing"
        in trainshed("catalogue", "show", "trn2u.48xlarge").out
    )
    assert "corrected" not in trainshed("catalogue", "show", "p5.48xlarge").out


def test_a_card_as_json_has_all_of_it(trainshed: Trainshed) -> None:
    card = trainshed("catalogue", "show", "dl1.24xlarge", "--json").json

    assert card["instance"]["accelerator"]["family"] == "habana"
    assert card["instance"]["lifecycle"]["first_missing"] == "2026-07-11"
    assert len(card["instance"]["network_cards"]) == 4
    assert card["zones"] == {"us-east-1": ["use1-az2"], "us-west-2": ["usw2-az1"]}


@pytest.mark.parametrize("name", catalogue.all_types())
def test_every_type_has_a_card(trainshed: Trainshed, name: str) -> None:
    assert trainshed("catalogue", "show", name).code == 0


def test_an_unknown_type_is_reported_with_the_nearest_one(trainshed: Trainshed) -> None:
    answer = trainshed("catalogue", "show", "trn1.32xl")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "error: instance type 'trn1.32xl' is not known; did you mean trn1.32xlarge? "
        "(all: trainshed catalogue list)\n"
    )


def test_the_list_has_every_type(trainshed: Trainshed) -> None:
    listed = trainshed("catalogue", "list", "--json").json

    assert tuple(entry["type"] for entry in listed) == catalogue.all_types()
    assert {entry["type"]: entry["status"] for entry in listed}["dl1.24xlarge"] == "withdrawn"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "some/folder"
    folder.mkdir(parents=True)
    for name in SNAPSHOT:
        shutil.copy(DATA_FOLDER / name, folder)
    return folder


@pytest.fixture
def account(moto: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account with the types that have accelerators and two others, of moto's thousand.

    One of the two has EFA.
    """
    others = {"m7i.large", "c7gn.16xlarge"}
    accelerators = {"GpuInfo", "InferenceAcceleratorInfo", "NeuronInfo"}
    offered = [
        record
        for record in InstanceTypeBackend.instance_types
        if record.name in {*catalogue.all_types(), *others} or accelerators & record.keys()
    ]
    assert others < {record.name for record in offered}
    assert len(offered) < len(InstanceTypeBackend.instance_types) / 10
    monkeypatch.setattr(InstanceTypeBackend, "instance_types", offered)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")


@pytest.mark.usefixtures("account")
def test_a_sync_with_an_account_that_has_not_changed_changes_dates_only(
    trainshed: Trainshed, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    answer = trainshed(
        *documented("trainshed catalogue sync --region us-west-2 --output some/folder"), "--json"
    )

    # moto answers DescribeInstanceTypes with the records that the snapshot was made of.
    changed = [
        (before, after)
        for name in SNAPSHOT
        for before, after in zip(
            (DATA_FOLDER / name).read_text(encoding="utf-8").splitlines(),
            (folder / name).read_text(encoding="utf-8").splitlines(),
            strict=True,
        )
        if before != after
    ]
    assert answer.code == 0
    assert answer.err == "asking us-west-2\n"
    assert [answer.json[key] for key in ("added", "withdrawn", "returned")] == [[], [], []]
    assert [before.split(":")[0].strip() for before, _ in changed] == [
        '"source"',
        '"date"',
        '"us-west-2"',
    ]
    old, new = changed[-1]
    assert old.split('"zones"')[1] == new.split('"zones"')[1]


def test_without_a_region_it_asks_those_that_the_account_has_enabled(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Account:
        """Has one region of the catalogue, another one, and no instance types."""

        def describe_regions(self) -> dict[str, Any]:
            return {"Regions": [{"RegionName": "us-west-2"}, {"RegionName": "mx-central-1"}]}

        def describe_availability_zones(self, **_: Any) -> dict[str, Any]:
            return {"AvailabilityZones": [{"ZoneId": "usw2-az1"}]}

        def get_paginator(self, call: str) -> "Account":
            return self

        def paginate(self, **_: Any) -> list[dict[str, Any]]:
            return [{"InstanceTypes": [], "InstanceTypeOfferings": []}]

    monkeypatch.setattr(boto3, "client", lambda *_, **__: Account())

    answer = trainshed("catalogue", "sync", "--output", str(tmp_path))

    offerings = json.loads((tmp_path / "offerings.json").read_text(encoding="utf-8"))
    assert answer.code == 0
    assert list(offerings) == ["us-west-2"]
    assert "eu-west-1 is not enabled in this account: it stays as it is" in answer.err


def test_without_credentials_it_says_how_to_give_them(
    trainshed: Trainshed, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "none"))

    answer = trainshed("catalogue", "sync", "--region", "us-west-2", "--output", str(folder))

    assert answer.code == 2
    assert answer.err.splitlines()[-1] == (
        "error: no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    )


def test_an_unknown_profile_is_wrong_input(
    trainshed: Trainshed, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nope")

    answer = trainshed("catalogue", "sync", "--region", "us-west-2", "--output", str(folder))

    assert answer.code == 2
    assert answer.err.splitlines()[-1] == (
        "error: The config profile (nope) could not be found: set AWS_PROFILE to one of those that "
        "`aws configure list-profiles` names"
    )


@pytest.mark.usefixtures("account")
def test_a_refusal_names_the_call_and_leaves_the_snapshot_alone(
    trainshed: Trainshed, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = {"Error": {"Code": "UnauthorizedOperation", "Message": "You are not authorized."}}

    class Denying:
        def get_paginator(self, call: str) -> Any:
            raise ClientError(denied, "DescribeInstanceTypes")

    monkeypatch.setattr(boto3, "client", lambda *_, **__: Denying())

    answer = trainshed("catalogue", "sync", "--region", "us-west-2", "--output", str(folder))

    assert answer.code == 1
    assert answer.err.splitlines()[-1] == (
        "error: the credentials may not call ec2:DescribeInstanceTypes in us-west-2 "
        "(UnauthorizedOperation); allow it in a policy of their role or user"
    )
    assert all(
        (folder / name).read_bytes() == (DATA_FOLDER / name).read_bytes() for name in SNAPSHOT
    )


def test_an_endpoint_that_cannot_be_reached_is_reported(
    trainshed: Trainshed, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")

    answer = trainshed("catalogue", "sync", "--region", "us-west-2", "--output", str(folder))

    assert answer.code == 1
    assert "error: AWS cannot be reached: Could not connect" in answer.err.splitlines()[-1]


@pytest.mark.parametrize(
    "url", ["file:///etc", "localhost", "http://localhost:port", "http://[::1", "http://a b"]
)
@pytest.mark.parametrize(
    "words",
    [("catalogue", "sync"), ("ami", "list"), ("cost", "sync"), ("job", "list", "TrainCluster")],
)
def test_an_endpoint_that_is_no_url_is_wrong_input(
    trainshed: Trainshed, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], url: str
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)

    answer = trainshed(*words, "--region", "us-west-2")

    assert answer.code == 2
    last = answer.err.splitlines()[-1]
    assert last.startswith("error: AWS has no such address: ")
    assert "; unset AWS_ENDPOINT_URL, or set it to the URL of an embedded AWS" in last


def test_a_folder_that_is_not_there_is_wrong_input(trainshed: Trainshed, tmp_path: Path) -> None:
    answer = trainshed("catalogue", "sync", "--output", str(tmp_path / "no"))

    assert answer.code == 2
    assert "is not a folder; make it, or give another --output" in answer.err
