"""What user data tells the image of its Lustre file system; the script runs for real."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from trainshed.plan import LustrePlan
from trainshed.spec import Compression, DeploymentType
from trainshed_constructs import LustreMount

LIBRARY = Path(__file__).parents[2] / "packer" / "files" / "opt" / "trainshed" / "lib"
READ = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from trainshed_image.settings import read_settings
print(read_settings(Path(sys.argv[2])).lustre)
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
    def drop_in(self) -> Path:
        folder = self.root / "run" / "systemd" / "system" / "ecs.service.d"
        return folder / "trainshed-lustre.conf"


@pytest.fixture
def mount() -> LustreMount:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(region="us-west-2"))
    plan = LustrePlan(
        name="train",
        stack_name="TrainStorage",
        network="train",
        zone=None,
        deployment=DeploymentType.SCRATCH_2,
        capacity_gib=1200,
        throughput=None,
        metadata_iops=None,
        efa=False,
        compression=Compression.LZ4,
        s3=None,
        mount="/fsx",
        allow_replacement=False,
    )
    return LustreMount(stack, "Mount", plan=plan)


@pytest.fixture
def node(tmp_path: Path, mount: LustreMount) -> Node:
    script = mount.script.replace(cdk.Aws.REGION, "us-west-2")
    return Node(tmp_path, script)


def test_the_image_is_told_what_to_mount(node: Node) -> None:
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


def test_the_program_of_the_image_understands_what_it_is_told(node: Node) -> None:
    node.bake()
    node.boot()

    read = subprocess.run(
        ["python3", "-c", READ, str(LIBRARY), str(node.settings)], capture_output=True, text=True
    )

    assert read.stdout.strip() == (
        "Lustre(mount='/fsx', region='us-west-2', "
        "dns_name_parameter='/trainshed/lustre/train/dns-name', "
        "mount_name_parameter='/trainshed/lustre/train/mount-name', wait_seconds=1800)"
    )


def test_user_data_holds_nothing_where_the_image_does(node: Node) -> None:
    node.bake()

    node.boot()

    assert not node.drop_in.exists()
    assert not (node.root / "calls").exists()


def test_an_image_without_the_program_keeps_the_ecs_agent_down_and_says_what_to_do(
    node: Node,
) -> None:
    done = node.boot()

    assert done.returncode == 1
    assert node.drop_in.read_text() == "[Unit]\nAssertPathIsMountPoint=/fsx\n"
    reload, message = (node.root / "calls").read_text().splitlines()
    assert reload == "systemctl daemon-reload"
    assert message.startswith("systemd-cat --identifier=trainshed --priority=err echo trainshed: ")
    assert "this image has no" in done.stderr
    assert "use an image baked by trainshed ami build" in done.stderr


def test_a_second_boot_changes_nothing(node: Node) -> None:
    node.bake()
    node.boot()
    first = node.settings.read_text()

    done = node.boot()

    assert done.returncode == 0, done.stderr
    assert node.settings.read_text() == first


def test_the_part_runs_before_services_and_at_each_boot(mount: LustreMount) -> None:
    user_data = ec2.MultipartUserData()

    mount.add_to(user_data)

    rendered = user_data.render()
    assert 'Content-Type: text/cloud-boothook; charset="us-ascii"' in rendered
    assert "#!/bin/bash\n" in rendered
