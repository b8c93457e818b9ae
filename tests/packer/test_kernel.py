"""One kernel stays in the image, and every driver is built for it."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from overlay_machine import AMAZON_LINUX, NEEDED, ROOT, UBUNTU, OverlayMachine
from vendors.debian import build_deb
from vendors.package import Contents, Package
from vendors.redhat import build_rpms

pytestmark = NEEDED

KERNELS = {UBUNTU: "6.8.0-1063-aws", AMAZON_LINUX: "6.18.51-120.163.amzn2023.x86_64"}
STAYING = {
    UBUNTU: {
        "linux-image-6.8.0-1063-aws": "6.8.0-1063.66",
        "linux-modules-6.8.0-1063-aws": "6.8.0-1063.66",
        "linux-aws-6.8-headers-6.8.0-1063": "6.8.0-1063.66",
        "linux-headers-6.8.0-1063-aws": "6.8.0-1063.66",
        "linux-base": "4.5",
    },
    AMAZON_LINUX: {
        "kernel6.18": "6.18.51-120.163.amzn2023",
        "kernel6.18-devel": "6.18.51-120.163.amzn2023",
        "kernel-srpm-macros": "1.0-1",
    },
}
GOING = {
    UBUNTU: {
        "linux-image-5.15.0-1004-aws": "5.15.0-1004.6",
        "linux-aws-headers-5.15.0-1004": "5.15.0-1004.6",
    },
    AMAZON_LINUX: {
        "kernel": "6.1.10-15.42.amzn2023",
        "kernel-modules-extra": "6.1.10-15.42.amzn2023",
    },
}
LISTING = {
    UBUNTU: "dpkg-query --show --showformat '${db:Status-Status} ${Package}\\n' 'linux-*' |"
    " sed -n 's/^installed //p'",
    AMAZON_LINUX: "rpm --query --all --queryformat '%{NAME}\\n'",
}


@pytest.fixture(params=[UBUNTU, AMAZON_LINUX])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> OverlayMachine:
    base = request.param
    recipe = tmp_path / "pinned.json"
    recipe.write_text(json.dumps({"kernel": KERNELS[base], "components": {}}))
    return OverlayMachine(folder=tmp_path, base=base, recipe=recipe)


def build(machine: OverlayMachine, packages: dict[str, str]) -> str:
    """Make packages that the machine sees; return the command that installs them."""
    made = [
        Package(name=name, version=version, contents=Contents())
        for name, version in packages.items()
    ]
    folder = machine.folder / "packages"
    folder.mkdir()
    if machine.base == UBUNTU:
        for package in made:
            build_deb(package, folder)
        # This machine's own kernels do not belong to the test.
        return (
            r"sed -n 's/^Package: \(linux-[ih].*-[0-9].*\)/\1/p' /var/lib/dpkg/status |"
            " xargs --no-run-if-empty dpkg --purge --force-all >/tmp/log 2>&1\n"
            "dpkg --install /bench/packages/*.deb >/tmp/log"
        )
    with tempfile.TemporaryDirectory() as work:
        build_rpms(made, folder, Path(work))
    return "rpm --install --nodeps --nosignature --force-debian /bench/packages/*.rpm"


def test_every_other_kernel_is_removed(machine: OverlayMachine) -> None:
    install = build(machine, STAYING[machine.base] | GOING[machine.base])

    done = machine.run(f"{install}\nremove_other_kernels\n{LISTING[machine.base]}")

    assert (done.returncode, done.stderr) == (0, "")
    listed = set(done.stdout.split())
    assert set(STAYING[machine.base]) <= listed
    assert not set(GOING[machine.base]) & listed


def test_nothing_is_removed_when_there_is_one_kernel(machine: OverlayMachine) -> None:
    install = build(machine, STAYING[machine.base])

    done = machine.run(f"{install}\nremove_other_kernels\n{LISTING[machine.base]}")

    assert (done.returncode, done.stderr) == (0, "")
    assert set(STAYING[machine.base]) <= set(done.stdout.split())


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    return line


def test_a_machine_that_runs_another_kernel_is_refused(machine: OverlayMachine) -> None:
    done = machine.run("require_pinned_kernel")

    assert last_line(done).startswith("trainshed: ERROR: kernel: this machine runs ")


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ("efa/3.3.0, @KERNEL@, x86_64: installed", None),
        # dkms before 3 wrote a comma.
        ("efa, 3.3.0, @KERNEL@, x86_64: installed", None),
        ("efa/3.3.0: added", "dkms module efa/3.3.0 is not installed for @KERNEL@"),
        ("efa/3.3.0, 5.15.0-1004-aws, x86_64: installed", "is not installed for @KERNEL@"),
        ("nvidia/580.1, @KERNEL@, x86_64: installed", "dkms knows no module efa"),
    ],
)
def test_a_driver_has_to_be_built_for_the_pinned_kernel(
    machine: OverlayMachine, status: str, message: str | None
) -> None:
    kernel = KERNELS[machine.base]
    (machine.folder / "status").write_text(status.replace("@KERNEL@", kernel) + "\n")
    # dkms as far as it is asked: `status` of a module and a kernel lists only that one.
    dkms = """
        dkms() {
          case $* in
            autoinstall*) ;;
            status) cat /bench/status ;;
            *) grep "^$3[/,] *$5.*$7" /bench/status || true ;;
          esac
        }
    """

    done = machine.run(f"{dkms}\nrequire_dkms_modules efa-installer efa")

    if message:
        assert message.replace("@KERNEL@", kernel) in last_line(done)
    else:
        assert (done.returncode, done.stderr) == (0, "")


# As the manual page of grubby has it: it knows the kernels of /boot only.
GRUBBY = """
    grubby() {
      case $1 in
        --set-default=*) test -e "${1#*=}" && echo "default ${1#*=}" >>/tmp/entries ;;
        --update-kernel=*) test -e "${1#*=}" && echo "${1#*=} ${2#--args=}" >>/tmp/entries ;;
        *) echo "grubby: unknown option $1" >&2; return 1 ;;
      esac
    }
