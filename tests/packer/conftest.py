"""What tests of node programs and of the bake have in common."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import skips
from kernel_machine import QEMU, KernelMachine, NoKernel

SIZE = 320 * 1024 * 1024


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[list[str]]:
    """Three blank loop devices."""
    skips.unless("mkfs.xfs", root="it makes loop devices")
    made: list[str] = []
    try:
        for number in range(3):
            backing = tmp_path / f"disk{number}"
            with backing.open("wb") as file:
                file.truncate(SIZE)
            done = subprocess.run(
                ["losetup", "--find", "--show", str(backing)], capture_output=True, text=True
            )
            if done.returncode:
                pytest.skip(f"no loop devices here: {done.stderr.strip()}")
            made.append(done.stdout.strip())
        yield made
    finally:
        for device in made:
            subprocess.run(["losetup", "--detach", device], check=True)


@pytest.fixture(scope="session")
def kernel_machine(tmp_path_factory: pytest.TempPathFactory) -> KernelMachine:
    """A virtual machine with a kernel that has md, NFS and others."""
    skips.unless(QEMU)
    try:
        return KernelMachine(tmp_path_factory.mktemp("kernel"))
    except NoKernel as error:
        pytest.skip(str(error))
