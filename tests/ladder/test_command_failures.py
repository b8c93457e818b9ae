"""`trainshed ami build` says in one line what stopped a bake, and nothing is left of it."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from guest_bench import Bench
from vendors.bench import Vendors
from vendors.faults import Fault

from embedded_aws.faults import Fault as AwsFault
from embedded_aws.guests.own_faults import GUESTS, OPEN_SSH
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import write_recipes

pytestmark = pytest.mark.ladder

Build = Callable[..., str]


@pytest.fixture
def build(bench: Bench, vendors: Vendors, tmp_path: Path) -> Build:
    """Build a cell, which has to fail, and return the last line of what the command said."""

    def run(template: Path = vendors.template) -> str:
        done = subprocess.run(
            [
                *(sys.executable, "-c", "from trainshed.cli import main; main()", "ami", "build"),
                *("neuron", "ec2", "--template", str(template), "--output", str(tmp_path / "out")),
                *("--subnet", bench.subnet_id),
            ],
            env=bench.aws.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        return done.stderr.splitlines()[-1]

    return run


def test_a_signature_of_somebody_else_is_a_failed_verification(
    build: Build, vendors: Vendors
) -> None:
    with vendors.faulty("efa-installer", Fault.UNKNOWN_SIGNER):
        message = build()

    assert message.startswith("error: verification failed: efa-installer: ")
    assert message.endswith("(in 20-efa.sh)")


def test_a_version_that_is_not_there_is_a_failed_provisioning(
    build: Build, vendors: Vendors
) -> None:
    with vendors.faulty("efa-installer", Fault.MISSING_VERSION):
        message = build()

    assert message.startswith("error: provisioning failed: efa-installer: ")
    assert "404" in message and message.endswith("(in 20-efa.sh)")


def test_a_component_that_the_self_test_misses_is_named(
    build: Build, vendors: Vendors, tmp_path: Path
) -> None:
    template = tmp_path / "packer"
    shutil.copytree(vendors.template, template, symlinks=True)
    # The self-test expects what the pins say; nothing installs this one.
    pins = json.loads((template / "pins.json").read_text())
    added = {"kind": "distribution", "packages": {"trainshed-nowhere": "1.0-1"}}
    pins["components"]["nowhere"] = {
        "version": "1.0",
        "basis": "documented",
        "sources": {"amazon-linux-2023": added},
    }
    (template / "pins.json").write_text(json.dumps(pins))
    write_recipes(template, read_pins(template / "pins.json"))

    message = build(template)

    assert message.startswith("error: self-test failed: nowhere ")
    assert "(in 80-selftest.sh)" in message


def test_an_instance_that_nobody_can_enter_is_reported_as_such(
    build: Build, bench: Bench, vendors: Vendors, tmp_path: Path
) -> None:
    template = tmp_path / "packer"
    shutil.copytree(vendors.template, template, symlinks=True)
    source = template / "source.pkr.hcl"
    # Ten minutes are for AWS.
    text, changed = re.subn(r'(ssh_timeout +=) "10m"', r'\1 "5s"', source.read_text())
    assert changed == 1
    source.write_text(text)
    bench.aws.fail(AwsFault(service=GUESTS, operation=OPEN_SSH))

    message = build(template)

    assert message.startswith("error: ssh never up: Timeout waiting for SSH; ")