"""
# update-grub reads the files in order with sh, after the distribution's own.
UPDATE_GRUB = """
    update-grub() {
      sh -c 'GRUB_CMDLINE_LINUX_DEFAULT="console=ttyS0"
        . /etc/default/grub.d/90-trainshed.cfg
        echo "default $GRUB_DEFAULT"; echo "$GRUB_CMDLINE_LINUX_DEFAULT"' >/tmp/entries
    }
    unset -f grubby
"""
ARGUMENTS = "clocksource=tsc tsc=reliable intel_idle.max_cstate=1 processor.max_cstate=1"


def test_the_boot_loader_gets_the_kernel_and_its_arguments(machine: OverlayMachine) -> None:
    kernel = KERNELS[machine.base]
    loader = UPDATE_GRUB if machine.base == UBUNTU else GRUBBY
    # Through the bench: the machine has a /tmp of its own, where this checkout may be.
    shutil.copy(ROOT / "packer/files/etc/trainshed/kernel-arguments", machine.folder)

    done = machine.run(
        "install -D /bench/kernel-arguments /etc/trainshed/kernel-arguments\n"
        f"mkdir -p /boot; touch /boot/vmlinuz-{kernel}\n{loader}\n"
        f"boot_by_default {kernel}\ncat /tmp/entries"
    )

    expected = {
        UBUNTU: [f"default Ubuntu, with Linux {kernel}", f"console=ttyS0 {ARGUMENTS}"],
        AMAZON_LINUX: [f"default /boot/vmlinuz-{kernel}", f"/boot/vmlinuz-{kernel} {ARGUMENTS}"],
    }
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == expected[machine.base]
