"""The self-test of an AMI: a healthy machine passes, and each fault is reported.

systemd, dkms, modinfo and the vendors' tools are stand-ins, and devices are folders under /sys;
packages are real entries of dpkg's database, settings and limits real files. Bakes in guests run
it with real systemd, dkms and package managers of both bases.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from node_root import KERNEL, NodeRoot, needs_namespaces

pytestmark = needs_namespaces

RUNNING = (
    *("chrony", "amazon-ssm-agent", "amazon-cloudwatch-agent", "trainshed-first-boot"),
    *("trainshed-selftest", "trainshed-spot", "trainshed-idle-check.timer", "docker", "ecs"),
)
CLIENTS = ("mount.lustre", "mount.efs", "mount.nfs", "mount.mount-s3")
PACKAGES = {
    "linux-image": "6.8.0-1.2",
    "habanalabs-dkms": "1.21.3-57",
    "amazon-ecs-init": "1.107.0-1",
    "lustre-client-utils": "2.15.6-1fsx34",
    "nfs-common": "1:2.6.1-1ubuntu1.2",
    "amazon-efs-utils": "3.3.2",
    "mount-s3": "1.24.0",
}
CLIENT_PACKAGES = {
    "lustre-client": "lustre-client-utils",
    "nfs-client": "nfs-common",
    "efs-utils": "amazon-efs-utils",
}
COMPONENTS: dict[str, Any] = {
    "kernel": {
        "version": "6.8.0-1.2",
        "kind": "apt",
        "packages": {"linux-image": "6.8.0-1.2"},
    },
    "habana-driver": {
        "version": "1.21.3-57",
        "kind": "apt",
        "packages": {"habanalabs-dkms": "1.21.3-57"},
    },
    "ecs-init": {"version": "1.107.0", "kind": "archive"},
    "aws-cli": {"version": "2.36.11", "kind": "archive"},
    "efa-installer": {"version": "1.50.0", "kind": "archive"},
    **{
        name: {
            "version": PACKAGES[package],
            "kind": "apt",
            "packages": {package: PACKAGES[package]},
        }
        for name, package in CLIENT_PACKAGES.items()
    },
    "mountpoint-s3": {"version": PACKAGES["mount-s3"], "kind": "archive"},
}
SYSTEMCTL = """
unit=$(eval echo \\${$#})
listed() { grep -qx "${unit%.service}" "/units/$1" && echo "$1" || { echo "$2"; exit 1; }; }
case $1 in
  is-enabled)
    test "$unit" != rpcbind.socket || exec cat /units/rpcbind.socket
    listed enabled disabled ;;
  is-active) listed active inactive ;;
  cat) test -e "/units/$unit" ;;
  list-units) cat /units/failed 2>/dev/null || true ;;
  show) cat "/units/$unit" ;;
esac
"""
DEVICES = """
for each in null zero random urandom; do
  touch "$1/dev/$each"; mount --bind "/dev/$each" "$1/dev/$each"
done
"""
MEMLOCK = {"--property=DefaultLimitMEMLOCK": "infinity", "docker.service": "infinity"}


class Machine(NodeRoot):
    """A machine of the AMI habana/ecs."""

    def selftest(self, *arguments: str, stage: str = "boot") -> dict[str, dict[str, str]]:
        """Run it and return its results by name."""
        done = self.program("selftest", "--json", "--stage", stage, *arguments)
        document = json.loads(done.stdout)
        assert document["ok"] == (done.returncode == 0), done.stderr
        return {each["name"]: each for each in document["components"]}

    def failures(self, *, stage: str = "boot") -> dict[str, str]:
        """What failed, and why."""
        results = self.selftest(stage=stage).values()
        return {each["name"]: each["detail"] for each in results if each["state"] == "failed"}

    def installed(self, packages: Mapping[str, str], state: str = "hold ok installed") -> None:
        """Write dpkg's database."""
        entries = (
            f"Package: {name}\nStatus: {state}\nArchitecture: amd64\nVersion: {version}\n"
            "Maintainer: nobody\nDescription: a package\n"
            for name, version in packages.items()
        )
        self.write("var/lib/dpkg/status", "\n".join(entries))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    # /dev is the test's, with what programs of the system need.
    made = Machine.make(tmp_path, devices=DEVICES)
    made.pin(COMPONENTS)
    made.installed(PACKAGES)
    made.write("units/enabled", "\n".join(RUNNING) + "\n")
    made.write("units/active", "\n".join(RUNNING) + "\n")
    made.write("units/ecs.service", "trainshed-first-boot.service docker.service\n")
    for unit, limit in MEMLOCK.items():
        made.write(f"units/{unit}", f"{limit}\n")
    made.write("units/rpcbind.socket", "masked\n")
    made.write("opt/amazon/efa_installed_packages", "# EFA installer version: 1.50.0\n")
    made.write("opt/amazon/efa/bin/fi_info", "#!/bin/sh\necho provider: efa\n").chmod(0o755)
    for path in (made.path / "etc" / "sysctl.d").iterdir():
        path.unlink()
    made.write("etc/sysctl.d/60-trainshed.conf", "# a comment\n-kernel.ostype = Linux\n")
    made.write(
        "etc/docker/daemon.json",
        json.dumps({"default-runtime": "habana", "runtimes": {"habana": {"path": "/x"}}}),
    )
    for name, script in {
        "systemctl": SYSTEMCTL,
        "uname": f"echo {KERNEL}",
        "dkms": f"echo 'habanalabs/1.21.3, {KERNEL}, x86_64: installed'",
        "modinfo": "echo 'version:        2.15.6'",
        **dict.fromkeys(CLIENTS, ""),
        "aws": "echo aws-cli/2.36.11 Python/3.13 Linux",
        "hl-smi": "echo HL-205",
        "apt-mark": "echo linux-image",
        # What a kernel was booted with is tested in test_tuning.py.
        "systemd-detect-virt": "echo systemd-nspawn",
    }.items():
        made.command(name, script)
    return made


