"""The clean-up removes what a build instance leaves, keeps the rest, and proves it.

The real program runs in a root of its own. Without systemd in there, stopping services and taking
the journal to memory are seen as calls; the bakes in guests do both for real, and go on over ssh.
"""

import subprocess
from pathlib import Path

import pytest
from node_root import KERNEL, NodeRoot, needs_namespaces

pytestmark = needs_namespaces

LEFT = (
    "etc/ssh/ssh_host_ed25519_key",
    "etc/ssh/ssh_host_ed25519_key.pub",
    "home/ubuntu/.ssh/authorized_keys",
    "root/.ssh/authorized_keys",
    "root/.ssh/known_hosts",
    "etc/machine-id",
    "etc/hostname",
    "var/lib/dbus/machine-id",
    "var/lib/systemd/random-seed",
    "var/lib/cloud/instance/user-data.txt",
    "var/lib/cloud/instances/i-1/sem/config_ssh",
    "var/lib/cloud/data/instance-id",
    "etc/netplan/50-cloud-init.yaml",
    "var/lib/dhcp/dhclient.eth0.leases",
    "var/log/cloud-init.log",
    "var/log/journal/0123/system.journal",
    "var/log/wtmp",
    "root/.bash_history",
    "home/ubuntu/.python_history",
    "home/ubuntu/.aws/credentials",
    "root/.docker/config.json",
    "root/.cache/pip/x",
    "etc/trainshed/first-boot.json",
    "var/cache/apt/pkgcache.bin",
    "var/cache/apt/archives/efa_1.deb",
    "var/cache/dnf/fedora/x.rpm",
    "var/lib/apt/lists/archive_dists_jammy_InRelease",
    "var/lib/ecs/data/agent.db",
    "var/lib/amazon/ssm/Vault/Store/EC2RegistrationKey",
    "var/crash/core.1",
    "tmp/trainshed/recipe.json",
    "var/tmp/aws-efa-installer.tar.gz",
)
KEPT = (
    "etc/ssh/sshd_config",
    "etc/ssh/sshd_config.d/10-trainshed.conf",
    "etc/ecs/ecs.config",
    "etc/docker/daemon.json",
    "etc/cloud/cloud.cfg",
    "var/lib/cloud/seed/nocloud/user-data",
    "var/lib/cloud/scripts/per-boot/vendor.sh",
    "var/lib/dpkg/status",
    "opt/trainshed/ami.json",
    "home/ubuntu/.bashrc",
    "tmp/systemd-private-1-chrony.service/tmp/x",
)
# Only the ECS agent runs.
SYSTEMCTL = """
echo "$*" >>/run/calls
case "$*" in "is-active ecs.service" | stop*) ;; *) exit 3 ;; esac
"""
# A root of 16 MiB with everything in it that the program needs.
SMALL_DISK = """
mkdir /new
mount -t tmpfs -o size=16m none /new
cp -a /etc /opt /var /bin /lib /lib64 /new/
for name in usr proc dev; do
  mkdir "/new/$name"
  mount --rbind "/$name" "/new/$name"
done
chroot /new /opt/trainshed/clean --prove
"""


@pytest.fixture
def machine(tmp_path: Path) -> NodeRoot:
    made = NodeRoot.make(tmp_path)
    for name in (*LEFT, *KEPT):
        if not (made.path / name).exists():
            made.write(name)
    made.command("dkms", f"echo 'efa/3.3.0, {KERNEL}, x86_64: installed'")
    made.command("systemctl", SYSTEMCTL)
    return made


def prove(machine: NodeRoot) -> "subprocess.CompletedProcess[str]":
    return machine.program("clean", "--prove")


def test_the_proof_names_every_leftover_with_its_path(machine: NodeRoot) -> None:
    done = prove(machine)

    assert done.returncode == 1
    reported = [line.rpartition(": ")[2] for line in done.stderr.splitlines()]
    # A folder stands for what is in it.
    missed = [name for name in LEFT if not any(f"/{name}".startswith(path) for path in reported)]
    assert missed == []
    wrong = [name for name in KEPT if any(f"/{name}".startswith(path) for path in reported)]
    assert wrong == []
    assert all(line.startswith("trainshed: ERROR: clean: ") for line in done.stderr.splitlines())


def test_the_proof_removes_nothing(machine: NodeRoot) -> None:
    prove(machine)

    assert all((machine.path / name).exists() for name in (*LEFT, *KEPT))


def test_a_cleaned_machine_is_proven_clean(machine: NodeRoot) -> None:
    cleaned = machine.program("clean")

    done = prove(machine)

    assert cleaned.returncode == 0, cleaned.stderr
    assert done.returncode == 0, done.stderr
    assert done.stdout == "trainshed: nothing is left\n"


