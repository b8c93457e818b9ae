"""Launching guests in tests, and a way in."""

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedded_aws.embedded import EmbeddedAws

UBUNTU = "ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20260731"
AMAZON = "al2023-ami-2023.12.20260930.0-kernel-6.18-x86_64"
_PATIENCE_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """An instance that is a guest.

    Attributes:
        ec2: client of its account and region.
        instance_id: its id.
        address: where it answers.
        key: file with the private key.
        user: who may log in.
    """

    ec2: Any
    instance_id: str
    address: str
    key: Path
    user: str = "ubuntu"

    def describe(self) -> dict[str, Any]:
        answer = self.ec2.describe_instances(InstanceIds=[self.instance_id])
        found: dict[str, Any] = answer["Reservations"][0]["Instances"][0]
        return found

    @property
    def state(self) -> str:
        return str(self.describe()["State"]["Name"])

    def try_ssh(self, command: str) -> subprocess.CompletedProcess[str]:
        options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "ConnectTimeout=2")
        return subprocess.run(
            [
                *("ssh", "-i", str(self.key), "-o", "LogLevel=ERROR", "-o", "BatchMode=yes"),
                *(word for option in options for word in ("-o", option)),
                f"{self.user}@{self.address}",
                command,
            ],
            capture_output=True,
            text=True,
            check=False,
        )

    def ssh(self, command: str) -> str:
        done = self.try_ssh(command)
        assert done.returncode == 0, f"{command!r} ended with {done.returncode}: {done.stderr}"
        return done.stdout.strip()

    def wait_for(self, what: str, happened: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not happened():
            assert time.monotonic() < deadline, f"{self.instance_id}: {what} never happened"
            time.sleep(0.05)

    def wait_for_state(self, state: str) -> None:
        self.wait_for(state, lambda: self.state == state)

    def wait_for_ssh(self) -> None:
        self.wait_for("a listener", self._listens)
        self.wait_for("ssh", lambda: self.try_ssh("true").returncode == 0)

    def _listens(self) -> bool:
        """Ask cheaply: guests boot on the cores that wait for them."""
        with socket.socket() as probe:
            return probe.connect_ex((self.address, 22)) == 0

    def wait_for_boot_after(self, boot_id: str) -> None:
        """Wait until another boot than the one of this id lets us in."""
        self.wait_for("another boot", lambda: self._boot_id() not in (boot_id, ""))

    def _boot_id(self) -> str:
        if not self._listens():
            return ""
        done = self.try_ssh(BOOT_ID)
        return done.stdout.strip() if done.returncode == 0 else ""


# A guest has the host's kernel and its boot id; the start of its own first process tells boots.
BOOT_ID = "stat -c %Y.%i /proc/1/cmdline; cut -d' ' -f22 /proc/1/stat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """An embedded AWS with guests, and what launches need in it."""

    aws: EmbeddedAws
    ec2: Any
    subnet_id: str
    key_name: str
    key: Path

    def image_id(self, name: str) -> str:
        found = self.ec2.describe_images(
            Owners=["099720109477", "137112412989"], Filters=[{"Name": "name", "Values": [name]}]
        )["Images"]
        return str(found[0]["ImageId"])

    def launch(self, image_id: str, *, user: str = "ubuntu", **more: Any) -> Guest:
        """Launch without waiting."""
        answer = self.ec2.run_instances(
            **{
                "ImageId": image_id,
                "InstanceType": "m6i.xlarge",
                "MinCount": 1,
                "MaxCount": 1,
                "KeyName": self.key_name,
                "SubnetId": self.subnet_id,
                **more,
            }
        )
        [instance] = answer["Instances"]
        return Guest(
            ec2=self.ec2,
            instance_id=instance["InstanceId"],
            address=instance["PrivateIpAddress"],
            key=self.key,
            user=user,
        )

    @contextmanager
    def launched(self, image_id: str, **more: Any) -> Iterator[Guest]:
        """Launch, wait for ssh, and terminate at the end."""
        guest = self.launch(image_id, **more)
        try:
            guest.wait_for_ssh()
            yield guest
        finally:
            self.ec2.terminate_instances(InstanceIds=[guest.instance_id])

    def wait_for_image(self, image_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            image: dict[str, Any] = self.ec2.describe_images(ImageIds=[image_id])["Images"][0]
            if image["State"] == "available":
                return image
            assert time.monotonic() < deadline, f"{image_id} is {image['State']}"
            time.sleep(0.05)


def make_bench(aws: EmbeddedAws, folder: Path) -> Bench:
    ec2 = aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    # The guests' server may be another bench's, too.
    pair = ec2.create_key_pair(KeyName=folder.name, KeyType="ed25519")
    key = folder / "key"
    key.write_text(pair["KeyMaterial"])
    key.chmod(0o600)
    return Bench(aws=aws, ec2=ec2, subnet_id=subnet, key_name=folder.name, key=key)