def test_a_healthy_machine_passes(machine: Machine) -> None:
    results = machine.selftest()

    assert {name for name, each in results.items() if each["state"] == "failed"} == set()
    assert results["habana-driver"] == {
        "name": "habana-driver",
        "version": "1.21.3-57",
        "expected": "1.21.3-57",
        "state": "ok",
        "detail": "",
    }
    assert results["running kernel"]["version"] == KERNEL
    assert results["dkms habanalabs"]["version"] == "1.21.3"
    assert results["lustre module"]["version"] == "2.15.6"
    assert results["kernel.ostype"]["state"] == "ok"


@pytest.mark.parametrize(
    ("finished", "boot"), [("21340000", "21.3 s"), ("0", None), ("", None), ("n/a", None)]
)
def test_the_time_to_boot_is_a_fact_once_everything_was_started(
    machine: Machine, finished: str, boot: str | None
) -> None:
    finish = f"case $* in *FinishTimestamp*) echo {finished}; exit ;; esac"
    machine.command("systemctl", f"{finish}\n{SYSTEMCTL}")

    done = machine.program("selftest", "--json")

    assert json.loads(done.stdout)["ami"].get("boot") == boot


def test_what_a_machine_without_the_devices_cannot_show_is_unchecked(machine: Machine) -> None:
    results = machine.selftest()

    unchecked = {name for name, each in results.items() if each["state"] == "unchecked"}
    unchecked -= {name for name in unchecked if name.startswith(("kernel argument", "clock"))}
    assert unchecked == {"efa device", "efa devices first", "habana device", "huge pages"}
    assert results["habana device"]["detail"] == "this machine has none on its PCI bus"


def test_devices_on_the_bus_that_their_driver_knows_and_that_answer_are_good(
    machine: Machine,
) -> None:
    machine.plug(2, vendor="0x1d0f", device="0xefa1")
    machine.verbs(2, vendor="0x1d0f", device="0xefa1")
    # The bridges to the NVSwitches of P6.
    machine.plug(2, vendor="0x15b3", device="0x1021")
    machine.verbs(2, vendor="0x15b3", device="0x1021", first=2)

    result = machine.selftest()["efa device"]

    assert (result["state"], result["version"], result["expected"]) == ("ok", "2", "2")


@pytest.mark.parametrize("known", [0, 1, 3])
def test_a_device_on_the_bus_that_no_driver_knows_is_a_failure(
    machine: Machine, known: int
) -> None:
    machine.plug(2, vendor="0x1d0f", device="0xefa1")
    machine.verbs(known, vendor="0x1d0f", device="0xefa1")

    assert machine.failures()["efa device"] == (
        f"2 on the PCI bus, and the driver made {known}; see dmesg"
    )


def test_drivers_need_not_be_loaded_on_the_build_instance(machine: Machine) -> None:
    machine.plug(2, vendor="0x1d0f", device="0xefa1")

    result = machine.selftest(stage="bake")["efa device"]

    assert result["state"] == "unchecked"
    assert result["detail"] == "2 on the PCI bus; drivers load at the next boot"


