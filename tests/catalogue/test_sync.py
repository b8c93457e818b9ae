"""Refreshing the snapshot: what a region's answers do to the files."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from trainshed.aws import Region
from trainshed.catalogue.sync import Change, synchronise
from trainshed.errors import TrainshedError

# What the account answers: zone IDs by type, by region.
Answers = Mapping[str, Mapping[str, list[str]]]
AUGUST, SEPTEMBER, OCTOBER = date(2026, 8, 1), date(2026, 9, 1), date(2026, 10, 1)


def record(name: str) -> dict[str, Any]:
    card = {"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 4, "InterfaceTypes": ["interface"]}
    gpu = {
        "Count": 8,
        "Manufacturer": "NVIDIA",
        "Name": "X100",
        "MemoryInfo": {"SizeInMiB": 81920},
    }
    return {
        "InstanceType": name,
        "SupportedUsageClasses": ["on-demand"],
        "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]},
        "VCpuInfo": {"DefaultVCpus": 192},
        "MemoryInfo": {"SizeInMiB": 2097152},
        "EbsInfo": {"EbsOptimizedInfo": {"BaselineBandwidthInMbps": 80000}},
        "NetworkInfo": {
            "NetworkPerformance": "100 Gigabit",
            "NetworkCards": [card],
            "Ipv4AddressesPerInterface": 50,
        },
        "GpuInfo": {"Gpus": [gpu]},
        "PlacementGroupInfo": {"SupportedStrategies": ["cluster"]},
        "BareMetal": False,
    }


@dataclass
class Table(Region):
    """The three EC2 calls, answered from a table; DescribeInstanceTypes also lists `described`."""

    name: str
    types: Mapping[str, list[str]]
    described: tuple[str, ...]
    fields: Mapping[str, Any]

    def pages(self, service: str, operation: str, key: str, **_: Any) -> Iterator[Any]:
        if operation == "describe_instance_types":
            names = [*self.types, *self.described, "m7i.large"]
            return iter([record(name) | dict(self.fields) for name in names])
        places = [(name, zone) for name, zones in self.types.items() for zone in zones]
        return iter([{"InstanceType": name, "Location": zone} for name, zone in reversed(places)])

    def call(self, service: str, operation: str, **_: Any) -> dict[str, Any]:
        return {"AvailabilityZones": [{"ZoneId": "z2"}, {"ZoneId": "z1"}]}


Sync = Callable[..., Change]


@pytest.fixture
def sync(tmp_path: Path) -> Sync:
    def run(
        answers: Answers, today: date, described: tuple[str, ...] = (), **fields: Any
    ) -> Change:
        return synchronise(
            regions=[Table(name, types, described, fields) for name, types in answers.items()],
            today=today,
            folder=tmp_path,
            source="a test",
            progress=lambda region: None,
        )

    return run


def held(folder: Path) -> dict[str, Any]:
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")
    }


def test_an_empty_folder_is_filled(sync: Sync, tmp_path: Path) -> None:
    change = sync({"east": {"p5.48xlarge": ["z2", "z1"]}}, AUGUST)

    files = held(tmp_path)
    assert change == Change(added=("p5.48xlarge",), withdrawn=(), returned=())
    assert files["offerings"] == {
        "east": {
            "date": "2026-08-01",
            "zones": ["z1", "z2"],
            "types": {"p5.48xlarge": ["z1", "z2"]},
        }
    }
    assert list(files["instance_types"]["records"]) == ["p5.48xlarge"]
    assert "BareMetal" not in files["instance_types"]["records"]["p5.48xlarge"]
    assert files["withdrawn"] == {}


def test_an_unchanged_account_changes_only_the_date(sync: Sync, tmp_path: Path) -> None:
    answers = {"east": {"p5.48xlarge": ["z1"], "p4d.24xlarge": ["z2"]}}
    sync(answers, AUGUST)
    before = copy.deepcopy({path.name: path.read_text() for path in tmp_path.glob("*.json")})

    change = sync(answers, SEPTEMBER)

    after = {path.name: path.read_text() for path in tmp_path.glob("*.json")}
    assert change == Change(added=(), withdrawn=(), returned=())
    assert after == {
        name: text.replace("2026-08-01", "2026-09-01") for name, text in before.items()
    }


def test_a_type_that_vanishes_moves_to_withdrawn_with_its_last_zones(
    sync: Sync, tmp_path: Path
) -> None:
    sync({"east": {"dl1.24xlarge": ["z2"], "p5.48xlarge": ["z1"]}}, AUGUST)

    change = sync({"east": {"p5.48xlarge": ["z1"]}}, SEPTEMBER)

    files = held(tmp_path)
    gone = files["withdrawn"]["dl1.24xlarge"]
    assert change.withdrawn == ("dl1.24xlarge",)
    assert list(files["instance_types"]["records"]) == ["p5.48xlarge"]
    assert (gone["last_seen"], gone["first_missing"]) == ("2026-08-01", "2026-09-01")
    assert gone["zones"] == {"east": ["z2"]}
    assert gone["record"]["InstanceType"] == "dl1.24xlarge"


def test_a_type_that_returns_leaves_withdrawn(sync: Sync, tmp_path: Path) -> None:
    both = {"east": {"dl1.24xlarge": ["z2"], "p5.48xlarge": ["z1"]}}
    sync(both, AUGUST)
    sync({"east": {"p5.48xlarge": ["z1"]}}, SEPTEMBER)

    change = sync(both, OCTOBER)

    files = held(tmp_path)
    assert change == Change(added=(), withdrawn=(), returned=("dl1.24xlarge",))
    assert files["withdrawn"] == {}
    assert "dl1.24xlarge" in files["instance_types"]["records"]


def test_regions_that_were_not_asked_keep_their_types(sync: Sync, tmp_path: Path) -> None:
    sync({"east": {"p5.48xlarge": ["z1"]}, "west": {"p5.48xlarge": ["z2"]}}, AUGUST)

    change = sync({"east": {}}, SEPTEMBER)

    offerings = held(tmp_path)["offerings"]
    assert change == Change(added=(), withdrawn=(), returned=())
    assert offerings["east"] == {"date": "2026-09-01", "zones": ["z1", "z2"], "types": {}}
    assert offerings["west"]["types"] == {"p5.48xlarge": ["z2"]}
    assert offerings["west"]["date"] == "2026-08-01"


def test_last_seen_is_the_day_its_own_region_was_asked(sync: Sync, tmp_path: Path) -> None:
    sync({"east": {"p5.48xlarge": ["z1"]}, "west": {"dl1.24xlarge": ["z2"]}}, AUGUST)
    sync({"east": {"p5.48xlarge": ["z1"]}}, SEPTEMBER)

    sync({"west": {}}, OCTOBER)

    gone = held(tmp_path)["withdrawn"]["dl1.24xlarge"]
    assert (gone["last_seen"], gone["first_missing"]) == ("2026-08-01", "2026-10-01")


def test_a_type_that_is_described_but_offered_nowhere_is_not_taken_in(
    sync: Sync, tmp_path: Path
) -> None:
    change = sync({"east": {"p5.48xlarge": ["z1"]}}, AUGUST, described=("p6-b300.48xlarge",))

    files = held(tmp_path)
    assert change.added == ("p5.48xlarge",)
    assert list(files["instance_types"]["records"]) == ["p5.48xlarge"]
    assert files["withdrawn"] == {}


def test_a_record_that_cannot_be_read_stops_it_before_anything_is_written(
    sync: Sync, tmp_path: Path
) -> None:
    with pytest.raises(TrainshedError, match=r"record of p5.48xlarge cannot be read \('Default"):
        sync({"east": {"p5.48xlarge": ["z1"]}}, AUGUST, VCpuInfo={})

    assert not list(tmp_path.iterdir())


def test_one_line_a_type_makes_a_readable_diff(sync: Sync, tmp_path: Path) -> None:
    sync({"east": {"p5.48xlarge": ["z1"], "p4d.24xlarge": ["z2"]}}, AUGUST)

    lines = (tmp_path / "instance_types.json").read_text(encoding="utf-8").splitlines()
    assert [line.split(":")[0].strip() for line in lines if "InstanceType" in line] == [
        '"p4d.24xlarge"',
        '"p5.48xlarge"',
    ]
