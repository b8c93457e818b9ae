"""The list of packages, the bill of materials made of it, and the page for people."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lib4sbom.parser import SBOMParser
from node_root import NodeRoot, needs_namespaces
from skips import needs

from trainshed.ami.report import write_report
from trainshed.ami.software import Distribution
from trainshed.errors import TrainshedError

SELFTEST = {
    "ami": {
        "accelerator": "habana",
        "orchestrator": "ecs",
        "base": "ubuntu-22.04",
        "commit": "c",
    },
    "components": [
        {"name": "docker", "version": "28.5.2", "expected": "28.5.2", "state": "ok", "detail": ""},
        {
            "name": "efa device",
            "version": "",
            "expected": "",
            "state": "unchecked",
            "detail": "this machine | has none",
        },
    ],
    "ok": True,
}
DPKG = """\
Desired=Unknown/Install/Remove/Purge/Hold
||/ Name                 Version      Architecture Description
+++-====================-============-============-===========
ii  libstdc++6:amd64     12.3.0-1     amd64        GNU Standard C++ Library
hi  linux-image-6.8-aws  6.8.0-1.2    amd64        a kernel on hold
rc  removed-thing        1.0          all          only its configuration is left
ii  docker-ce            5:28.5.2-1   amd64        Docker
"""
RPM = """\
cuda-toolkit-13-0-13.0.1-1.x86_64
gpg-pubkey-d832c631-6515c85e.(none)
kernel6.18-6.18.51-120.163.amzn2023.x86_64
libfabric-aws-2.1.0amzn3.0-1.amzn2023.x86_64
perl-File_Temp-0.231.100-2.amzn2023.noarch
"""


def bake_result(folder: Path, packages: str, **ami: str) -> Path:
    selftest = {**SELFTEST, "ami": {**SELFTEST["ami"], **ami}}  # type: ignore[dict-item]
    (folder / "selftest.json").write_text(json.dumps(selftest))
    (folder / "packages.txt").write_text(packages)
    return folder


def components(path: Path) -> dict[str, tuple[str, str]]:
    """Version and package URL of each package, as another tool reads them."""
    parser = SBOMParser()
    parser.parse_file(str(path))
    found: list[dict[str, Any]] = list(parser.get_packages())
    return {
        each["name"]: (each["version"], each["externalreference"][0][2])
        for each in found
        if each["type"] != "OPERATING-SYSTEM"
    }


def test_a_base_with_a_kernel_of_its_own_is_of_its_distribution() -> None:
    found = Distribution.of_base("ubuntu-24.04_6.8")

    assert (found.name, found.release) == ("ubuntu", "24.04")


def test_the_bill_of_materials_has_the_installed_packages_of_ubuntu(tmp_path: Path) -> None:
    bill, _ = write_report(bake_result(tmp_path, DPKG))

    assert bill.name == "sbom.cdx.json"
    assert json.loads(bill.read_text())["bomFormat"] == "CycloneDX"
    assert components(bill) == {
        "libstdc++6": (
            "12.3.0-1",
            "pkg:deb/ubuntu/libstdc%2B%2B6@12.3.0-1?arch=amd64&distro=ubuntu-22.04",
        ),
        "linux-image-6.8-aws": (
            "6.8.0-1.2",
            "pkg:deb/ubuntu/linux-image-6.8-aws@6.8.0-1.2?arch=amd64&distro=ubuntu-22.04",
        ),
        "docker-ce": (
            "5:28.5.2-1",
            "pkg:deb/ubuntu/docker-ce@5:28.5.2-1?arch=amd64&distro=ubuntu-22.04",
        ),
    }


def test_names_with_numbers_and_capitals_survive_from_amazon_linux(tmp_path: Path) -> None:
    bill, _ = write_report(bake_result(tmp_path, RPM, base="amazon-linux-2023"))

    assert {name: version for name, (version, _) in components(bill).items()} == {
        "cuda-toolkit-13-0": "13.0.1-1",
        "kernel6.18": "6.18.51-120.163.amzn2023",
        "libfabric-aws": "2.1.0amzn3.0-1.amzn2023",
        "perl-File_Temp": "0.231.100-2.amzn2023",
    }


@needs("dpkg")
def test_a_real_list_of_a_real_machine_is_complete(tmp_path: Path) -> None:
    done = subprocess.run(
        ["dpkg", "-l"], capture_output=True, text=True, env={"COLUMNS": "1000", "PATH": "/usr/bin"}
    )
    asked = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n"],
        capture_output=True,
        text=True,
    )
    rows = [line.split() for line in asked.stdout.splitlines()]
    installed = {name for state, name in rows if state[1] == "i"}

    bill, _ = write_report(bake_result(tmp_path, done.stdout))

    assert set(components(bill)) == installed


@needs_namespaces
@pytest.mark.parametrize(
    ("base", "lister", "expected"),
    [
        # dpkg itself, with a database of one package that is installed and one that is not.
        ("ubuntu-22.04", "", {"a-package-with-quite-a-long-name-for-a-column": "1:2.0-3~ubuntu1"}),
        # Debian's rpm keeps its database elsewhere, so it is a stand-in.
        ("amazon-linux-2023", "echo zlib-1-2.x86_64", {"zlib": "1-2"}),
    ],
)
def test_what_the_image_lists_is_what_the_report_reads(
    tmp_path: Path, base: str, lister: str, expected: dict[str, str]
) -> None:
    node = NodeRoot.make(tmp_path)
    node.pin(recipe={"base": base})
    entry = "Package: {}\nStatus: {} ok {}\nArchitecture: amd64\nVersion: {}\nDescription: x\n"
    name = "a-package-with-quite-a-long-name-for-a-column"
    node.write(
        "var/lib/dpkg/status",
        entry.format(name, "install", "installed", "1:2.0-3~ubuntu1")
        + "\n"
        + entry.format("gone", "deinstall", "config-files", "1"),
    )
    if lister:
        node.command("rpm", lister)

    done = node.program("report", "/tmp/trainshed")

    assert done.returncode == 0, done.stderr
    assert "distribution  Ubuntu 22.04.5 LTS" in done.stdout
    folder = bake_result(
        tmp_path, (node.path / "tmp/trainshed/packages.txt").read_text(), base=base
    )
    bill, _ = write_report(folder)
    assert {name: version for name, (version, _) in components(bill).items()} == expected


def test_the_page_shows_versions_states_and_what_was_not_checked(tmp_path: Path) -> None:
    _, summary = write_report(bake_result(tmp_path, DPKG, kernel="6.8.0-1063-aws"))

    lines = summary.read_text().splitlines()
    assert lines[0] == "# AMI for habana on ecs"
    assert "| kernel | 6.8.0-1063-aws |" in lines
    assert "| packages | 3 |" in lines
    assert "| docker | 28.5.2 | ok | - |" in lines
    assert "| efa device | - | unchecked | this machine \\| has none |" in lines
    assert "- efa device: this machine | has none" in lines


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"packages.txt": ""}, "lists no package", id="no-packages"),
        pytest.param({"packages.txt": None}, "packages.txt is missing", id="missing"),
        pytest.param({"selftest.json": "{"}, "not what a self-test writes", id="broken"),
        pytest.param(
            {"selftest.json": '{"ami": {}, "components": []}'},
            "not what a self-test writes",
            id="no-image",
        ),
    ],
)
def test_a_bake_that_brought_back_too_little_makes_no_report(
    tmp_path: Path, change: dict[str, str | None], message: str
) -> None:
    folder = bake_result(tmp_path, DPKG)
    for name, content in change.items():
        if content is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(content)

    with pytest.raises(TrainshedError, match=message):
        write_report(folder)
    assert not (folder / "sbom.cdx.json").exists()


def test_packages_of_an_unknown_distribution_are_refused(tmp_path: Path) -> None:
    folder = bake_result(tmp_path, DPKG, base="windows-2025")

    with pytest.raises(TrainshedError, match="these are: ubuntu, amazon-linux"):
        write_report(folder)