def test_a_lustre_client_without_efa_is_reported_and_is_no_failure(machine: Machine) -> None:
    machine.command(
        "modinfo", 'case "$*" in *kefalnd) exit 1 ;; esac; echo "version:        2.15.6"'
    )

    results = machine.selftest()

    assert results["lustre over efa"]["state"] == "unchecked"
    assert "storage.lustre.efa refuse to boot" in results["lustre over efa"]["detail"]
    assert results["lustre module"]["state"] == "ok"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_of_shared_storage_that_is_not_there_is_a_failure(
    machine: Machine, client: str
) -> None:
    Path(f"{machine.path}.local", "bin", client).unlink()

    assert machine.failures() == {client: f"there is no {client}"}


def test_an_ami_that_has_no_client_of_efs_says_so_and_is_no_failure(machine: Machine) -> None:
    machine.pin({name: pin for name, pin in COMPONENTS.items() if name != "efs-utils"})

    result = machine.selftest()["mount.efs"]

    assert result["state"] == "unchecked"
    assert result["detail"] == (
        "no amazon-efs-utils in this AMI: nodes with storage.efs refuse to boot"
    )


def test_a_port_mapper_that_may_start_is_a_failure(machine: Machine) -> None:
    machine.write("units/rpcbind.socket", "enabled\n")

    assert machine.failures() == {"port mapper": "rpcbind.socket is not masked"}


def test_a_device_whose_tool_fails_is_a_failure(machine: Machine) -> None:
    machine.plug(1, vendor="0x1d0f", device="0xefa0")
    machine.verbs(1, vendor="0x1d0f", device="0xefa0")
    machine.write("opt/amazon/efa/bin/fi_info", "#!/bin/sh\necho fi_getinfo: -61 >&2\nexit 61\n")

    found = machine.failures()["efa device"]
    assert found == "/opt/amazon/efa/bin/fi_info: fi_getinfo: -61"


@pytest.mark.parametrize(
    ("accelerator", "card", "tool", "nodes"),
    [
        pytest.param(
            "habana",
            {"vendor": "0x1da3", "device": "0x1000"},
            "hl-smi",
            ("accel/accel0", "accel/accel1", "accel/accel_controlD0", "accel/accel_controlD1"),
            id="gaudi",
        ),
        pytest.param(
            "neuron",
            {"vendor": "0x1d0f", "device": "0x7164"},
            "/opt/aws/neuron/bin/neuron-ls",
            ("neuron0", "neuron1"),
            id="trainium-1",
        ),
        pytest.param(
            "neuron",
            {"vendor": "0x1d0f", "device": "0x7364"},
            "/opt/aws/neuron/bin/neuron-ls",
            ("neuron0", "neuron1"),
            id="trainium-2",
        ),
        pytest.param(
            "nvidia",
            {"vendor": "0x10de", "device": "0x2330", "kind": "0x030200"},
            "nvidia-smi",
            ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"),
            id="h100",
        ),
    ],
)
@pytest.mark.parametrize("loaded", [True, False])
def test_an_accelerator_counts_with_its_driver_only(
    machine: Machine,
    accelerator: str,
    card: dict[str, str],
    tool: str,
    nodes: tuple[str, ...],
    loaded: bool,
) -> None:
    machine.pin(COMPONENTS, {"accelerator": accelerator})
    machine.plug(2, **card)
    if tool.startswith("/"):
        machine.write(tool.lstrip("/"), "#!/bin/sh\n").chmod(0o755)
    else:
        machine.command(tool, "")
    for node in nodes if loaded else ():
        machine.write(f"dev/{node}")

    result = machine.selftest()[f"{accelerator} device"]

    assert (result["state"], result["version"]) == (("ok", "2") if loaded else ("failed", "0"))
    assert result["expected"] == "2"


@pytest.mark.parametrize(
    ("card", "service"),
    [
        ({"vendor": "0x10de", "kind": "0x030200"}, "nvidia-persistenced"),
        ({"vendor": "0x10de", "kind": "0x068000"}, "nvidia-fabricmanager"),
        ({"vendor": "0x15b3", "kind": "0x020700"}, "nvidia-fabricmanager"),
    ],
)
def test_a_service_of_the_card_has_to_run_where_the_card_is(
    machine: Machine, card: dict[str, str], service: str
) -> None:
    machine.pin(COMPONENTS, {"accelerator": "nvidia"})
    services = ["nvidia-persistenced", "nvidia-fabricmanager"]
    machine.write("units/enabled", "\n".join([*RUNNING, *services]) + "\n")

    without = machine.selftest()[f"service {service}"]
    machine.plug(1, **card)
    with_card = machine.selftest()[f"service {service}"]
    machine.write("units/active", "\n".join([*RUNNING, service]) + "\n")
    running = machine.selftest()[f"service {service}"]

    assert without["state"] == "ok"
    assert (with_card["state"], with_card["detail"]) == ("failed", "is inactive")
    assert running["state"] == "ok"


