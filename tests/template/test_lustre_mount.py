"""The script that mounts Lustre at boot, run for real with stand-ins for the system's commands."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import aws_cdk as cdk
import pytest

from trainshed.plan import LustrePlan
from trainshed.spec import Compression, DeploymentType
from trainshed_constructs import LustreMount

FACTS = "fs-1.fsx.us-west-2.amazonaws.com\tabcdefgh"
SOURCE = "fs-1.fsx.us-west-2.amazonaws.com@tcp:/abcdefgh"
# Says what it was called with, answers with the first line of its answers and forgets that, and
# fails when the answer is `fail`.
STAND_IN = """#!/bin/bash
name="$(basename "$0")"
echo "${name} $*" >>"${CALLS}"
answers="${CALLS%/*}/${name}.answers"
[[ -s "${answers}" ]] || exit 0
answer="$(head -n 1 "${answers}")"
sed -i 1d "${answers}"
[[ "${answer}" != fail ]] || exit 32
echo "${answer}"
"""
COMMANDS = ("aws", "mount", "mount.lustre", "sleep", "systemctl")


@dataclass(frozen=True)
class Node:
    """A node whose /etc, mount point and commands are under one folder."""

    root: Path
    script: str

    def boot(
        self, *, without: str = "", **answers: list[str]
    ) -> "subprocess.CompletedProcess[str]":
        commands = self.root / "bin"
        commands.mkdir()
        for name in {*COMMANDS} - {without}:
            (commands / name).write_text(STAND_IN)
            (commands / name).chmod(0o755)
        for name, lines in answers.items():
            (self.root / f"{name}.answers").write_text("\n".join(lines) + "\n")
        return subprocess.run(
            ["/bin/bash"],
            input=self.script.replace("/etc/", f"{self.root}/etc/"),
            env={"PATH": f"{commands}:/usr/bin:/bin", "CALLS": str(self.root / "calls")},
            capture_output=True,
            text=True,
        )

    @property
    def calls(self) -> list[str]:
        return (self.root / "calls").read_text().splitlines()

    @property
    def fstab(self) -> str:
        return (self.root / "etc" / "fstab").read_text()

    @property
    def mount(self) -> Path:
        return self.root / "fsx"

    @property
    def drop_in(self) -> str:
        folder = self.root / "etc" / "systemd" / "system" / "ecs.service.d"
        return (folder / "lustre.conf").read_text()


@pytest.fixture
def node(tmp_path: Path) -> Node:
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
        mount=f"{tmp_path}/fsx",
        allow_replacement=False,
    )
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "fstab").write_text("UUID=1 / xfs defaults 0 0\n")
    script = LustreMount(cdk.Stack(), "Mount", plan=plan).script
    return Node(tmp_path, re.sub(r"^REGION=.*", "REGION=us-west-2", script, flags=re.MULTILINE))


def test_a_node_mounts_what_the_parameters_name_now_and_after_a_reboot(node: Node) -> None:
    done = node.boot(aws=[FACTS])

    assert done.returncode == 0, done.stderr
    assert f"mount -t lustre -o noatime,flock {SOURCE} {node.mount}" in node.calls
    assert node.mount.is_dir()
    assert node.fstab.splitlines() == [
        "UUID=1 / xfs defaults 0 0",
        f"{SOURCE} {node.mount} lustre defaults,noatime,flock,_netdev 0 0",
    ]
    [asked] = [call for call in node.calls if call.startswith("aws ")]
    assert "--region us-west-2" in asked
    assert "/trainshed/lustre/train/dns-name /trainshed/lustre/train/mount-name" in asked


def test_the_ecs_agent_is_held_before_anything_else(node: Node) -> None:
    node.boot(aws=[FACTS])

    assert node.calls[0] == "systemctl daemon-reload"
    assert f"AssertPathIsMountPoint={node.mount}" in node.drop_in
    assert f"RequiresMountsFor={node.mount}" in node.drop_in


def test_a_node_waits_for_parameters_that_come_later(node: Node) -> None:
    done = node.boot(aws=["", "fs-1.fsx.us-west-2.amazonaws.com", "fail", FACTS])

    assert done.returncode == 0, done.stderr
    assert node.calls.count("sleep 20") == 3
    assert "are not both published yet" in done.stdout
    assert f"mounted {SOURCE}" in done.stdout


def test_a_node_waits_for_dns_that_comes_later(node: Node) -> None:
    done = node.boot(aws=[FACTS] * 3, mount=["fail", "fail", ""])

    assert done.returncode == 0, done.stderr
    assert node.calls.count("sleep 20") == 2
    assert node.fstab.count("lustre") == 1


def test_a_node_that_cannot_mount_says_so_and_starts_no_job(node: Node) -> None:
    done = node.boot(aws=[FACTS] * 90, mount=["fail"] * 90)

    assert done.returncode == 1
    assert node.calls.count("sleep 20") == 90
    assert "attempt 90 of 90 failed" in done.stdout
    assert "the ECS agent stays down" in done.stderr
    assert "lustre" not in node.fstab
    assert f"AssertPathIsMountPoint={node.mount}" in node.drop_in


@pytest.mark.parametrize(
    ("missing", "message"), [("mount.lustre", "no Lustre client"), ("aws", "no AWS CLI")]
)
def test_an_image_that_can_never_mount_fails_at_once(
    node: Node, missing: str, message: str
) -> None:
    done = node.boot(without=missing)

    assert done.returncode == 1
    assert message in done.stderr
    assert "sleep 20" not in node.calls
    assert "AssertPathIsMountPoint" in node.drop_in
