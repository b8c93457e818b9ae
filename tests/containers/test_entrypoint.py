"""What the entrypoint of the images says and sets, by what the host gave the container."""

import contextlib
import os
import shlex
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import skips

from trainshed_node.devices import DEVICES
from trainshed_node.pci import EFA as EFA_CARD

ENTRYPOINT = Path(__file__).parents[2] / "containers/shared/entrypoint"
LAUNCH = Path(__file__).parents[2] / "packer/files/opt/trainshed/trainshed-launch"
EFA, NEURON, GPU, GAUDI = "infiniband/uverbs0", "neuron0", "nvidia0", "accel/accel0"
PLUGIN = "lib/x86_64-linux-gnu/libnccl-net.so"
Enter = Callable[..., subprocess.CompletedProcess[str]]

# A /dev of its own, with these files as devices, what sysfs says about them (uverbs0=VENDOR), these
# plugins of NCCL, and a user who is not root.
_IN_A_CONTAINER = """
mount -t tmpfs tmpfs /dev
for file in $FILES; do
  install -D -m "$MODE" /proc/self/cgroup "/dev/$file"
done
mount -t tmpfs tmpfs /sys/class
for pair in $VENDORS; do
  folder=/sys/class/infiniband_verbs/${pair%%=*}/device
  mkdir -p "$folder"
  echo "${pair#*=}" >"$folder/vendor"
done
mount -t tmpfs tmpfs /opt
for file in $PLUGINS; do
  install -D /proc/self/cgroup "/opt/amazon/ofi-nccl/$file"
done
exec setpriv --reuid 2000 --clear-groups "$@"
"""


