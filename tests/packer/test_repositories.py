"""Packages come from a vendor's repository only as they are pinned and signed by the pinned key."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from overlay_machine import AMAZON_LINUX, NEEDED, UBUNTU, OverlayMachine
from vendors.bench import Vendors, serve_vendors
from vendors.faults import Fault
from vendors.site import owner_of

BASES = pytest.mark.parametrize("base", [UBUNTU, AMAZON_LINUX])

KEY = {"key": "https://vendor.example/key", "fingerprint": "0" * 40}
PINS = {
    "bases": {
        UBUNTU: {"release": "20260101T000000Z", "kernel": "6.8.0-1000-aws"},
        AMAZON_LINUX: {"release": "2023.1.20260101", "kernel": "6.1.1-1.amzn2023.x86_64"},
    },
    "repositories": {
        "apt": {
            **{"kind": "apt", "url": "https://vendor.example/debian", **KEY},
            **{"suite": "jammy", "section": "main"},
        },
        "dnf": {"kind": "dnf", "url": "https://vendor.example/rpm", **KEY},
    },
    "components": {
        "driver": {
            "version": "1.2.3",
            "basis": "made up",
            "sources": {
                UBUNTU: {
                    "repository": "apt",
                    "packages": {"vendor-driver": "1.2.3-4", "vendor-tools": "1.2.3"},
                },
                AMAZON_LINUX: {
                    "repository": "dnf",
                    "packages": {"vendor-driver": "3:1.2.3-4.amzn2023", "vendor-tools": "1.2.3"},
                },
            },
        },
    },
}
INSTALLED = {
    UBUNTU: "dpkg-query --show --showformat '${Package} ${Version}\\n' vendor-driver vendor-tools",
    AMAZON_LINUX: "rpm --query --queryformat '%{NAME} %{EPOCHNUM}:%{VERSION}-%{RELEASE}\\n' "
    "vendor-driver vendor-tools",
}
pytestmark = NEEDED


@pytest.fixture(scope="module")
def vendors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vendors]:
    folder = tmp_path_factory.mktemp("vendors")
    packer = folder / "packer"
    packer.mkdir()
    (packer / "pins.json").write_text(json.dumps(PINS))
    offered = folder / "offered"
    offered.mkdir()
    with serve_vendors(packer, offered, region="us-east-1") as served:
        yield served


@pytest.fixture
def machine(tmp_path: Path, vendors: Vendors, base: str) -> OverlayMachine:
    pins = json.loads((vendors.template / "pins.json").read_text())
    driver = pins["components"]["driver"]
    source = driver["sources"][base]
    facts = {**pins["repositories"][source["repository"]], **source, "version": driver["version"]}
    recipe = tmp_path / "pinned.json"
    recipe.write_text(json.dumps({**pins["bases"][base], "components": {"driver": facts}}))
    return OverlayMachine(folder=tmp_path, base=base, recipe=recipe, vendors=vendors)


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of an installation that was refused."""
    assert done.returncode == 1, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("trainshed: ERROR: driver: "), lines
    assert "; " in lines[0]
    return lines[0].removeprefix("trainshed: ERROR: driver: ")


@BASES
def test_pinned_packages_are_installed_and_held(machine: OverlayMachine) -> None:
    held = "apt-mark showhold" if machine.base == UBUNTU else "dnf --quiet versionlock list"

    done = machine.run(f"install_components driver >/dev/null; {held}; {INSTALLED[machine.base]}")

    assert done.returncode == 0, done
    assert done.stderr == ""
    *locks, driver, tools = done.stdout.splitlines()
    if machine.base == UBUNTU:
        assert (driver, tools) == ("vendor-driver 1.2.3-4", "vendor-tools 1.2.3")
    else:
        assert driver == "vendor-driver 3:1.2.3-4.amzn2023"
        assert tools == "vendor-tools 0:1.2.3-1"
    assert any("vendor-driver" in lock for lock in locks), locks
    assert any("vendor-tools" in lock for lock in locks), locks


