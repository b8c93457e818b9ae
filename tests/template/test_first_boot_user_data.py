"""What user data has the AMI do at first boot; the script runs for real."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from trainshed.nodes.cells import ACCELERATORS
from trainshed.plan import Mount, StorageKind
from trainshed_constructs import FirstBoot

LIBRARY = Path(__file__).parents[2] / "packer" / "files" / "opt" / "trainshed" / "lib"
READ = """
import sys
from pathlib import Path
from typing import Any
sys.path.insert(0, sys.argv[1])
from trainshed_node.settings import read_settings
print(read_settings(Path(sys.argv[2])))
"""


@dataclass(frozen=True)
class Node:
    """A node whose /etc, /run and /opt are under one folder; systemd's commands are stand-ins."""

    root: Path
    script: str

    def boot(self) -> "subprocess.CompletedProcess[str]":
        commands = self.root / "bin"
        commands.mkdir(exist_ok=True)
        for name in ("systemctl", "systemd-cat"):
            (commands / name).write_text('#!/bin/bash\necho "${0##*/} $*" >>"${CALLS}"\n')
            (commands / name).chmod(0o755)
        script = self.script
        for folder in ("etc", "run", "opt"):
            script = script.replace(f"/{folder}/", f"{self.root}/{folder}/")
        return subprocess.run(
            ["/bin/bash"],
            input=script,
            env={"PATH": f"{commands}:/usr/bin:/bin", "CALLS": str(self.root / "calls")},
            capture_output=True,
            text=True,
        )

    def bake(self) -> None:
        """Give it the program that our images have."""
        program = self.root / "opt" / "trainshed" / "first-boot"
        program.parent.mkdir(parents=True)
        program.touch(mode=0o755)

    @property
    def settings(self) -> Path:
        return self.root / "etc" / "trainshed" / "first-boot.json"

    @property
    def calls(self) -> list[str]:
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def drop_in(self, unit: str) -> Path:
        folder = self.root / "run" / "systemd" / "system" / f"{unit}.service.d"
        return folder / "trainshed-node.conf"


def lustre(**changes: Any) -> Mount:
    return Mount(kind=StorageKind.LUSTRE, name="train", path="/fsx", **changes)


def configured(root: Path, **arguments: Any) -> Node:
    """A node whose user data is made with these arguments."""
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(region="us-west-2"))
    script = FirstBoot(stack, "FirstBoot", **arguments).script
    return Node(root, script.replace(cdk.Aws.REGION, "us-west-2"))


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return configured(tmp_path, mounts=[lustre()])


def test_the_ami_learns_what_to_mount(node: Node) -> None:
    node.bake()

    done = node.boot()

    assert done.returncode == 0, done.stderr
    assert json.loads(node.settings.read_text()) == {
        "region": "us-west-2",
        "lustre": {
            "mount": "/fsx",
            "dns_name_parameter": "/trainshed/lustre/train/dns-name",
            "mount_name_parameter": "/trainshed/lustre/train/mount-name",
        },
    }


def test_the_program_of_the_ami_understands_its_configuration(node: Node) -> None:
    node.bake()
    node.boot()

    read = subprocess.run(
        ["python3", "-c", READ, str(LIBRARY), str(node.settings)], capture_output=True, text=True
    )

    assert read.stdout.strip() == (
        "Settings(region='us-west-2', cluster='', devices={}, kubernetes='', monitoring=False, "
        "scratch=True, scratch_devices=(), mounts=(Mount(kind='lustre', path='/fsx', "
        "parameters={'dns_name': '/trainshed/lustre/train/dns-name', "
        "'mount_name': '/trainshed/lustre/train/mount-name'}, wait_seconds=1800, "
        "efa_interfaces=0),), signals=None, reserved=False)"
    )


def test_the_ami_learns_whose_node_it_is_on_and_which_devices_that_must_have(
    tmp_path: Path,
) -> None:
    node = configured(
        tmp_path,
        cluster="Train",
        devices={"efa": 8, "neuron": 16},
        kubernetes="1.35",
        monitoring=True,
        reserved=True,
    )
    node.bake()
    node.boot()

    read = subprocess.run(
        ["python3", "-c", READ, str(LIBRARY), str(node.settings)], capture_output=True, text=True
    )

    assert read.stdout.strip() == (
        "Settings(region='us-west-2', cluster='Train', devices={'efa': 8, 'neuron': 16}, "
        "kubernetes='1.35', monitoring=True, scratch=True, scratch_devices=(), mounts=(), "
        "signals=None, reserved=True)"
    )


