"""A throw-away overlay of this machine, in which functions of the scripts run for real."""

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from skips import needs
from vendors.bench import Vendors

ROOT = Path(__file__).parents[2]
UBUNTU, AMAZON_LINUX = "ubuntu-22.04", "amazon-linux-2023"

_ALONE = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
_TOOLS = ("unshare", "dnf", "rpm", "apt-get", "createrepo_c", "dpkg-scanpackages", "gpg")
# For `pytestmark`.
NEEDED = needs(*_TOOLS, root="it installs packages in an overlay of this machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayMachine:
    """This machine as `base`, without package sources; each run starts with a new one.

    Attributes:
        folder: an empty folder, for the overlay; seen by the machine as /bench, with what is in it.
        base: whose package manager is used.
        recipe: recipe.json.
        vendors: who can be reached, or None.
    """

    folder: Path
    base: str
    recipe: Path
    vendors: Vendors | None = None

    def run(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Run commands after the scripts' library; what they mount and start ends with them."""
        script = f"source /tmp/trainshed/lib/bake.sh test-job\n{commands}"
        machine = self.folder / "machine"
        machine.mkdir(exist_ok=True)
        inside = [
            *("chroot", f"{machine}/root"),
            *("env", "-i", "PATH=/usr/bin:/bin:/usr/sbin:/sbin", f"TRAINSHED_BASE={self.base}"),
            *("bash", "-c", script),
        ]
        command = f"{self._preparation(machine)}\nexec {shlex.join(inside)}"
        return subprocess.run(
            # With processes of its own: dnf leaves a gpg-agent behind for each repository.
            [*_ALONE, "bash", "-euc", command],
            capture_output=True,
            text=True,
            check=False,
        )

    def _preparation(self, machine: Path) -> str:
        here = {"accelerator": "habana", "orchestrator": "ec2", "base": self.base}
        recipe = here | json.loads(self.recipe.read_text())
        (self.folder / "recipe.json").write_text(json.dumps(recipe))
        (self.folder / "ami.json").write_text("{}")
        lines = f"""
            mount -t tmpfs overlay {machine}
            cd {machine}
            mkdir upper work root
            mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
            mount --bind /proc root/proc
            mount --bind /dev root/dev
            mount -t tmpfs tmp root/tmp
            mkdir -p root/opt root/bench root/tmp/trainshed
            mount --bind {self.folder} root/bench
            cp -r "{ROOT}/packer/files/opt/trainshed" root/opt/
            cp {self.folder}/ami.json {self.folder}/recipe.json root/opt/trainshed/
            cp -r "{ROOT}/packer/scripts/lib" root/tmp/trainshed/
            rm -rf root/etc/apt/sources.list* root/etc/yum.repos.d
            mkdir -p root/var/lib/rpm root/etc/rpm root/etc/dnf/vars
            echo '%_dbpath /var/lib/rpm' >root/etc/rpm/macros
            echo 2023.1.20260101 >root/etc/dnf/vars/releasever
        """
        if self.vendors:
            lines += f"""
                cat {self.vendors.hosts} >>root/etc/hosts
                cat {self.vendors.authority} >>root/etc/ssl/certs/ca-certificates.crt
            """
        return lines