def test_a_unit_of_the_accelerator_that_failed_is_a_failure_where_the_card_is(
    machine: Machine,
) -> None:
    machine.write("units/failed", "habana-x.service loaded failed failed X\n")

    without = machine.selftest()
    machine.plug(1, vendor="0x1da3", device="0x1000")
    result = machine.selftest()["units of habana"]

    assert "units of habana" not in without
    assert result["state"] == "failed"
    assert result["detail"] == ("failed: habana-x.service; see journalctl --unit habana-x.service")


EFA_CARD, BRIDGE = ("0x1d0f", "0xefa2"), ("0x15b3", "0x1021")


@pytest.mark.parametrize(
    ("cards", "failures"),
    [
        pytest.param([EFA_CARD] * 2, {}, id="efa"),
        pytest.param([EFA_CARD] * 11 + [BRIDGE], {}, id="others-after"),
        pytest.param(
            [EFA_CARD] * 2 + [BRIDGE] + [EFA_CARD] * 8,
            {"efa devices first": "uverbs2 before them"},
            id="others-among",
        ),
    ],
)
def test_the_first_verbs_devices_have_to_be_efa(
    machine: Machine, cards: list[tuple[str, str]], failures: dict[str, str]
) -> None:
    for number, (vendor, device) in enumerate(cards):
        for name, value in (("vendor", vendor), ("device", device), ("class", "0x0")):
            folder = f"sys/class/infiniband_verbs/uverbs{number}/device"
            machine.write(f"{folder}/{name}", f"{value}\n")

    assert machine.failures() == failures


@pytest.mark.parametrize(
    ("name", "stand_in", "failure", "detail"),
    [
        ("uname", "echo 6.8.0-2-other", "running kernel", "another kernel was booted"),
        ("aws", "echo aws-cli/2.0.0", "aws-cli", "2.0.0 is not 2.36.11"),
        ("apt-mark", "", "kernel hold", "not held: linux-image"),
        ("modinfo", "echo not found >&2; exit 1", "lustre module", f"none for {KERNEL}: not found"),
        (
            "dkms",
            f"echo 'habanalabs/1.21.3, {KERNEL}, x86_64: built'",
            "dkms habanalabs",
            f"built for {KERNEL}",
        ),
        (
            "dkms",
            "echo 'habanalabs/1.21.3, 6.8.0-9-newer, x86_64: installed'",
            "dkms habanalabs",
            f"missing for {KERNEL}",
        ),
        ("dkms", "echo 'efa/3.3.0: added'", "dkms efa", f"missing for {KERNEL}"),
    ],
)
def test_a_command_that_shows_something_else_is_a_failure(
    machine: Machine, name: str, stand_in: str, failure: str, detail: str
) -> None:
    machine.command(name, stand_in)

    assert machine.failures() == {failure: detail}


def test_modules_are_read_as_the_dkms_of_ubuntu_lists_them(machine: Machine) -> None:
    machine.command(
        "dkms", f"echo 'efa, 3.3.0, {KERNEL}, x86_64: installed (original_module exists)'"
    )

    result = machine.selftest()["dkms efa"]

    assert (result["version"], result["state"]) == ("3.3.0", "ok")


def test_module_sources_that_dkms_was_never_given_are_a_failure(machine: Machine) -> None:
    machine.source("efa-3.3.0/dkms.conf", 'PACKAGE_NAME="efa"\nPACKAGE_VERSION="3.3.0"\n')

    assert machine.failures() == {"dkms efa": f"missing for {KERNEL}"}