def test_the_ami_learns_which_volumes_become_scratch_space(tmp_path: Path) -> None:
    node = configured(tmp_path, scratch_devices=["/dev/sdf", "/dev/sdg"])
    node.bake()
    node.boot()

    read = subprocess.run(
        ["python3", "-c", READ, str(LIBRARY), str(node.settings)], capture_output=True, text=True
    )

    assert "scratch_devices=('/dev/sdf', '/dev/sdg')" in read.stdout


@pytest.mark.parametrize("family", ACCELERATORS)
def test_the_ami_knows_the_devices_of_every_family_that_amis_are_for(
    tmp_path: Path, family: str
) -> None:
    node = configured(tmp_path, devices={family: 1})
    node.bake()
    node.boot()

    read = subprocess.run(
        ["python3", "-c", READ, str(LIBRARY), str(node.settings)], capture_output=True, text=True
    )

    assert f"devices={{'{family}': 1}}" in read.stdout, read.stderr


def test_an_efa_file_system_comes_with_the_number_of_interfaces(tmp_path: Path) -> None:
    node = configured(tmp_path, mounts=[lustre(efa_interfaces=8)])
    node.bake()
    node.boot()

    read = subprocess.run(
        ["python3", "-c", READ, str(LIBRARY), str(node.settings)], capture_output=True, text=True
    )

    assert "efa_interfaces=8" in read.stdout


@pytest.mark.parametrize("arguments", [{}, {"mounts": [lustre()]}], ids=["scratch", "lustre"])
def test_a_node_whose_first_boot_fails_powers_off(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    node = configured(tmp_path, **arguments)
    node.bake()

    done = node.boot()

    assert done.returncode == 0, done.stderr
    # systemd.unit(5): what to do when the unit fails.
    armed = node.drop_in("trainshed-first-boot").read_text()
    assert armed == "[Unit]\nFailureAction=poweroff\n"
    assert node.calls == ["systemctl daemon-reload"]
    assert not node.drop_in("ecs").exists()


def test_an_image_without_the_program_starts_no_job_and_powers_off(node: Node) -> None:
    done = node.boot()

    assert done.returncode == 1
    assert node.drop_in("ecs").read_text() == "[Unit]\nAssertPathIsMountPoint=/fsx\n"
    reload, message, power_off = node.calls
    assert reload == "systemctl daemon-reload"
    assert message.startswith("systemd-cat --identifier=trainshed --priority=err echo trainshed: ")
    assert power_off == "systemctl --no-block poweroff"
    assert "/fsx: this AMI has no" in done.stderr
    assert "use an AMI baked by trainshed ami build" in done.stderr


def test_an_image_without_the_program_does_not_take_the_root_volume_for_scratch_space(
    tmp_path: Path,
) -> None:
    node = configured(tmp_path, scratch_devices=["/dev/sdf"])

    done = node.boot()

    assert done.returncode == 1
    assert node.drop_in("ecs").read_text() == "[Unit]\nAssertPathIsMountPoint=/scratch\n"


def test_an_image_without_the_program_may_run_where_there_is_nothing_to_mount(
    tmp_path: Path,
) -> None:
    node = configured(tmp_path)

    done = node.boot()

    assert (done.returncode, node.calls) == (0, [])
    assert not (node.root / "run").exists()


def test_user_data_that_fails_powers_the_node_off(node: Node) -> None:
    node.bake()
    # Not a folder: the settings cannot be written.
    (node.root / "etc").write_text("")

    done = node.boot()

    assert done.returncode == 1
    assert node.calls[-1] == "systemctl --no-block poweroff"
    assert "user data failed in line" in done.stderr


def test_a_second_boot_changes_nothing(node: Node) -> None:
    node.bake()
    node.boot()
    first = node.settings.read_text()

    done = node.boot()

    assert done.returncode == 0, done.stderr
    assert node.settings.read_text() == first


def test_the_part_runs_before_services_and_at_each_boot() -> None:
    user_data = ec2.MultipartUserData()

    FirstBoot(cdk.Stack(), "FirstBoot").add_to(user_data)

    rendered = user_data.render()
    assert 'Content-Type: text/cloud-boothook; charset="us-ascii"' in rendered
    assert "#!/bin/bash\n" in rendered
