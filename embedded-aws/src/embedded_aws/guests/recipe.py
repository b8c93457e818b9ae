"""What the roots are made of: packages, files, and one hash over all of it."""

import hashlib
from functools import cache
from pathlib import Path

SUITE = "bookworm"
# The one that PyPI has; it finds the embedded AWS by AWS_ENDPOINT_URL.
AWS_CLI = "awscli==1.46.2"

# In every root. cloud-init is not debootstrap's to install: with it, debootstrap leaves
# python3-cryptography, which needs a virtual package, unconfigured.
BASE_PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "udev", "openssh-server", "sudo", "cloud-init"),
    *("python3", "python3-venv", "ca-certificates", "curl", "gpg", "gpg-agent", "iproute2"),
    *("kmod", "libnss-myhostname", "procps", "xz-utils", "unzip", "lsb-release", "mdadm"),
    *("xfsprogs", "e2fsprogs"),
    # dkms builds drivers for real, against the stub kernel's headers; it brings gcc.
    *("dkms", "make", "libc6-dev"),
)
# dnf-plugins-core has versionlock.
AMAZON_PACKAGES = ("rpm", "dnf", "dnf-plugins-core")

# Nothing that a guest is asked for; they would look for updates and disks of their own accord.
MASKED_UNITS = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "fstrim.timer"),
    *("e2scrub_all.timer", "e2scrub_reap.service", "mdmonitor.service", "mdadm-shutdown.service"),
    *("console-getty.service", "getty.target", "systemd-udevd.service"),
    *("systemd-udev-trigger.service", "systemd-networkd.service", "systemd-resolved.service"),
)
# The kernel that the source AMI came with, older than any that is baked.
STOCK_KERNELS = {
    "ubuntu": "5.15.0-1004-aws",
    "noble": "6.8.0-1008-aws",
    "amazon": "6.1.10-15.42.amzn2023.x86_64",
}

FILES = Path(__file__).with_name("roots")


@cache
def recipe_hash() -> str:
    """Return 12 hex digits that change with anything that the roots are made of."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    digest.update(Path(__file__).with_name("prepare.py").read_bytes())
    for file in sorted(path for path in FILES.rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(FILES)}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def prepared(roots: Path) -> Path:
    """Return the folder of the roots of this recipe, whether they are made or not."""
    return roots / recipe_hash()
