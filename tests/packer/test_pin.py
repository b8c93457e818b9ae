"""What provisioning scripts read of the pins, by the image's own program."""

import ast
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from node_root import FILES, VERSIONS

from trainshed import pins as toolkit_pins
from trainshed_node.pins import read_pins

PROGRAMS = FILES / "opt" / "trainshed"
IMAGE = {"accelerator": "nvidia", "orchestrator": "ecs", "base": "amazon-linux-2023"}
PINS: dict[str, Any] = {
    "bases": {"amazon-linux-2023": {"kernel": "6.18.1", "release": "2023.1"}},
    "components": {
        "installer": {
            "version": "1.2",
            "sources": {"any": {"kind": "archive", "url": "https://{version}.gz", "sha256": None}},
        },
        "driver": {
            "version": "580",
            "accelerators": ["nvidia"],
            "sources": {
                "amazon-linux-2023": {
                    "kind": "dnf",
                    "version": "580-1",
                    "packages": {
                        "kmod-nvidia-open-dkms": "580-1",
                        "kmod-nvidia-latest-dkms": "580-1",
                        "tools": "3",
                    },
                }
            },
        },
        "other-accelerator": {
            "version": "1",
            "accelerators": ["habana"],
            "sources": {"any": {"kind": "archive"}},
        },
        "other-orchestrator": {
            "version": "1",
            "orchestrators": ["eks"],
            "sources": {"any": {"kind": "archive"}},
        },
        "other-base": {"version": "1", "sources": {"ubuntu-22.04": {"kind": "apt"}}},
    },
}