@pytest.mark.parametrize(
    ("path", "content", "failure", "detail"),
    [
        (
            "opt/amazon/efa_installed_packages",
            "# EFA installer version: 1.49.0\n",
            "efa-installer",
            "1.49.0 is not 1.50.0",
        ),
        ("etc/docker/daemon.json", "{}", "docker runtime", "/etc/docker/daemon.json does not say"),
        ("etc/docker/daemon.json", "{", "docker runtime", "/etc/docker/daemon.json: is not JSON"),
        (
            "etc/docker/daemon.json",
            "[]",
            "docker runtime",
            "/etc/docker/daemon.json: is not a JSON",
        ),
        (
            "etc/docker/daemon.json",
            '{"runtimes": {"habana": {}}}',
            "docker runtime",
            "/etc/docker/daemon.json makes runc the default",
        ),
        (
            "etc/security/limits.d/99.conf",
            "* soft memlock 64\n",
            "memlock",
            "soft limit is not unlimited",
        ),
        ("units/docker.service", "8388608\n", "memlock of docker", "is 8388608, not unlimited"),
        ("etc/sysctl.d/99-trainshed.conf", "kernel.ostype=Hurd", "kernel.ostype", "is Linux"),
        ("units/active", "\n".join(RUNNING[1:]) + "\n", "service chronyd", "is inactive"),
        ("units/enabled", "\n".join(RUNNING[:-1]) + "\n", "service ecs", "is not enabled"),
        (
            "units/enabled",
            "\n".join({*RUNNING} - {"trainshed-idle-check.timer"}) + "\n",
            "service trainshed-idle-check",
            "is not enabled",
        ),
        (
            "units/ecs.service",
            "docker.service\n",
            "hold of ecs",
            "does not wait for trainshed-first-boot.service",
        ),
    ],
)
def test_a_file_that_says_something_else_is_a_failure(
    machine: Machine, path: str, content: str, failure: str, detail: str
) -> None:
    machine.write(path, content)

    [(name, found)] = machine.failures().items()

    assert name == failure
    assert found.startswith(detail)


@pytest.mark.parametrize(
    ("own", "users", "detail"),
    [
        ("ECS_ENABLE_GPU_SUPPORT=true\n", "ECS_CLUSTER=x\n", ""),
        ("", "ECS_ENABLE_GPU_SUPPORT=true\n", "/var/lib/ecs/ecs.config has no ECS_ENABLE_GPU_SUP"),
        (
            "ECS_ENABLE_GPU_SUPPORT=true\n",
            "ECS_ENABLE_GPU_SUPPORT=false\n",
            "/etc/ecs/ecs.config overrides ECS_ENABLE_GPU_SUPPORT=true of",
        ),
    ],
)
def test_ecs_learns_of_gpus_where_it_waits_for_them(
    machine: Machine, own: str, users: str, detail: str
) -> None:
    machine.pin(COMPONENTS, {"accelerator": "nvidia"})
    machine.write("var/lib/ecs/ecs.config", own)
    machine.write("etc/ecs/ecs.config", users)

    result = machine.selftest()["ecs gpu support"]

    assert result["state"] == ("failed" if detail else "ok")
    assert result["detail"].startswith(detail)


def test_a_package_of_another_version_is_a_failure(machine: Machine) -> None:
    machine.installed({**PACKAGES, "habanalabs-dkms": "1.20.0-1", "amazon-ecs-init": "1.1-1"})

    assert machine.failures() == {
        "habana-driver": "habanalabs-dkms is 1.20.0-1, not 1.21.3-57",
        "ecs-init": "1.1-1 is not 1.107.0",
    }


def test_a_package_that_was_removed_is_a_failure(machine: Machine) -> None:
    machine.installed(PACKAGES, state="deinstall ok config-files")

    assert machine.failures()["habana-driver"] == "habanalabs-dkms is not installed, not 1.21.3-57"


def test_an_archive_that_the_self_test_does_not_know_is_a_failure(machine: Machine) -> None:
    machine.pin({**COMPONENTS, "new": {"version": "1", "kind": "archive"}})

    assert list(machine.failures()) == ["new"]


def test_settings_that_come_with_the_next_boot_are_unchecked_on_the_build_instance(
    machine: Machine,
) -> None:
    machine.write("etc/sysctl.d/99-trainshed.conf", "kernel.ostype=Hurd")
    machine.write("units/active", "")

    results = machine.selftest(stage="bake")

    assert results["kernel.ostype"]["state"] == "unchecked"
    assert results["service chronyd"]["state"] == "ok"


def test_huge_pages_are_compared_with_what_the_card_needs(machine: Machine) -> None:
    machine.write("sys/bus/pci/devices/0000:00:1e.0/vendor", "0x1da3\n")
    machine.write("sys/bus/pci/devices/0000:00:1e.0/device", "0x1000\n")
    reserved = int(Path("/proc/sys/vm/nr_hugepages").read_text())

    result = machine.selftest()["huge pages"]

    assert result["expected"] == "15000"
    assert result["version"] == str(reserved)
    # The kernel's own number, which no test sets.
    assert result["state"] == ("ok" if reserved >= 15000 else "failed")


