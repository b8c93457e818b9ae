"""What the stub distributions offer: kernels, headers, and what else the scripts install."""

from vendors.accelerators import bare
from vendors.kernel import headers, kernel
from vendors.package import Contents, File, Package, program
from vendors.services import daemon, unit

# Versions of what nobody pins; low, so that the real package of the guest's root is never replaced.
TOOL_VERSION = "0.1"

# Tools of the guests' root that the distribution's package need only stand for.
TOOLS = (
    *("acl", "bzip2", "ca-certificates", "curl", "dkms", "dnf-plugin-versionlock", "elfutils"),
    *("gcc", "git", "gnupg", "gnupg2", "gzip", "iproute", "iproute2", "jq", "kmod", "lvm2"),
    *("make", "mdadm", "nvme-cli", "openssl", "pciutils", "perl", "python3", "rsync", "tar"),
    *("unzip", "util-linux", "wget", "xfsprogs", "xz", "zip", "zstd"),
)


def lustre_client(version: str) -> Contents:
    """What `mount -t lustre` and `lfs` need; here it answers that there is no such module."""
    return Contents(
        files={
            "/usr/sbin/mount.lustre": program(
                "echo 'mount.lustre: no lustre module here' >&2\nexit 19\n"
            ),
            "/usr/bin/lfs": program(f"echo 'lfs {bare(version)}'\n"),
            "/usr/sbin/lctl": program(f"echo 'lctl {bare(version)}'\n"),
        }
    )


def systems_manager_agent(version: str) -> Contents:
    """The Session Manager agent."""
    return Contents(
        files={
            "/usr/bin/amazon-ssm-agent": daemon(f"SSM Agent version: {bare(version)}"),
            "/usr/lib/systemd/system/amazon-ssm-agent.service": unit(
                "amazon-ssm-agent", "/usr/bin/amazon-ssm-agent"
            ),
        },
        folders=("/etc/amazon/ssm", "/var/log/amazon/ssm"),
    )


def cloudwatch_agent(version: str) -> Contents:
    """The CloudWatch agent and its control program."""
    home = "/opt/aws/amazon-cloudwatch-agent"
    return Contents(
        files={
            f"{home}/bin/amazon-cloudwatch-agent": daemon(f"CWAgent/{bare(version)}"),
            f"{home}/bin/amazon-cloudwatch-agent-ctl": program(
                "exec systemctl enable --now amazon-cloudwatch-agent\n"
            ),
            f"{home}/bin/CWAGENT_VERSION": File(text=f"{bare(version)}\n"),
            "/usr/lib/systemd/system/amazon-cloudwatch-agent.service": unit(
                "Amazon CloudWatch Agent", f"{home}/bin/amazon-cloudwatch-agent"
            ),
        },
        folders=(f"{home}/etc", f"{home}/etc/amazon-cloudwatch-agent.d", f"{home}/logs"),
    )


def chrony(version: str) -> Contents:
    """Time synchronisation, whose unit is called differently everywhere."""
    service = "chronyd" if "amzn" in version else "chrony"
    return Contents(
        files={
            "/usr/sbin/chronyd": daemon(f"chronyd (chrony) version {bare(version)}"),
            "/usr/bin/chronyc": program("exit 0\n"),
            f"/usr/lib/systemd/system/{service}.service": unit("chrony", "/usr/sbin/chronyd"),
        },
        folders=("/etc/chrony", "/etc/chrony/sources.d", "/etc/chrony.d"),
    )


def tools(known: set[str]) -> list[Package]:
    """Packages that stand for tools of the guests' root, but for those that are pinned."""
    return [
        Package(name=name, version=TOOL_VERSION, contents=Contents())
        for name in TOOLS
        if name not in known
    ]


def ubuntu_kernel_image(name: str, _: str) -> Contents:
    """linux-image-RELEASE."""
    return kernel(name.removeprefix("linux-image-"))


def ubuntu_kernel_headers(name: str, _: str) -> Contents:
    """linux-headers-RELEASE."""
    release = name.removeprefix("linux-headers-")
    return headers(release, folder=f"/usr/src/linux-headers-{release}")


def amazon_kernel(_: str, version: str) -> Contents:
    """kernel, or kernel6.18 and the like: `uname -r` is version, release and architecture."""
    return kernel(f"{version}.x86_64")


def amazon_kernel_headers(_: str, version: str) -> Contents:
    """kernel-devel."""
    release = f"{version}.x86_64"
    return headers(release, folder=f"/usr/src/kernels/{release}")