@BASES
def test_only_the_packages_that_are_named_are_installed(machine: OverlayMachine) -> None:
    done = machine.run(
        "add_repository driver; install_packages driver vendor-tools; "
        "[[ -z $(_installed_versions vendor-driver) ]]; exit $?"
    )

    assert (done.returncode, done.stderr) == (0, "")


@BASES
def test_a_repository_of_the_image_is_switched_off_in_the_end(machine: OverlayMachine) -> None:
    again = "apt-get update 2>&1; apt-cache policy vendor-driver"
    if machine.base == AMAZON_LINUX:
        again = "dnf repolist --enabled"

    done = machine.run(f"install_components driver; disable_repositories; {again}")

    assert done.returncode == 0, done
    assert "vendor.example" not in done.stdout


@BASES
def test_a_repository_signed_by_a_subkey_of_the_pinned_key_is_good(
    machine: OverlayMachine, vendors: Vendors, tmp_path: Path
) -> None:
    site = vendors.site
    site.keys.add_signing_subkey(owner_of(KEY["key"]))
    again = tmp_path / "again"
    for repository in site.pins.repositories:
        site.write_repository(repository, into=again)
    vendors.tree.roots.insert(0, again)

    done = machine.run("install_components driver")

    vendors.tree.roots.remove(again)
    assert (done.returncode, done.stderr) == (0, "")


@BASES
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault.UNKNOWN_KEY, "unknown key: https://vendor.example/key holds "),
        (Fault.BAD_SIGNATURE, "bad signature: "),
        (Fault.WRONG_BYTES, "bad signature: "),
        (Fault.NOT_FOUND, "https://vendor.example/"),
        (Fault.MISSING_VERSION, " is not offered, only 0.0.1-1; "),
    ],
)
def test_what_cannot_be_trusted_or_had_is_refused_in_one_line(
    machine: OverlayMachine, vendors: Vendors, fault: Fault, message: str
) -> None:
    with vendors.faulty("driver", fault):
        done = machine.run("install_components driver")

    assert message in refusal(done)
    if fault is Fault.NOT_FOUND:
        assert "404" in refusal(done)


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (UBUNTU, "unknown key: https://vendor.example/debian is signed by another key"),
        # dnf does not say which key it was.
        (AMAZON_LINUX, "bad signature: https://vendor.example/rpm is not what the owner of"),
    ],
)
def test_an_index_that_a_stranger_signed_is_refused(
    machine: OverlayMachine, vendors: Vendors, message: str
) -> None:
    with vendors.faulty("driver", Fault.UNKNOWN_SIGNER):
        done = machine.run("install_components driver")

    assert refusal(done).startswith(message)


@pytest.mark.parametrize("base", [AMAZON_LINUX])
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (None, None),
        (Fault.UNKNOWN_SIGNER, "unknown key: a package is signed by another key"),
        (Fault.WRONG_BYTES, "bad signature: a package is not what its vendor signed"),
    ],
)
def test_packages_are_checked_where_the_index_is_not_signed(
    machine: OverlayMachine, vendors: Vendors, fault: Fault | None, message: str | None
) -> None:
    unsigned = "vendor.example/rpm/repodata/repomd.xml.asc"
    with vendors.faulty("driver", fault) if fault else nullcontext():
        vendors.tree.gone.add(unsigned)
        done = machine.run("install_components driver")
        vendors.tree.gone.remove(unsigned)

    if message:
        assert refusal(done).startswith(message)
    else:
        assert (done.returncode, done.stderr) == (0, "")


@BASES
def test_a_package_that_nobody_offers_is_refused(machine: OverlayMachine) -> None:
    pinned = "pin() { [[ $2 == packages ]] && echo vendor-gone 1.0 || /opt/trainshed/pin $*; }"

    done = machine.run(f"{pinned}\ninstall_components driver")

    assert refusal(done) == (
        "version 1.0 of vendor-gone is not offered, nor any other; "
        "check url, suite and packages in pins.json"
    )


@BASES
def test_a_package_that_is_not_pinned_is_refused(machine: OverlayMachine) -> None:
    done = machine.run("add_repository driver; install_packages driver vendor-docs")

    assert refusal(done).startswith("no version of vendor-docs is pinned; ")