def test_people_see_a_table_with_what_failed_at_its_end(machine: Machine) -> None:
    machine.command("aws", "exit 1")

    done = machine.program("selftest")

    assert done.returncode == 1
    *_, failed, summary = done.stdout.splitlines()
    assert failed.split() == ["failed", "aws-cli", "-", "aws", "--version:", "exit", "code", "1"]
    assert summary.startswith("trainshed: self-test of habana/ecs on ubuntu-22.04: ")
    assert summary.endswith(" 9 unchecked, 1 failed")


def test_the_answer_is_saved_beside_the_table(machine: Machine) -> None:
    done = machine.program("selftest", "--stage", "bake", "--save", "/tmp/selftest.json")

    saved = json.loads((machine.path / "tmp" / "selftest.json").read_text())
    assert done.returncode == 0, done.stdout
    assert saved["ok"]
    assert saved["ami"]["accelerator"] == "habana"
    assert saved["ami"]["kernel"] == KERNEL


def test_packages_of_amazon_linux_are_asked_of_rpm_with_or_without_their_release(
    machine: Machine,
) -> None:
    packages = {"docker": "25.0.16-1.amzn2023", "aws-neuronx-dkms": "2.29.0.0", "chrony": "4.4"}
    machine.pin(
        {"all": {"version": "1", "kind": "dnf", "packages": packages}},
        {"base": "amazon-linux-2023", "accelerator": "neuron"},
    )
    # Stands in for the database of RPM, which Debian's build of it does not keep where Amazon's is.
    machine.command(
        "rpm",
        'eval name=\\${$#}; case $name in docker) echo "0:25.0.16-1.amzn2023" ;;'
        ' aws-neuronx-dkms) echo "0:2.29.0.0-dkms" ;; *) echo "0:4.3-1.amzn2023" ;; esac',
    )

    assert machine.selftest()["all"]["detail"] == "chrony is 4.3-1.amzn2023, not 4.4"


@pytest.mark.parametrize(
    ("default", "state"), [("nvidia", "ok"), ("runc", "failed")], ids=["nvidia", "untouched"]
)
def test_on_ubuntu_containerd_is_made_from_a_template_that_names_the_runtime(
    machine: Machine, default: str, state: str
) -> None:
    base = "ubuntu-24.04"
    machine.pin(recipe={"accelerator": "nvidia", "orchestrator": "eks-1.35", "base": base})
    # Below /usr only what is local is the test's.
    path = Path(f"{machine.path}.local", "share/eks/containerd-config.toml")
    path.parent.mkdir(parents=True)
    path.write_text(f'default_runtime_name = "{default}"\n')

    found = machine.selftest()["containerd runtime"]

    assert found["state"] == state
    assert ("containerd-config.toml does not make nvidia" in found["detail"]) is (state != "ok")


@pytest.mark.parametrize(
    ("agent", "kubelet", "containerd", "failures"),
    [
        pytest.param("eks-1.35", "v1.35.4-eks-1", "1.7.28", {}, id="good"),
        pytest.param(
            "eks-1.35",
            "v1.36.1-eks-1",
            "v2 2.1.4",
            {
                "kubelet": "is of Kubernetes 1.36.1, and the cluster's is 1.35: "
                "take an AMI of eks-1.35"
            },
            id="kubelet-of-another-version",
        ),
        pytest.param(
            "eks-1.36",
            "v1.36.1",
            "1.7.28",
            {"containerd": "is 1.7.28, and Kubernetes 1.36 needs containerd 2"},
            id="old-containerd",
        ),
        pytest.param(
            "eks-1.36",
            "unknown",
            "v2 2.1.4",
            {"kubelet": "does not say its version: Kubernetes unknown"},
            id="no-version",
        ),
    ],
)
def test_a_node_of_eks_has_the_kubelet_and_containerd_of_its_version(
    machine: Machine, agent: str, kubelet: str, containerd: str, failures: dict[str, str]
) -> None:
    machine.pin(recipe={"orchestrator": agent})
    machine.command("kubelet", f"echo Kubernetes {kubelet}")
    machine.command("containerd", f"echo containerd github.com/containerd/containerd {containerd}")

    found = machine.failures()

    assert {name: found[name] for name in ("kubelet", "containerd") if name in found} == failures