class Home:
    """A directory that stands for /opt/trainshed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "lib").symlink_to(PROGRAMS / "lib")
        (path / "pin").write_bytes((PROGRAMS / "pin").read_bytes())
        (path / "pin").chmod(0o755)
        self.write("pins.json", PINS)
        self.write("image.json", IMAGE)

    def write(self, name: str, document: object) -> None:
        (self.path / name).write_text(json.dumps(document))

    def pin(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([str(self.path / "pin"), *arguments], capture_output=True, text=True)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_url_has_the_version_in_it(home: Home) -> None:
    assert home.pin("installer", "url").stdout == "https://1.2.gz\n"


def test_a_field_that_a_source_does_not_have_is_an_empty_line(home: Home) -> None:
    assert home.pin("installer", "sha256").stdout == "\n"
    assert home.pin("installer", "signature").stdout == "\n"


def test_the_version_of_a_source_counts_before_the_component_s(home: Home) -> None:
    assert home.pin("driver", "version").stdout == "580-1\n"


@pytest.mark.parametrize(
    ("driver", "kept"),
    [("open", "kmod-nvidia-open-dkms"), ("proprietary", "kmod-nvidia-latest-dkms")],
)
def test_packages_are_one_a_line_and_only_those_of_the_chosen_driver(
    home: Home, driver: str, kept: str
) -> None:
    home.write("image.json", {**IMAGE, "nvidia_driver": driver})

    assert home.pin("driver", "packages").stdout == f"{kept} 580-1\ntools 3\n"


@pytest.mark.parametrize(
    ("driver", "releases"), [("open", {"cuda13"}), ("proprietary", {"cuda12", "cuda13"})]
)
def test_dcgm_has_the_parts_for_cuda_12_only_where_v100_may_be(
    home: Home, driver: str, releases: set[str]
) -> None:
    home.write("image.json", {**IMAGE, "nvidia_driver": driver})
    home.write("pins.json", json.loads(VERSIONS.read_text()))

    names = {line.split()[0] for line in home.pin("nvidia-dcgm", "packages").stdout.splitlines()}

    prefix = "datacenter-gpu-manager-4-"
    parts = {"core", "proprietary", *releases, *(f"proprietary-{each}" for each in releases)}
    assert names == {f"{prefix}{part}" for part in parts}


@pytest.mark.parametrize(
    ("driver", "kept"),
    [
        ("open", ["nvidia-dkms-580-open", "nvidia-kernel-source-580-open"]),
        ("proprietary", ["nvidia-dkms-580", "nvidia-kernel-source-580"]),
    ],
)
def test_ubuntus_packages_are_those_of_the_chosen_driver(
    home: Home, driver: str, kept: list[str]
) -> None:
    home.write("pins.json", json.loads(VERSIONS.read_text()))
    cell = {"accelerator": "nvidia", "orchestrator": "ec2", "base": "ubuntu-24.04"}
    home.write("image.json", {**cell, "nvidia_driver": driver})

    told = home.pin("nvidia-driver", "packages").stdout.splitlines()

    names = [line.split()[0] for line in told]
    modules = ("nvidia-dkms-", "nvidia-kernel-source-")
    assert [name for name in names if name.startswith(modules)] == kept
    assert {"nvidia-utils-580", "nvidia-kernel-common-580"} <= set(names)
    assert home.pin("nvidia-driver", "suite").stdout == "/\n"
    assert home.pin("docker", "suite").stdout == "noble\n"


def test_the_base_has_a_kernel(home: Home) -> None:
    assert home.pin("base", "kernel").stdout == "6.18.1\n"


def test_only_the_components_of_the_cell_are_listed(home: Home) -> None:
    assert home.pin("--list").stdout == "installer\ndriver\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing", "url"), "missing: is no component of nvidia/ecs on amazon-linux-2023"),
        (("other-base", "url"), "other-base: is no component"),
        (("installer", "color"), "installer: has no field 'color'; these are: version, kind"),
        (("base", "color"), "base: has no field 'color'; these are: release, suite, k"),
    ],
)
def test_what_is_not_pinned_stops_the_bake_with_one_line(
    home: Home, arguments: tuple[str, ...], message: str
) -> None:
    done = home.pin(*arguments)

    assert done.returncode == 1
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith(f"trainshed: ERROR: {message}")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("image.json", None, "image.json: is not there"),
        ("image.json", "[]", "image.json: is not a JSON object"),
        ("pins.json", "{", "pins.json: is not JSON"),
        ("image.json", '{"accelerator": "nvidia"}', "orchestrator has to be a text"),
        (
            "image.json",
            json.dumps({**IMAGE, "base": "debian"}),
            "debian: is no base of pins.json; these are: amazon-linux-2023",
        ),
    ],
)
def test_documents_that_cannot_be_read_are_told_without_a_traceback(
    home: Home, name: str, content: str | None, message: str
) -> None:
    if content is None:
        (home.path / name).unlink()
    else:
        (home.path / name).write_text(content)

    done = home.pin("installer", "url")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert message in line


@pytest.mark.parametrize(
    ("accelerator", "orchestrator", "base"), list(toolkit_pins.read_pins(VERSIONS).cells())
)
def test_every_component_of_every_cell_can_be_read(
    home: Home, accelerator: str, orchestrator: str, base: str
) -> None:
    home.write("pins.json", json.loads(VERSIONS.read_text()))
    cell = {"accelerator": accelerator, "orchestrator": orchestrator, "base": base}
    home.write("image.json", {**cell, "nvidia_driver": "open"})

    pins = read_pins(home.path)

    assert "efa-installer" in pins.components
    assert any(name.startswith(accelerator) for name in pins.components)
    for component in pins.components.values():
        assert component.version
        assert component.field("kind") == "archive" or component.packages, component.name
        assert "{" not in str(component.field("suite")), component.name
    asked = toolkit_pins.read_pins(VERSIONS).cell(accelerator, orchestrator, base)
    assert {each.name: each.version for each in pins.components.values()} == {
        name: source.version for name, source in asked.items()
    }


@pytest.mark.parametrize(
    "path", [path for path in PROGRAMS.rglob("*") if path.is_file()], ids=lambda path: path.name
)
def test_the_programs_are_written_for_the_python_of_amazon_linux(path: Path) -> None:
    source = path.read_text()

    ast.parse(source, feature_version=(3, 9))
    if path.parent == PROGRAMS:
        assert source.startswith("#!/usr/bin/python3 -IB\n")
        assert path.stat().st_mode & 0o111