@pytest.fixture
def enter(tmp_path: Path) -> Enter:
    """Run `env` through the entrypoint, in a container with some devices and variables."""
    skips.unless("unshare", root="it mounts a /dev of its own")

    def run(
        accelerator: str,
        *devices: str,
        mode: str = "666",
        unlimited: bool = True,
        vendors: str = "",
        plugins: str = PLUGIN,
        **more: str,
    ) -> subprocess.CompletedProcess[str]:
        # Not every machine lets root raise this limit, so that no limit is only said to be there.
        limit = "ulimit() { echo unlimited; }; export -f ulimit" if unlimited else "ulimit -l 64"
        command = f"{limit}; exec {shlex.quote(str(ENTRYPOINT))} env"
        return subprocess.run(
            ["unshare", "--mount", "sh", "-euc", _IN_A_CONTAINER, "sh", "bash", "-c", command],
            env={
                "PATH": os.environ["PATH"],
                "FILES": " ".join(devices),
                "MODE": mode,
                "VENDORS": vendors,
                "PLUGINS": plugins,
                "TRAINSHED_ACCELERATOR": accelerator,
                **more,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def variables(ended: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return dict(line.split("=", 1) for line in ended.stdout.splitlines() if "=" in line)


@pytest.mark.parametrize(
    ("accelerator", "device", "expected", "absent"),
    [
        pytest.param(
            "habana",
            GAUDI,
            {
                "FI_EFA_USE_DEVICE_RDMA": "1",
                "RDMAV_FORK_SAFE": "1",
                "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            },
            {"NCCL_SOCKET_IFNAME"},
            id="habana",
        ),
        pytest.param(
            "neuron",
            NEURON,
            {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1"},
            {"RDMAV_FORK_SAFE", "NCCL_SOCKET_IFNAME"},
            id="neuron",
        ),
        pytest.param(
            "nvidia",
            GPU,
            {"NCCL_SOCKET_IFNAME": "^lo,docker,ecs"},
            {"RDMAV_FORK_SAFE", "FI_EFA_USE_DEVICE_RDMA", "FI_PROVIDER"},
            id="nvidia",
        ),
    ],
)
def test_the_environment_is_that_of_the_accelerator_over_efa(
    enter: Enter, accelerator: str, device: str, expected: dict[str, str], absent: set[str]
) -> None:
    ended = enter(accelerator, device, EFA, AWS_BATCH_JOB_ID="job")

    assert (ended.returncode, ended.stderr) == (0, "")
    environment = variables(ended)
    assert expected.items() <= environment.items()
    assert not absent & environment.keys()


def test_what_the_job_definition_sets_stays(enter: Enter) -> None:
    ended = enter("neuron", NEURON, EFA, FI_PROVIDER="tcp")

    assert variables(ended)["FI_PROVIDER"] == "tcp"


def test_without_efa_nothing_of_efa_is_set(enter: Enter) -> None:
    ended = enter("neuron", NEURON)

    assert ended.stderr == ""
    assert "FI_PROVIDER" not in variables(ended)


@pytest.mark.parametrize(
    ("accelerator", "what"), [("habana", "Gaudi"), ("neuron", "Neuron device"), ("nvidia", "GPU")]
)
def test_a_missing_accelerator_is_a_warning_on_any_machine_and_ends_a_job(
    enter: Enter, accelerator: str, what: str
) -> None:
    anywhere = enter(accelerator)
    job = enter(accelerator, AWS_BATCH_JOB_ID="job")

    assert anywhere.stderr.startswith(f"trainshed: WARNING: no {what} in this container; ")
    assert anywhere.returncode == 0
    assert job.stderr.startswith(f"trainshed: ERROR: no {what} in this container; ")
    assert (job.returncode, job.stdout) == (78, "")


def test_several_nodes_without_efa_are_no_job(enter: Enter) -> None:
    job = {"AWS_BATCH_JOB_ID": "job", "AWS_BATCH_JOB_NUM_NODES": "2"}

    several = enter("nvidia", GPU, **job)
    one = enter("nvidia", GPU, **job | {"AWS_BATCH_JOB_NUM_NODES": "1"})

    assert "no EFA device in this container, so that nodes would use TCP" in several.stderr
    assert (several.returncode, one.returncode) == (78, 0)


def test_several_nodes_of_a_type_without_efa_are_a_job_over_tcp(enter: Enter) -> None:
    job = {"AWS_BATCH_JOB_ID": "job", "AWS_BATCH_JOB_NUM_NODES": "2"}

    without = enter("nvidia", GPU, **job, TRAINSHED_DEVICES='{"nvidia": 8}')
    lost = enter("nvidia", GPU, **job, TRAINSHED_DEVICES='{"efa": 1, "nvidia": 8}')

    assert (without.returncode, without.stderr) == (0, "")
    assert lost.returncode == 78


def test_a_verbs_device_that_is_not_efa_ends_the_job(enter: Enter) -> None:
    devices = (GPU, EFA, "infiniband/uverbs1")
    job = {"AWS_BATCH_JOB_ID": "job", "AWS_BATCH_JOB_NUM_NODES": "2"}

    ours = enter("nvidia", *devices, vendors="uverbs0=0x1d0f uverbs1=0x1d0f uverbs2=0x15b3", **job)
    mixed = enter("nvidia", *devices, vendors="uverbs0=0x15b3 uverbs1=0x1d0f", **job)

    assert (ours.returncode, ours.stderr) == (0, "")
    assert mixed.returncode == 78
    assert mixed.stderr.startswith(
        "trainshed: ERROR: /dev/infiniband/uverbs0 is not an EFA device, but one of the PCI vendor "
        "0x15b3; "
    )
    assert "uverbs1" not in mixed.stderr


def test_several_gaudi_nodes_without_the_wrapper_of_hccl_are_no_job(enter: Enter) -> None:
    job = {"AWS_BATCH_JOB_ID": "job", "AWS_BATCH_JOB_NUM_NODES": "2"}

    several = enter("habana", GAUDI, EFA, **job)
    one = enter("habana", GAUDI, EFA, **job | {"AWS_BATCH_JOB_NUM_NODES": "1"})

    assert "no /usr/lib/habanalabs/libhccl_ofi_wrapper.so in this image" in several.stderr
    assert (several.returncode, one.returncode) == (78, 0)


@pytest.mark.parametrize(
    ("plugins", "job", "found"),
    [
        pytest.param("lib/x86_64-linux-gnu/libnccl-net.so", {}, None, id="ubuntu"),
        pytest.param("lib64/libnccl-net.so", {}, None, id="amazon-linux"),
        # NVIDIA's own bases.
        pytest.param("lib/libnccl-net-ofi.so", {}, "ofi", id="another-name"),
        pytest.param("lib/libnccl-net.so lib/libnccl-net-ofi.so", {}, None, id="both"),
        pytest.param("lib/libnccl-net-ofi.so", {"NCCL_NET_PLUGIN": "aws"}, "aws", id="as-asked"),
    ],
)
def test_nccl_is_told_the_name_of_its_plugin_where_it_would_not_find_it(
    enter: Enter, plugins: str, job: dict[str, str], found: str | None
) -> None:
    several = {"AWS_BATCH_JOB_ID": "job", "AWS_BATCH_JOB_NUM_NODES": "2"}

    ended = enter("nvidia", GPU, EFA, plugins=plugins, **several, **job)

    assert (ended.returncode, ended.stderr) == (0, "")
    environment = variables(ended)
    assert environment.get("NCCL_NET_PLUGIN") == found
    folders = environment["LD_LIBRARY_PATH"].split(":")
    assert {f"/opt/amazon/ofi-nccl/{Path(plugin).parent}" for plugin in plugins.split()} <= set(
        folders
    )


def test_several_nodes_without_a_plugin_for_nccl_are_no_job(enter: Enter) -> None:
    job = {"AWS_BATCH_JOB_ID": "job", "AWS_BATCH_JOB_NUM_NODES": "2"}

    several = enter("nvidia", GPU, EFA, plugins="", **job)
    one = enter("nvidia", GPU, EFA, plugins="", **job | {"AWS_BATCH_JOB_NUM_NODES": "1"})

    assert several.stderr.startswith("trainshed: ERROR: no libnccl-net.so in this image, so that ")
    assert (several.returncode, one.returncode) == (78, 0)


def test_a_limit_of_locked_memory_is_reported(enter: Enter) -> None:
    ended = enter("neuron", NEURON, EFA, unlimited=False, AWS_BATCH_JOB_ID="job")

    assert ended.stderr.startswith("trainshed: ERROR: at most 64 KiB may be locked in memory")
    assert "set the ulimit memlock to -1" in ended.stderr


def test_a_device_that_the_user_may_not_open_is_reported(enter: Enter) -> None:
    ended = enter("neuron", NEURON, mode="600")

    assert "/dev/neuron0 cannot be read and written by user 2000" in ended.stderr


def test_a_rehearsal_needs_nothing(enter: Enter) -> None:
    ended = enter("cpu", AWS_BATCH_JOB_ID="job", AWS_BATCH_JOB_NUM_NODES="2")

    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[str]:
    """An address that does not answer: its port takes no more connections."""
    skips.unless(root="it listens on port 1")
    # Of this process alone: tests run in parallel.
    address = ".".join(["127", *map(str, os.getpid().to_bytes(4, "big")[1:])])
    with contextlib.ExitStack() as sockets:
        server = sockets.enter_context(socket.socket())
        server.bind((address, 1))
        server.listen(0)
        for _ in range(4):
            client = sockets.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex((address, 1))
        yield address


@pytest.mark.parametrize(("job", "code"), [({}, 0), ({"AWS_BATCH_JOB_ID": "job"}, 78)])
def test_a_main_node_that_does_not_answer_is_reported_with_what_to_look_at(
    silent: str, job: dict[str, str], code: int
) -> None:
    ended = enter_cpu(AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS=silent, **job)

    assert f"no answer from the job's main node, {silent}: " in ended.stderr
    assert "the VPC's default security group" in ended.stderr
    assert ended.returncode == code


def test_of_a_main_node_that_answers_nothing_is_reported() -> None:
    """Nobody listens on its port 1, and its host says so."""
    ended = enter_cpu(
        AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS="127.0.0.1", AWS_BATCH_JOB_ID="job"
    )

    assert (ended.returncode, ended.stderr) == (0, "")


def enter_cpu(**more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ENTRYPOINT, "true"],
        env={"PATH": os.environ["PATH"], "TRAINSHED_ACCELERATOR": "cpu", **more},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("kind", DEVICES)
def test_device_files_are_those_that_the_launcher_counts(kind: str) -> None:
    # The entrypoint is one shell script, which reads no Python.
    words = ENTRYPOINT.read_text().replace(")", " ").replace("(", " ").split()

    assert {f"/{pattern}" for pattern in DEVICES[kind].files} <= set(words)


def test_amazon_has_the_same_number_here_and_for_the_launcher() -> None:
    assert f"!= {EFA_CARD.vendor} ]]" in ENTRYPOINT.read_text()


def test_the_launcher_hears_of_what_is_missing_and_tells_the_other_nodes() -> None:
    ended = subprocess.run(
        # Jobs of other tests may be on the launcher's own port.
        [ENTRYPOINT, LAUNCH, "--port", str(_free_port()), "true"],
        env={
            "PATH": os.environ["PATH"],
            "TRAINSHED_ACCELERATOR": "neuron",
            "AWS_BATCH_JOB_ID": "job",
            "AWS_EC2_METADATA_DISABLED": "true",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    said = "takes no part: no Neuron device in this container; name /dev/neuron0 and so on"
    assert f"trainshed-launch: ERROR: this node {said}" in ended.stdout
    assert ended.returncode == 78


def test_the_exit_code_is_that_of_the_command(enter: Enter) -> None:
    done = subprocess.run(
        [ENTRYPOINT, "sh", "-c", "exit 7"],
        env={"PATH": os.environ["PATH"], "TRAINSHED_ACCELERATOR": "cpu"},
        check=False,
    )

    assert done.returncode == 7


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
