"""What was baked boots as other machines, and knows nothing of the one it was baked on."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from bake_bench import Bake, Bakery
from guest_bench import Bench, Guest

pytestmark = pytest.mark.ladder

_ECS = pytest.param(("habana", "ecs", "ubuntu", "ecs"), id="habana-ecs")
_KUBELET = pytest.param(("neuron", "eks-1.35", "ec2-user", "kubelet"), id="neuron-eks-1.35")

# What AWS Batch's own part of the user data appends to /etc/ecs/ecs.config, as a public template
# records it.
_BATCH = {
    "ECS_CLUSTER": "train",
    "ECS_DISABLE_IMAGE_CLEANUP": "false",
    "ECS_ENGINE_TASK_CLEANUP_WAIT_DURATION": "2m",
    "ECS_IMAGE_CLEANUP_INTERVAL": "10m",
    "ECS_IMAGE_MINIMUM_CLEANUP_AGE": "10m",
    "ECS_NUM_IMAGES_DELETE_PER_CYCLE": "5",
    "ECS_RESERVED_MEMORY": "32",
}
_LINES = "\\n".join(f"{name}={value}" for name, value in _BATCH.items())


def user_data(orchestrator: str) -> str:
    """What user data of ours says, and Batch's."""
    settings = {"region": "us-west-2", "cluster": "train", "monitoring": True}
    if kubernetes := orchestrator.partition("eks-")[2]:
        settings["kubernetes"] = kubernetes
    return f"""\
#cloud-config
write_files:
- path: /etc/trainshed/first-boot.json
  content: '{json.dumps(settings)}'
runcmd:
- test ! -d /etc/ecs || printf '{_LINES}\\n' >> /etc/ecs/ecs.config
"""


class Pair:
    """Two instances of one image, up.

    Attributes:
        bake: what they were made by.
        agent: the service that runs jobs on them.
        guests: the two.
    """

    def __init__(self, bake: Bake, agent: str, guests: tuple[Guest, Guest]) -> None:
        self.bake = bake
        self.agent = agent
        self.guests = guests

    def ask(self, command: str) -> tuple[str, str]:
        """What a command says on each of them, to root."""
        first, second = self.guests
        return first.ssh(f"sudo bash -c {command!r}"), second.ssh(f"sudo bash -c {command!r}")


# Both bases, and both agents that must wait for the first boot.
@pytest.fixture(scope="module", params=[_ECS, _KUBELET])
def pair(request: pytest.FixtureRequest, bakery: Bakery, bench: Bench) -> Iterator[Pair]:
    accelerator, orchestrator, user, agent = request.param
    # The other one bakes meanwhile.
    bakery.start(("habana", "ecs"), ("neuron", "eks-1.35"))
    bake = bakery.baked(accelerator, orchestrator)
    guests = [
        bench.launch(bake.image_id, user=user, UserData=user_data(orchestrator)) for _ in range(2)
    ]
    with ThreadPoolExecutor() as pool:
        list(pool.map(_wait, guests))
    yield Pair(bake, agent, (guests[0], guests[1]))
    bench.ec2.terminate_instances(InstanceIds=[guest.instance_id for guest in guests])


def test_each_has_a_machine_id_of_its_own(pair: Pair) -> None:
    first, second = pair.ask("cat /etc/machine-id")

    assert len(first) == len(second) == 32
    assert first != second


def test_each_has_host_keys_of_its_own(pair: Pair) -> None:
    first, second = (set(keys.splitlines()) for keys in pair.ask("cat /etc/ssh/ssh_host_*_key.pub"))

    assert first
    assert second
    assert not first & second


def test_each_is_called_as_its_launch_said(pair: Pair) -> None:
    first, second = pair.ask("hostname")

    assert first != second


def test_the_self_test_passes_at_boot(pair: Pair) -> None:
    for guest in pair.guests:
        result = json.loads(guest.ssh("sudo /opt/trainshed/selftest --stage boot --json"))

        failed = [each for each in result["components"] if each["state"] == "failed"]
        assert failed == []
        assert result["ok"]
        assert result["ami"]["build"] == pair.bake.manifest["custom_data"]["build"]


def test_the_self_test_had_run_by_itself(pair: Pair) -> None:
    for state in pair.ask("systemctl show --property=Result,ActiveState trainshed-selftest"):
        assert dict(line.split("=") for line in state.splitlines()) == {
            "Result": "success",
            "ActiveState": "active",
        }


