"""What the stub distributions offer: kernels, headers, and what else the scripts install."""

from vendors.kernel import headers, kernel, lustre_module
from vendors.package import Contents, File, Package, bare, program
from vendors.services import daemon, unit
from vendors.snaps import REFUSAL

# Versions of what nobody pins; low, so that the real package of the guest's root is never replaced.
TOOL_VERSION = "0.1"

# Real programs of the guests' root, which the distribution's packages need only stand for.
_STAND_INS = (
    *("ca-certificates", "dkms", "gcc", "gzip", "jq", "kmod", "make", "mdadm", "nvme-cli"),
    *("pciutils", "python3", "tar", "unzip", "xfsprogs", "xz"),
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
        after_install=REFUSAL,
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
            "/etc/chrony/chrony.conf": File(text="pool ntp.ubuntu.com iburst maxsources 4\n"),
            f"/usr/lib/systemd/system/{service}.service": unit("chrony", "/usr/sbin/chronyd"),
        },
        folders=("/etc/chrony/sources.d", "/etc/chrony.d"),
    )


def tools() -> list[Package]:
    """Packages that nobody pins: their version is that of the distribution's release."""
    return [Package(name=name, version=TOOL_VERSION, contents=Contents()) for name in _STAND_INS]


def aws_cli(version: str) -> Contents:
    """The real AWS CLI of the guests' root, which says that it is of this version."""
    return Contents(
        files={
            "/usr/bin/aws": program(
                f'case "$*" in --version) echo "aws-cli/{bare(version)} stub"; exit 0;; esac\n'
                'exec /opt/aws-cli/bin/aws "$@"\n'
            )
        }
    )


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


def amazon_modules_extra(_: str, version: str) -> Contents:
    """kernel-modules-extra, with the Lustre module that Amazon Linux builds with its kernels."""
    return lustre_module(f"{version}.x86_64", "2.15.6")


def ubuntu_lustre_modules(name: str, version: str) -> Contents:
    """lustre-client-modules-RELEASE, from the Lustre client's own repository."""
    return lustre_module(name.removeprefix("lustre-client-modules-"), bare(version))
