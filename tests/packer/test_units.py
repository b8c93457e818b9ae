"""The units of an AMI among those that they meet: one order, no circle.

systemd orders the real units of an AMI; what they meet is reduced to its ordering, as each
distribution ships it. Guests boot the whole with real cloud-init.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from node_root import FILES
from skips import needs

UNITS = FILES / "etc" / "systemd" / "system"
SERVICE = "[Service]\nType=oneshot\nExecStart=/bin/true\n"
# cloud-init's templates for the two variants, Docker's unit, and what AWS's packages bring.
COMMON = {
    "cloud-init-local.service": "DefaultDependencies=no\nBefore=network-pre.target",
    "cloud-config.service": "After=network-online.target\nWants=network-online.target",
    "docker.service": "After=network-online.target\nWants=network-online.target",
    "containerd.service": "After=network.target local-fs.target",
}
UBUNTU = {
    **COMMON,
    "cloud-init.service": "DefaultDependencies=no\nAfter=cloud-init-local.service\n"
    "Before=network-online.target sshd.service sysinit.target",
    "cloud-final.service": "After=network-online.target cloud-config.service multi-user.target",
    "cloud-init.target": "After=multi-user.target",
    # Enabled there, and not in multi-user.target, by 50-ecs.sh.
    "ecs.service": "After=docker.service",
}
AMAZON_LINUX = {
    **COMMON,
    "cloud-init.service": "DefaultDependencies=no\nAfter=cloud-init-local.service\n"
    "Before=network-online.target sshd.service",
    "cloud-final.service": "After=network-online.target cloud-config.service",
    "cloud-init.target": "After=multi-user.target",
    "ecs.service": "After=docker.service cloud-final.service",
    "nodeadm-config.service": "Before=cloud-init.service",
    "nodeadm-run.service": "After=nodeadm-config.service cloud-final.service\n"
    "Requires=nodeadm-config.service",
    "kubelet.service": "After=containerd.service\nWants=containerd.service",
}
CLOUD_INIT = ("cloud-init-local", "cloud-init", "cloud-config", "cloud-final")
WANTED = {
    "ubuntu": (UBUNTU, ("docker",), (*CLOUD_INIT, "ecs")),
    "amazon-linux": (AMAZON_LINUX, ("docker", "ecs", "nodeadm-config", "nodeadm-run"), CLOUD_INIT),
}
OURS = ("trainshed-first-boot", "trainshed-selftest", "trainshed-gdrcopy", "trainshed-spot")
STARTED_LATER = ("trainshed-unfit",)

pytestmark = needs("systemd-analyze")


def verify(
    folder: Path, system: str, multi_user_too: tuple[str, ...] = ()
) -> "subprocess.CompletedProcess[str]":
    """Have systemd order a boot into multi-user.target."""
    shutil.copytree(UNITS, folder, dirs_exist_ok=True)
    met, multi_user, cloud_init = WANTED[system]
    for name, ordering in met.items():
        unit = "" if name.endswith(".target") else SERVICE
        (folder / name).write_text(f"[Unit]\nDescription={name}\n{ordering}\n{unit}")
    for path in folder.glob("trainshed-*.service"):
        path.write_text(
            path.read_text().replace("ExecStart=/opt/trainshed/", "ExecStart=/bin/echo ")
        )
    for target, names in {
        "multi-user.target": (*multi_user, *multi_user_too, *OURS),
        "cloud-init.target": cloud_init,
    }.items():
        (folder / f"{target}.wants").mkdir()
        for name in names:
            (folder / f"{target}.wants" / f"{name}.service").symlink_to(f"../{name}.service")
    (folder / "multi-user.target.wants" / "cloud-init.target").symlink_to("../cloud-init.target")
    return subprocess.run(
        [
            *("systemd-analyze", "verify", "--man=no", "multi-user.target", "kubelet.service"),
            "trainshed-unfit.path",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:/usr/lib/systemd/system"},
    )


@pytest.mark.parametrize("system", ["ubuntu", "amazon-linux"])
def test_the_units_of_the_image_make_no_circle(tmp_path: Path, system: str) -> None:
    done = verify(tmp_path, system)

    assert "ordering cycle" not in done.stderr, done.stderr
    for name in (*OURS, *STARTED_LATER):
        assert name not in done.stderr, done.stderr


def test_an_agent_in_multi_user_target_would_be_a_circle_on_ubuntu(tmp_path: Path) -> None:
    done = verify(tmp_path, "ubuntu", ("ecs",))

    assert "ordering cycle" in done.stderr