def test_no_unit_failed(pair: Pair) -> None:
    for failed in pair.ask("systemctl list-units --state=failed --plain --no-legend"):
        assert failed == ""


def test_the_first_boot_was_done_before_the_agent_started(pair: Pair) -> None:
    for printed in pair.ask(
        "systemctl show --property=ExecMainExitTimestampMonotonic --value trainshed-first-boot; "
        f"systemctl show --property=ExecMainStartTimestampMonotonic --value {pair.agent}; "
        f"systemctl is-active {pair.agent}; "
        f"systemctl show --property=After --value {pair.agent}; "
        f"systemctl show --property=Requires --value {pair.agent}"
    ):
        done, started, state, after, requires = printed.splitlines()

        assert state == "active"
        assert 0 < int(done) < int(started)
        # And not by chance.
        assert "trainshed-first-boot.service" in after.split()
        assert "trainshed-first-boot.service" in requires.split()


@pytest.mark.parametrize("pair", [_ECS], indirect=True, scope="module")
def test_the_ecs_agent_gets_the_settings_of_batch_and_all_of_the_image_s(pair: Pair) -> None:
    for printed in pair.ask("cat /run/ecs-agent.env"):
        # None of the image's own is overridden: those that Batch sets are left to it.
        assert dict(line.split("=", 1) for line in printed.splitlines()) == _BATCH | {
            "ECS_AWSVPC_BLOCK_IMDS": "true",
            "ECS_ENABLE_CONTAINER_METADATA": "false",
            "ECS_ENABLE_SPOT_INSTANCE_DRAINING": "true",
        }


def test_user_data_reached_the_first_boot(pair: Pair) -> None:
    for journal in pair.ask("journalctl --unit trainshed-first-boot --output cat"):
        assert "names no file system to mount" in journal


def test_each_step_of_the_first_boot_was_measured(pair: Pair) -> None:
    for printed in pair.ask("cat /run/trainshed/boot.json"):
        state = json.loads(printed)

        assert state["outcome"] == "ok"
        # The kubelet is looked at with the devices, of which none are expected here.
        looked = ["devices"] if pair.agent == "kubelet" else []
        assert [step["name"] for step in state["steps"]] == ["system", *looked, "scratch"]


def test_only_the_launch_says_who_may_log_in(pair: Pair, bench: Bench) -> None:
    ours = _public_key(bench)

    for keys in pair.ask("cat /root/.ssh/authorized_keys /home/*/.ssh/authorized_keys"):
        lines = [line for line in keys.splitlines() if line]
        assert lines
        assert [line for line in lines if ours not in line] == []


def test_nothing_of_the_bake_is_on_the_disk(pair: Pair) -> None:
    for found in pair.ask(
        "ls -d /tmp/trainshed /var/tmp/trainshed /tmp/script_* /tmp/packer* 2>/dev/null; "
        "find /root /home -name '.*_history'; "
        "find /var/lib/cloud/instances -mindepth 1 -maxdepth 1 ! -name i-*; "
        "journalctl --list-boots --no-pager -q | wc -l"
    ):
        assert found == "1"


def test_cloud_init_knows_one_instance(pair: Pair) -> None:
    printed = pair.ask("ls /var/lib/cloud/instances")

    assert printed == tuple(guest.instance_id for guest in pair.guests)


def test_a_node_of_a_cluster_of_another_version_starts_no_kubelet(
    bakery: Bakery, bench: Bench
) -> None:
    bake = bakery.baked("neuron", "eks-1.35")
    guest = bench.launch(bake.image_id, user="ec2-user", UserData=user_data("eks-1.34"))
    try:
        _wait(guest)

        assert guest.ssh("systemctl is-active kubelet || true") == "inactive"
        journal = guest.ssh("sudo journalctl --unit trainshed-first-boot --output cat")
        assert "kubelet: is of Kubernetes 1.35.1, and the cluster's is 1.34" in journal
    finally:
        bench.ec2.terminate_instances(InstanceIds=[guest.instance_id])


def _wait(guest: Guest) -> None:
    guest.wait_for_ssh()
    guest.ssh("cloud-init status --wait; systemctl is-system-running --wait || true")


def _public_key(bench: Bench) -> str:
    pair: dict[str, Any] = bench.ec2.describe_key_pairs(
        KeyNames=[bench.key_name], IncludePublicKey=True
    )
    key: str = pair["KeyPairs"][0]["PublicKey"]
    return key.split()[1]