def test_what_was_left_is_gone_and_the_rest_is_there(machine: NodeRoot) -> None:
    machine.program("clean")

    emptied = {"etc/machine-id", "var/log/wtmp", "var/lib/dbus/machine-id"}
    assert [name for name in LEFT if name not in emptied and (machine.path / name).exists()] == []
    assert [name for name in KEPT if not (machine.path / name).exists()] == []


def test_a_new_machine_gets_an_id_of_its_own(machine: NodeRoot) -> None:
    machine.program("clean")

    assert (machine.path / "etc" / "machine-id").read_text() == ""
    assert (machine.path / "var/lib/dbus/machine-id").readlink() == Path("/etc/machine-id")


def test_folders_of_logs_stay_for_the_services_that_write_there(machine: NodeRoot) -> None:
    machine.write("var/log/chrony/tracking.log")

    machine.program("clean")

    assert (machine.path / "var/log/chrony").is_dir()
    assert not (machine.path / "var/log/chrony/tracking.log").exists()


def test_only_what_runs_and_would_write_again_is_stopped(machine: NodeRoot) -> None:
    machine.program("clean")

    calls = (machine.path / "run" / "calls").read_text().splitlines()
    assert "is-active docker.service" in calls
    assert [call for call in calls if not call.startswith("is-active")] == ["stop ecs.service"]
    assert not any("ssh" in call for call in calls)


def test_a_service_that_does_not_stop_ends_the_clean_up_with_one_line(machine: NodeRoot) -> None:
    machine.command("systemctl", '[ "$1" = is-active ] || { echo stuck >&2; exit 1; }')

    done = machine.program("clean")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("trainshed: ERROR: clean: systemctl stop ")
    assert (machine.path / "etc/ssh/ssh_host_ed25519_key").exists()


def test_the_session_manager_agent_is_stopped_unless_it_serves_a_session(
    machine: NodeRoot,
) -> None:
    machine.command(
        "systemctl", 'echo "$*" >>/run/calls; [ "$2" = amazon-ssm-agent.service ] || exit 3'
    )
    served = "cp /usr/bin/sleep /run/ssm-session-worker; /run/ssm-session-worker 60 &"

    machine.shell(f"{served} /opt/trainshed/clean")
    during = (machine.path / "run" / "calls").read_text()
    machine.program("clean")
    after = (machine.path / "run" / "calls").read_text()

    assert "amazon-ssm-agent" not in during
    assert "stop amazon-ssm-agent.service" in after


def test_the_log_of_the_agent_that_serves_the_session_is_no_leftover(machine: NodeRoot) -> None:
    machine.program("clean")
    machine.write("var/log/amazon/ssm/amazon-ssm-agent.log")
    served = "cp /usr/bin/sleep /run/ssm-session-worker; /run/ssm-session-worker 60 &"

    in_session = machine.shell(f"{served} /opt/trainshed/clean --prove")
    alone = prove(machine)

    assert in_session.returncode == 0, in_session.stderr
    assert "log left: /var/log/amazon/ssm/amazon-ssm-agent.log" in alone.stderr


def test_the_script_that_packer_runs_is_no_leftover(machine: NodeRoot) -> None:
    machine.program("clean")
    machine.write("tmp/script_1234.sh", "/opt/trainshed/clean --prove\n")

    started = machine.shell("chmod +x /tmp/script_1234.sh; sh -e /tmp/script_1234.sh; exit $?")
    alone = prove(machine)

    assert started.returncode == 0, started.stderr
    assert alone.returncode == 1
    assert "temporary file left: /tmp/script_1234.sh" in alone.stderr


def test_a_missing_machine_id_is_no_clean_one(machine: NodeRoot) -> None:
    machine.program("clean")
    (machine.path / "etc/machine-id").unlink()

    done = prove(machine)

    assert done.returncode == 1
    assert "/etc/machine-id is missing" in done.stderr


def test_a_dkms_module_that_was_not_built_is_found(machine: NodeRoot) -> None:
    machine.program("clean")
    machine.command("dkms", "echo 'efa/3.3.0: added'")

    done = prove(machine)

    assert done.returncode == 1
    assert f"dkms module efa 3.3.0 is missing for {KERNEL}" in done.stderr


def test_a_full_disk_is_found(machine: NodeRoot) -> None:
    machine.program("clean")

    done = machine.shell(SMALL_DISK)

    assert done.returncode == 1
    assert "GiB free on /, at least 1 GiB are needed" in done.stderr


def test_it_refuses_to_run_from_anywhere_but_an_image() -> None:
    program = Path(__file__).parents[2] / "packer/files/opt/trainshed/clean"

    done = subprocess.run([str(program)], capture_output=True, text=True)

    assert done.returncode == 1
    assert "is for build instances, at /opt/trainshed" in done.stderr
