"""The first boot of our AMIs, under real systemd and cloud-init, with the real AWS CLI.

No Lustre client can be had: it is a kernel module. A stub package brings `mount.lustre`, which
mounts a memory file system in the file system's name. The ECS agent is a stub, too: a service that
stays, ordered as Amazon's. What is proven is who waits for whom, and for what.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template
from guest_bench import AMAZON, BOOT_ID, UBUNTU, Bench, Guest
from vendors.debian import build_deb
from vendors.nodes import ecs_agent
from vendors.package import Contents, Package, program
from vendors.services import daemon, unit

from trainshed.plan import Mount, StorageKind
from trainshed_constructs import FailedBootLimit, FirstBoot, disable_environment

PACKER = Path(__file__).parents[2] / "packer"
DNS, NAME = "fs-1.fsx.us-west-2.amazonaws.com", "abcdefgh"
SOURCE = f"{DNS}@tcp:/{NAME}"
DOCKER = Contents(
    files={
        "/usr/bin/dockerd": daemon("Docker version 28"),
        "/usr/lib/systemd/system/docker.service": unit(
            "Docker", "/usr/bin/dockerd", after="network-online.target"
        ),
    }
)
# With a process behind the mount, as efs-proxy and Mountpoint are.
LUSTRE = Contents(
    files={
        "/sbin/mount.lustre": program(
            "(exec -a behind-the-mount sleep infinity) </dev/null >/dev/null 2>&1 &\n"
            'exec mount -t tmpfs -o mode=0755 "$1" "$2"\n'
        )
    }
)
# As 10-base, 50-ecs and 60-first-boot do; what they install besides does not matter here.
BAKE = """
set -eu
cloud-init status --wait >/dev/null || true
dpkg --install /tmp/debs/*.deb
cp -r /tmp/files/. /
echo '{}' >/opt/trainshed/ami.json
cp /tmp/recipes/habana-ecs-ubuntu-22.04.json /opt/trainshed/recipe.json
. /etc/os-release
systemctl --quiet enable docker trainshed-first-boot trainshed-selftest trainshed-idle-check.timer
if [ "$ID" = ubuntu ]; then
  systemctl --quiet add-wants cloud-init.target ecs.service
else
  systemctl --quiet enable ecs
fi
rm -rf /tmp/debs /tmp/files /tmp/recipes
sync
"""
SETTINGS = "/etc/trainshed/first-boot.json"
# On the console, between systemd's colours.
AGENT_STARTED = re.compile(r"Started \S*ecs\.service")
# A machine with EFA devices, as far as files show it: of as many as /var/lib/efa-devices says, the
# driver has made device files. Guests have the host's /sys and kernel, so this lies over them.
EFA_DEVICES = """#!/bin/sh
set -e
mount -t tmpfs none /sys/bus/pci/devices
mount -t tmpfs none /sys/class
mkdir -p /dev/infiniband /opt/amazon/efa/bin
printf '#!/bin/sh\\n' >/opt/amazon/efa/bin/fi_info
chmod +x /opt/amazon/efa/bin/fi_info
made=$(cat /var/lib/efa-devices 2>/dev/null || echo 8)
for number in 0 1 2 3 4 5 6 7; do
  verbs=/sys/class/infiniband_verbs/uverbs$number/device
  for folder in /sys/bus/pci/devices/$number $verbs; do
    mkdir -p $folder
    echo 0x1d0f >$folder/vendor
    echo 0xefa1 >$folder/device
  done
  [ $number -ge $made ] || touch /dev/infiniband/uverbs$number
done
echo 5128 >/run/huge-pages
mount --bind /run/huge-pages /proc/sys/vm/nr_hugepages
"""


def bake(bench: Bench, folder: Path, base: str, user: str) -> str:
    """Make an AMI with our node programs, and stubs of what they wait for or hold."""
    debs = folder / "debs"
    debs.mkdir()
    for name, contents in {
        "docker-ce": DOCKER,
        "amazon-ecs-init": ecs_agent("1.107.0-1"),
        "lustre-client-utils": LUSTRE,
    }.items():
        build_deb(Package(name=name, version="1-1", contents=contents), debs)
    with bench.launched(bench.image_id(base), user=user) as builder:
        pack = ["tar", "-c", "-C", str(folder), "debs", "-C", str(PACKER), "files", "recipes"]
        packed = subprocess.run(pack, check=True, capture_output=True).stdout
        send(builder, packed, "sudo tar -x --no-same-owner -C /tmp")
        send(builder, BAKE.encode(), "sudo sh")
        made = bench.ec2.create_image(InstanceId=builder.instance_id, Name=f"ours-{user}")
        bench.wait_for_image(made["ImageId"])
    return str(made["ImageId"])


def send(guest: Guest, data: bytes, command: str) -> None:
    """Run a command in a guest with something on its standard input."""
    options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR")
    done = subprocess.run(
        [
            *("ssh", "-i", str(guest.key), *(word for each in options for word in ("-o", each))),
            *(f"{guest.user}@{guest.address}", command),
        ],
        input=data,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.fixture(scope="session")
def ubuntu_image(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> str:
    return bake(bench, tmp_path_factory.mktemp("bake"), UBUNTU, "ubuntu")


@pytest.fixture(scope="session")
def amazon_image(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> str:
    return bake(bench, tmp_path_factory.mktemp("bake"), AMAZON, "ec2-user")


@contextmanager
def published(bench: Bench, name: str) -> Iterator[None]:
    """The parameters that LustreFileSystem publishes, for a while."""
    ssm = bench.aws.client("ssm")
    facts = {
        f"/trainshed/lustre/{name}/dns-name": DNS,
        f"/trainshed/lustre/{name}/mount-name": NAME,
    }
    for parameter, value in facts.items():
        ssm.put_parameter(Name=parameter, Value=value, Type="String")
    try:
        yield
    finally:
        ssm.delete_parameters(Names=list(facts))


def user_data(name: str) -> str:
    """What FirstBoot has a node run, for a cluster and its file system of a name."""
    lustre = Mount(kind=StorageKind.LUSTRE, name=name, path="/fsx")
    return rendered(FirstBoot(cdk.Stack(), "Boot", cluster=name, mounts=[lustre]))


def rendered(first_boot: FirstBoot, *scripts: str) -> str:
    """User data, with scripts that run at each boot before it."""
    parts = ec2.MultipartUserData()
    for script in scripts:
        content_type = 'text/cloud-boothook; charset="us-ascii"'
        body = ec2.MultipartBody.from_raw_body(content_type=content_type, body=script)
        parts.add_part(body)
    first_boot.add_to(parts)
    return parts.render().replace(cdk.Aws.REGION, "us-west-2")


def tag_of(guest: Guest) -> str:
    """What the node told of its boot."""
    tags = {tag["Key"]: tag["Value"] for tag in guest.describe().get("Tags", [])}
    return str(tags.get("trainshed:boot", ""))


def failures(bench: Bench, cluster: str) -> int:
    """How many failed boots of a cluster CloudWatch has counted."""
    now = datetime.now(UTC)
    points = bench.aws.client("cloudwatch").get_metric_statistics(
        Namespace="trainshed",
        MetricName="BootsFailed",
        Dimensions=[{"Name": "Cluster", "Value": cluster}],
        StartTime=now - timedelta(hours=1),
        EndTime=now + timedelta(minutes=1),
        Period=3600,
        Statistics=["Sum"],
    )["Datapoints"]
    return int(sum(point["Sum"] for point in points))


def active(guest: Guest, service: str) -> str:
    return guest.try_ssh(f"systemctl is-active {service}").stdout.strip()


def log_of(guest: Guest) -> str:
    """What the first boot said, in the journal of this boot."""
    return guest.ssh("sudo journalctl --boot --output=cat --unit=trainshed-first-boot")


def started_at(guest: Guest, service: str, what: str) -> int:
    """When a service did something, in microseconds since the boot."""
    shown = guest.ssh(f"systemctl show --value --property={what}TimestampMonotonic {service}")
    return int(shown)


@pytest.fixture(scope="session")
def node(bench: Bench, ubuntu_image: str) -> Iterator[Guest]:
    """A node whose file system was there before it."""
    with (
        published(bench, "node"),
        bench.launched(
            ubuntu_image,
            UserData=user_data("node"),
            TagSpecifications=[
                {
                    "ResourceType": "instance",
                    "Tags": [{"Key": "trainshed:cluster", "Value": "TrainCluster"}],
                }
            ],
        ) as guest,
    ):
        guest.wait_for("the agent", lambda: active(guest, "ecs") == "active")
        yield guest


def test_the_mount_is_there_before_the_agent_starts(node: Guest) -> None:
    assert node.ssh("findmnt --noheadings --output SOURCE /fsx") == SOURCE
    mounted = started_at(node, "trainshed-first-boot", "ExecMainExit")
    assert 0 < mounted < started_at(node, "ecs", "ActiveEnter")
    assert mounted < started_at(node, "docker", "ActiveEnter")


def test_user_data_was_there_before_the_first_boot_read_it(node: Guest) -> None:
    assert f"mounted {SOURCE}" in log_of(node)
    assert started_at(node, "cloud-init", "ExecMainExit") < started_at(
        node, "trainshed-first-boot", "ExecMainStart"
    )
    assert started_at(node, "cloud-final", "ExecMainExit") < started_at(node, "ecs", "ActiveEnter")


def test_the_self_test_runs_when_everything_was_started(node: Guest) -> None:
    node.wait_for(
        "the self-test", lambda: started_at(node, "trainshed-selftest", "ExecMainExit") > 0
    )

    said = node.ssh("sudo journalctl --boot --output=cat --unit=trainshed-selftest")

    assert "trainshed: self-test of habana/ecs on ubuntu-22.04: " in said
    assert re.search(r"^ok +hold of ecs ", said, re.MULTILINE)
    assert started_at(node, "trainshed-selftest", "ExecMainStart") > started_at(
        node, "ecs", "ActiveEnter"
    )


def test_the_tag_says_that_the_boot_went_well(node: Guest, bench: Bench) -> None:
    assert tag_of(node) == "ok"
    assert failures(bench, "node") == 0
    state = json.loads(node.ssh("sudo cat /run/trainshed/boot.json"))
    assert state["outcome"] == "ok"
    assert [step["name"] for step in state["steps"]] == ["system", "scratch", "lustre"]


def test_nodes_are_asked_how_they_booted_as_documented(node: Guest) -> None:
    told = node.ssh(
        "aws ec2 describe-instances --filters Name=tag:trainshed:cluster,Values=TrainCluster"
        " --query 'Reservations[].Instances[].[InstanceId,State.Name,"
        "Tags[?Key==`trainshed:boot`].Value|[0]]' --output text"
    )

    assert told.split() == [node.instance_id, "running", "ok"]


def test_nothing_is_ordered_in_a_circle(node: Guest) -> None:
    journal = node.ssh("sudo journalctl --boot --output=cat --identifier=systemd _PID=1")

    assert "trainshed-first-boot.service" in journal
    assert "ordering cycle" not in journal


def test_what_serves_a_mount_outlives_a_restart_of_the_first_boot(node: Guest) -> None:
    serving = node.ssh("pgrep --full ^behind-the-mount")

    node.ssh("sudo systemctl restart trainshed-first-boot && sudo systemctl start ecs")

    assert node.ssh("pgrep --full ^behind-the-mount") == serving


def test_an_agent_does_not_start_again_once_its_data_is_gone(node: Guest) -> None:
    node.ssh("sudo systemctl stop ecs && sudo umount /fsx")

    refused = node.try_ssh("sudo systemctl start ecs")

    assert refused.returncode != 0
    assert active(node, "ecs") != "active"
    node.ssh("sudo systemctl restart trainshed-first-boot && sudo systemctl start ecs")
    assert active(node, "ecs") == "active"


def test_a_second_boot_mounts_again_and_changes_nothing(node: Guest) -> None:
    before = node.ssh(f"sudo cat {SETTINGS} /etc/fstab")
    boot_id = node.ssh(BOOT_ID)

    node.try_ssh("sudo systemctl reboot")
    node.wait_for_boot_after(boot_id)

    node.wait_for("the agent", lambda: active(node, "ecs") == "active")
    assert node.ssh("findmnt --noheadings --output SOURCE /fsx") == SOURCE
    assert node.ssh(f"sudo cat {SETTINGS} /etc/fstab") == before


def test_on_amazon_linux_the_agent_waits_for_the_mount_too(bench: Bench, amazon_image: str) -> None:
    launched = bench.launched(amazon_image, user="ec2-user", UserData=user_data("amazon"))
    with published(bench, "amazon"), launched as guest:
        guest.wait_for("the agent", lambda: active(guest, "ecs") == "active")

        mounted = started_at(guest, "trainshed-first-boot", "ExecMainExit")
        assert 0 < mounted < started_at(guest, "ecs", "ActiveEnter")
        journal = guest.ssh("sudo journalctl --boot --output=cat --identifier=systemd _PID=1")
        assert "ordering cycle" not in journal


def test_missing_facts_hold_the_agent_until_they_are_there(bench: Bench, ubuntu_image: str) -> None:
    with bench.launched(ubuntu_image, UserData=user_data("late")) as guest:
        guest.wait_for("the wait", lambda: "no value yet of SSM parameter" in log_of(guest))
        assert active(guest, "trainshed-first-boot") == "activating"
        assert active(guest, "ecs") == "inactive"
        assert guest.try_ssh("mountpoint /fsx").returncode != 0

        with published(bench, "late"):
            guest.wait_for("the agent", lambda: active(guest, "ecs") == "active")

        assert guest.ssh("findmnt --noheadings --output SOURCE /fsx") == SOURCE


def test_a_node_that_gave_up_says_why_and_powers_off(bench: Bench, ubuntu_image: str) -> None:
    # The wait of half an hour, cut short; terminated, as the launch template of a cluster says.
    impatient = user_data("never").replace('"/fsx",', '"/fsx", "wait_seconds": 0,')
    guest = bench.launch(
        ubuntu_image, UserData=impatient, InstanceInitiatedShutdownBehavior="terminate"
    )

    guest.wait_for_state("terminated")

    assert guest.describe()["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"
    said = bench.ec2.get_console_output(InstanceId=guest.instance_id)["Output"]
    assert "trainshed: ERROR: /fsx: not mounted after" in said
    assert "no value yet of SSM parameter" in said
    assert tag_of(guest).startswith("failed: /fsx: not mounted after")
    assert failures(bench, "never") == 1


@pytest.mark.parametrize("name", ["mark", ".any", "..any"])
def test_a_node_that_a_job_marks_powers_off(bench: Bench, ubuntu_image: str, name: str) -> None:
    guest = bench.launch(
        ubuntu_image,
        UserData=rendered(FirstBoot(cdk.Stack(), "Boot", cluster="marked")),
        InstanceInitiatedShutdownBehavior="terminate",
    )
    guest.wait_for("the first boot", lambda: tag_of(guest) == "ok")

    # As an ordinary user. What the mark leads to does not matter. Another file is a mark too: a job
    # could leave so many that a later one could not make its own.
    guest.try_ssh(f"ln -s /etc/shadow /run/trainshed/unfit/{name}; sleep 60")

    guest.wait_for_state("terminated")
    assert guest.describe()["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"
    said = bench.ec2.get_console_output(InstanceId=guest.instance_id)["Output"]
    assert "trainshed: it powers off, so that it is terminated and replaced" in said
    assert "root:" not in said


def test_a_node_of_a_cluster_with_monitoring_shows_its_metrics(
    bench: Bench, ubuntu_image: str
) -> None:
    boot = FirstBoot(cdk.Stack(), "Boot", cluster="watched", monitoring=True)
    with bench.launched(ubuntu_image, UserData=rendered(boot)) as guest:
        guest.wait_for("the first boot", lambda: tag_of(guest) == "ok")

        guest.wait_for("the exporter", lambda: active(guest, "trainshed-exporter") == "active")
        address = "http://127.0.0.1:9401/metrics"
        assert guest.ssh(f"curl --fail --silent --retry 9 --retry-connrefused {address}") == ""
        assert guest.instance_id in guest.ssh("cat /etc/trainshed/prometheus.yaml")
        # Nothing of it is enabled: what the next boot sends is said by its user data.
        assert "static" in guest.try_ssh("systemctl is-enabled trainshed-exporter").stdout
        assert active(guest, "trainshed-idle-check.timer") == "active"


def test_a_node_without_its_devices_says_so_and_powers_off(bench: Bench, ubuntu_image: str) -> None:
    devices = {"efa": 8, "habana": 8}
    guest = bench.launch(
        ubuntu_image,
        UserData=rendered(FirstBoot(cdk.Stack(), "Boot", cluster="bare", devices=devices)),
        InstanceInitiatedShutdownBehavior="terminate",
    )

    guest.wait_for_state("terminated")

    said = bench.ec2.get_console_output(InstanceId=guest.instance_id)["Output"]
    assert (
        f"trainshed: ERROR: {guest.instance_id}: takes no job: 0 of 8 efa devices are on the PCI "
        "bus; 0 of 8 habana devices are on the PCI bus; terminate this node" in said
    )
    assert tag_of(guest).startswith(f"failed: {guest.instance_id}: takes no job: 0 of 8 efa")
    assert failures(bench, "bare") == 1


def test_a_node_that_lost_a_device_takes_no_job_at_its_next_boot(
    bench: Bench, ubuntu_image: str
) -> None:
    boot = FirstBoot(cdk.Stack(), "Boot", cluster="lossy", devices={"efa": 8})
    with bench.launched(ubuntu_image, UserData=rendered(boot, EFA_DEVICES)) as guest:
        guest.wait_for("the agent", lambda: active(guest, "ecs") == "active")
        assert tag_of(guest) == "ok"

        guest.ssh("echo 7 | sudo tee /var/lib/efa-devices && sync")
        guest.try_ssh("sudo systemctl reboot")
        guest.wait_for_state("stopped")

        said = bench.ec2.get_console_output(InstanceId=guest.instance_id)["Output"]
        before, reason, after = said.partition("takes no job: 7 of 8 efa devices have a driver")
        assert reason
        assert AGENT_STARTED.search(before)
        assert re.search(r"Dependency failed for \S*ecs", after)
        assert not AGENT_STARTED.search(after)
        assert "7 of 8 efa devices have a driver" in tag_of(guest)
        assert failures(bench, "lossy") == 1


def test_a_node_of_nobody_s_cluster_stays_and_can_be_helped(
    bench: Bench, ubuntu_image: str
) -> None:
    # Told what to mount by hand, and not to power off.
    by_hand = user_data("hand").replace('"/fsx",', '"/fsx", "wait_seconds": 0,')
    by_hand = by_hand.replace("FailureAction=poweroff", "FailureAction=none")
    with bench.launched(ubuntu_image, UserData=by_hand) as guest:
        guest.wait_for("the end", lambda: active(guest, "trainshed-first-boot") == "failed")
        refused = guest.try_ssh("sudo systemctl start ecs")
        assert refused.returncode != 0
        assert active(guest, "ecs") == "inactive"

        with published(bench, "hand"):
            guest.ssh("sudo systemctl start ecs")

        assert active(guest, "ecs") == "active"
        assert guest.ssh("findmnt --noheadings --output SOURCE /fsx") == SOURCE


def test_an_image_without_the_program_starts_no_agent_and_powers_off(
    bench: Bench, ubuntu_image: str
) -> None:
    with (
        published(bench, "none"),
        bench.launched(ubuntu_image, UserData=user_data("none")) as guest,
    ):
        # Somebody else's AMI: it has the agent, and nothing of ours.
        guest.ssh(
            "sudo rm -r /opt/trainshed /etc/systemd/system/*.d/trainshed-first-boot.conf"
            " /etc/systemd/system/multi-user.target.wants/trainshed-*"
        )
        guest.try_ssh("sudo systemctl reboot")

        guest.wait_for_state("stopped")

        said = bench.ec2.get_console_output(InstanceId=guest.instance_id)["Output"]
        assert "this AMI has no /opt/trainshed/first-boot" in said
        assert not AGENT_STARTED.search(said.rpartition("this AMI has no")[2])


def test_nodes_that_fail_stop_the_launching_of_more(bench: Bench, ubuntu_image: str) -> None:
    batch = bench.aws.client("batch")
    role = bench.aws.client("iam").create_role(RoleName="batch", AssumeRolePolicyDocument="{}")
    arn = batch.create_compute_environment(
        computeEnvironmentName="unmanaged",
        type="UNMANAGED",
        serviceRole=role["Role"]["Arn"],
    )["computeEnvironmentArn"]
    stack = cdk.Stack(
        cdk.App(),
        "Stack",
        synthesizer=cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
    )
    limit = FailedBootLimit(
        stack,
        "Limit",
        cluster="Failing",
        stop=disable_environment(arn, min_vcpus=0),
        limit=1,
        hours=3,
    )
    cdk.CfnOutput(stack, "Log", value=limit.function.log_group.log_group_name)
    done = bench.aws.deploy(Template.from_stack(stack).to_json())
    tags = [{"Key": "trainshed:cluster", "Value": "Failing"}]
    impatient = user_data("lost").replace('"/fsx",', '"/fsx", "wait_seconds": 0,')

    guest = bench.launch(
        ubuntu_image,
        UserData=impatient,
        InstanceInitiatedShutdownBehavior="terminate",
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
    )

    def state() -> str:
        [found] = batch.describe_compute_environments(computeEnvironments=[arn])[
            "computeEnvironments"
        ]
        return str(found["state"])

    def said() -> str:
        logs = bench.aws.client("logs")
        events = logs.filter_log_events(logGroupName=done.outputs["Log"])["events"]
        return "\n".join(event["message"] for event in events)

    guest.wait_for("the limit", lambda: state() == "DISABLED")
    # What a function logs comes after what it does.
    guest.wait_for("the log", lambda: "trainshed: ERROR: /fsx: not mounted after" in said())
    bench.aws.client("cloudformation").delete_stack(StackName=done.stack_name)
