"""From nothing to a published AMI with the commands that users type: build, test, publish."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from guest_bench import Bench
from vendors.bench import Vendors

from embedded_aws.faults import Fault

pytestmark = pytest.mark.ladder


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """Runs `trainshed ami` against the bench's AWS."""

    bench: Bench
    template: Path

    def ami(self, *words: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-c", "from trainshed.cli import main; main()", "ami", *words],
            env=self.bench.aws.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(code=done.returncode, out=done.stdout, err=done.stderr)


@pytest.fixture(scope="module")
def shell(bench: Bench, vendors: Vendors) -> Shell:
    return Shell(bench=bench, template=vendors.template)


@pytest.fixture(scope="module")
def full_zone(bench: Bench) -> Iterator[str]:
    """A subnet in a zone without capacity."""
    (subnet,) = bench.ec2.describe_subnets(SubnetIds=[bench.subnet_id])["Subnets"]
    zones = bench.ec2.describe_availability_zones()["AvailabilityZones"]
    zone = next(z["ZoneName"] for z in zones if z["ZoneName"] != subnet["AvailabilityZone"])
    block = subnet["CidrBlock"].replace(".0.0/", ".128.0/")
    full = bench.ec2.create_subnet(VpcId=subnet["VpcId"], CidrBlock=block, AvailabilityZone=zone)
    bench.aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            message="We currently do not have sufficient m6i.xlarge capacity.",
            count=None,
            when={"AvailabilityZone": zone},
        )
    )
    yield full["Subnet"]["SubnetId"]
    bench.aws.fail()


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("built")


@pytest.fixture(scope="module")
def built(shell: Shell, full_zone: str, output: Path) -> Done:
    """An AMI of a cell, baked by the command in the second of two zones."""
    return shell.ami(
        *("build", "neuron", "ec2", "--template", str(shell.template), "--output", str(output)),
        *("--subnet", full_zone, "--subnet", shell.bench.subnet_id),
    )


def test_build_moves_to_the_zone_with_capacity_and_prints_the_ami(
    built: Done, shell: Shell, full_zone: str
) -> None:
    assert built.code == 0, built.err
    assert re.fullmatch(r"ami-[0-9a-f]{17}\n", built.out)
    assert built.err.index(f"building in {full_zone}") < built.err.index("no capacity")
    assert built.err.index("no capacity") < built.err.index(f"building in {shell.bench.subnet_id}")


def test_build_leaves_manifest_reports_and_log(built: Done, output: Path) -> None:
    names = {path.name for path in output.iterdir()}

    assert {"manifest.json", "selftest.json", "packages.txt", "build.log"} <= names
    bill = json.loads((output / "sbom.cdx.json").read_text())
    assert bill["bomFormat"] == "CycloneDX" and bill["components"]
    assert "neuron" in (output / "report.md").read_text()


def test_the_built_ami_is_listed_with_its_commit(built: Done, shell: Shell) -> None:
    rows = {row["image_id"]: row for row in shell.ami("list", "--json").json}

    row = rows[built.out.strip()]
    assert (row["cell"], row["state"]) == ("neuron/ec2", "available")
    assert row["commit"]


def test_test_boots_the_ami_and_hears_its_self_test_over_the_console(
    built: Done, shell: Shell
) -> None:
    before = shell.bench.ec2.describe_instances()["Reservations"]

    answer = shell.ami("test", built.out.strip(), "--subnet", shell.bench.subnet_id, "--json")

    assert answer.code == 0, answer.out + answer.err
    assert answer.json["ok"] is True
    assert answer.json["ami"]["accelerator"] == "neuron"
    assert {part["state"] for part in answer.json["components"]} <= {"ok", "unchecked"}
    after = shell.bench.ec2.describe_instances()["Reservations"]
    (tested,) = (each for each in after if each not in before)
    assert tested["Instances"][0]["State"]["Name"] in ("shutting-down", "terminated")


def test_publish_tests_and_publishes_what_was_built(
    built: Done, shell: Shell, output: Path
) -> None:
    answer = shell.ami(
        *("publish", str(output / "manifest.json"), "--test"),
        *("--subnet", shell.bench.subnet_id),
    )

    assert answer.code == 0, answer.err
    parameter = shell.bench.aws.client("ssm").get_parameter(
        Name="/trainshed/ami/neuron/ec2/candidate"
    )["Parameter"]
    assert parameter["Value"] == built.out.strip()
