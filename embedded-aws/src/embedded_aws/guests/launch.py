"""The launch data of an instance, and the files through which its guest gets them.

The files are in /run/embedded-aws, which is not on the guest's disk, so no AMI contains them.
cloud-init's configuration in the roots points there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# Settings of the unit of sshd.
SSH_UNIT = "ssh.conf"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestLaunch:
    """The launch data of an instance.

    Attributes:
        instance_id: EC2's.
        public_key: line for the default user's authorized keys, or None.
        user_data: as cloud-init gets it.
        account: the instance's account.
        region: its region.
        environment: environment variables of its services and logins.
        ssh: whether it opens its ssh port; False is for tests of programs that wait for it.
    """

    instance_id: str
    public_key: str | None
    user_data: bytes
    account: str
    region: str
    environment: Mapping[str, str]
    ssh: bool = True

    def write(self, folder: Path, address: str) -> None:
        """Write the files.

        Args:
            folder: to create; /run/embedded-aws in the guest.
            address: of the guest.
        """
        seed = folder / "seed"
        seed.mkdir(parents=True)
        # As AWS names instances: after their private address.
        hostname = f"ip-{address.replace('.', '-')}"
        keys = f"public-keys: [{self.public_key!r}]\n" if self.public_key else ""
        (seed / "meta-data").write_text(
            f"instance-id: {self.instance_id}\nlocal-hostname: {hostname}\n{keys}"
        )
        (seed / "user-data").write_bytes(self.user_data)
        start = f"/usr/sbin/sshd -D -o ListenAddress={address} $SSHD_OPTS"
        (folder / SSH_UNIT).write_text(
            f"[Service]\nExecStart=\nExecStart={start if self.ssh else '/bin/sleep infinity'}\n"
            + ("" if self.ssh else "Type=simple\n")
        )
