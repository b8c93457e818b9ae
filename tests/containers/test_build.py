"""The four images, built for real from stub vendors, and run."""

import json
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from vendors.bench import Vendors
from vendors.faults import Fault

from embedded_aws.embedded import EmbeddedAws
from trainshed.containers.building import build
from trainshed.containers.engine import find_engine
from trainshed.errors import Failure

pytestmark = pytest.mark.ladder

BASES = {"nvidia": "localhost/nvidia-base"}
BASE = "localhost/base"
TRAIN = """\
name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge}
image: {repository: train, tag: v1}
"""
# Runs a command in a container of an image, through its entrypoint.
Run = Callable[..., subprocess.CompletedProcess[str]]
Build = Callable[[Path, str], str]


@pytest.fixture(scope="module")
def building(builder: Any) -> Iterator[Build]:
    """Builds an image of a checkout with the bench's buildah."""
    with pytest.MonkeyPatch.context() as patch:
        for key, value in builder.variables.items():
            patch.setenv(key, value)
        engine = find_engine("buildah")

        def run(checkout: Path, name: str) -> str:
            image = f"localhost/{name}:v1"
            build(
                engine,
                name,
                packer=checkout / "packer",
                containers=checkout / "containers",
                image=image,
                architecture="x86_64",
                given={"BASE": BASES.get(name, BASE)},
            )
            return image

        yield run


@pytest.fixture(scope="module")
def images(building: Build, builder: Any, checkout: Path) -> dict[str, str]:
    """The images by name; that for rehearsals as the command makes it."""
    (checkout / "train.yaml").write_text(TRAIN)
    command = ["trainshed", "container", "build", "train.yaml", "--cpu", "--engine", "buildah"]
    done = subprocess.run(
        [*command, "--build-arg", f"BASE={BASE}"],
        cwd=checkout,
        env=builder.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"built train:v1-cpu on {BASE}\n"), done.stderr
    accelerators = ("habana", "neuron", "nvidia")
    return {"cpu": "train:v1-cpu"} | {name: building(checkout, name) for name in accelerators}


@pytest.fixture(scope="module")
def run(builder: Any, images: dict[str, str]) -> Iterator[Run]:
    """Runs a command in a container of an image, through the image's entrypoint."""
    containers = {
        name: builder.done("from", "--pull-never", image) for name, image in images.items()
    }

    def running(name: str, *command: str) -> Any:
        return builder.run(containers[name], "/opt/trainshed/entrypoint", *command)

    yield running
    builder.done("rm", *containers.values())


@pytest.mark.parametrize(
    ("name", "user", "drivers"),
    [
        ("habana", "0", {"efa-installer": ">=1.50.0", "habana-driver": ">=1.21,<1.22"}),
        ("neuron", "2000", {"efa-installer": ">=1.50.0", "neuron-dkms": ">=2.29,<2.30"}),
        ("nvidia", "2000", {"efa-installer": ">=1.50.0", "nvidia-driver": ">=580.65.06"}),
        ("cpu", "2000", {}),
    ],
)
def test_an_image_says_what_it_is_and_which_drivers_it_needs(
    builder: Any, images: dict[str, str], name: str, user: str, drivers: dict[str, str]
) -> None:
    found = builder.configuration(images[name])

    labels = found["Labels"]
    assert found["User"] == user
    assert found["Entrypoint"] == ["/opt/trainshed/entrypoint"]
    assert labels["trainshed.accelerator"] == name
    assert labels["org.opencontainers.image.base.name"] == BASES.get(name, BASE)
    reported = {key: value for key, value in labels.items() if key.startswith("trainshed.driver.")}
    assert reported == {f"trainshed.driver.{key}": value for key, value in drivers.items()}


def test_an_image_has_the_versions_that_its_labels_name(
    builder: Any, images: dict[str, str], run: Run
) -> None:
    labels = builder.configuration(images["neuron"])["Labels"]

    asked = run("neuron", "dpkg-query", "--show", "aws-neuronx-*")
    installer = run("neuron", "head", "-n", "1", "/opt/amazon/efa_installed_packages").stdout

    assert asked.returncode == 0, asked.stderr
    packages = asked.stdout.split()
    installed = dict(zip(packages[::2], packages[1::2], strict=True))
    for component, package in (
        ("neuron-runtime", "aws-neuronx-runtime-lib"),
        ("neuron-collectives", "aws-neuronx-collectives"),
        ("neuron-tools", "aws-neuronx-tools"),
    ):
        version = labels[f"trainshed.version.{component}"]
        assert installed[package].startswith(f"{version}-")
    assert labels["trainshed.version.efa-installer"] in installer


def test_an_image_has_no_kernel_module_no_limits_and_no_package_lists(run: Run) -> None:
    found = run(
        "nvidia",
        *("find", "/usr/src/efa-3.3.0", "/etc/security/limits.d/01_efa.conf"),
        *("/var/lib/apt/lists", "/tmp/trainshed", "-type", "f"),
    )

    assert found.stdout == ""


@pytest.mark.parametrize(
    ("name", "command", "says"),
    [
        ("habana", "/opt/hccl_demo/hccl_demo", "hccl_demo 1.0"),
        ("nvidia", "all_reduce_perf", "all_reduce_perf 2.17.6"),
        ("neuron", "fi_info --version", "libfabric:"),
    ],
)
def test_the_test_tools_are_found(run: Run, name: str, command: str, says: str) -> None:
    assert says in run(name, *command.split()).stdout


def test_hccl_finds_its_way_to_efa(run: Run) -> None:
    linked = run("habana", "ldd", "/usr/lib/habanalabs/libhccl_ofi_wrapper.so").stdout

    assert "libfabric.so.1 => /opt/amazon/efa/lib/libfabric.so.1" in linked


def test_gdrcopy_is_where_libfabric_looks_and_its_device_is_asked_for(
    builder: Any, images: dict[str, str], run: Run
) -> None:
    found = builder.configuration(images["nvidia"])

    # Libraries load it by these names, without a path: libfabric and NCCL by the first.
    load = "import ctypes; [ctypes.CDLL(name) for name in ('libgdrapi.so', 'libgdrapi.so.2')]"
    loaded = run("nvidia", "python3", "-c", load)

    assert loaded.returncode == 0, loaded.stderr

    # What NVIDIA's container toolkit looks for.
    assert "NVIDIA_GDRCOPY=enabled" in found["Env"]


def test_nccl_finds_its_plugin_for_efa(run: Run) -> None:
    # As NCCL does: without a path, by the linker's cache.
    load = "import ctypes, os; ctypes.CDLL(f'libnccl-net-{os.environ[\"NCCL_NET_PLUGIN\"]}.so')"

    loaded = run(
        "nvidia", "env", "-u", "LD_LIBRARY_PATH", "NCCL_NET_PLUGIN=ofi", "python3", "-c", load
    )

    assert loaded.returncode == 0, loaded.stderr


@pytest.mark.parametrize("name", ["habana", "neuron", "nvidia", "cpu"])
def test_an_image_can_start_a_command_on_the_nodes_of_a_job(run: Run, name: str) -> None:
    # It listens on all addresses of this machine, where nodes of other tests have the default port.
    with socket.create_server(("", 0)) as free:
        port = str(free.getsockname()[1])
    launch = ("trainshed-launch", "--port", port)
    started = run(name, *launch, "sh", "-c", "echo node $NODE_RANK of $NNODES")

    assert started.returncode == 0, started.stderr
    assert "node 0 of 1" in started.stdout.splitlines()


def test_ranks_of_a_rehearsal_find_each_other(run: Run) -> None:
    ranks = run(
        "cpu",
        *("mpirun", "--oversubscribe", "-np", "2"),
        *("sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE as $(id -u)"),
    )

    assert sorted(ranks.stdout.splitlines()) == ["rank 0 of 2 as 2000", "rank 1 of 2 as 2000"]


def test_what_was_built_is_pushed_and_runs_where_it_is_pulled_by_its_digest(
    aws: EmbeddedAws, builder: Any, bench: Any, checkout: Path, run: Run, tmp_path: Path
) -> None:
    here = run("cpu", "mpirun", "--version").stdout
    ecr = aws.client("ecr")
    uri = ecr.create_repository(repositoryName="train")["repository"]["repositoryUri"]

    done = subprocess.run(
        ["trainshed", "container", "push", "train.yaml", "--cpu", "--engine", "buildah"],
        cwd=checkout,
        env=aws.environment | builder.variables,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    digest = done.stdout.split()[3]
    host, login = uri.partition("/")[0], str(tmp_path / "auth.json")
    (data,) = ecr.get_authorization_token()["authorizationData"]
    Path(login).write_text(json.dumps({"auths": {host: {"auth": data["authorizationToken"]}}}))
    # Another engine's store, with nothing in it.
    pulled = ("--tls-verify=false", "--authfile", login, f"{uri}@{digest}")
    container = bench.done("from", *pulled)
    there = bench.run(container, "/opt/trainshed/entrypoint", "mpirun", "--version").stdout
    bench.done("rm", container)
    assert there == here
    assert "mpirun (Open MPI) 4.1.4" in there


@pytest.mark.parametrize(
    ("component", "fault", "line"),
    [
        ("efa-installer", Fault.BAD_SIGNATURE, "efa-installer: bad signature: "),
        ("efa-installer", Fault.UNKNOWN_KEY, "efa-installer: unknown key: "),
        ("efa-installer", Fault.NOT_FOUND, "answered 404; "),
        ("nccl-tests", Fault.WRONG_BYTES, "nccl-tests: wrong checksum: "),
        ("gdrcopy", Fault.WRONG_BYTES, "gdrcopy: wrong checksum: "),
    ],
)
def test_what_its_pin_does_not_confirm_ends_the_build(
    vendors: Vendors,
    building: Build,
    checkout: Path,
    capfd: pytest.CaptureFixture[str],
    component: str,
    fault: Fault,
    line: str,
) -> None:
    with vendors.faulty(component, fault), pytest.raises(Failure, match="building localhost"):
        building(checkout, "nvidia")

    reported = [row for row in capfd.readouterr().err.splitlines() if "trainshed: ERROR" in row]
    assert len(reported) == 1
    assert f"trainshed: ERROR: {component}: " in reported[0]
    assert line in reported[0]


def test_a_commit_that_the_repository_does_not_have_ends_the_build(
    building: Build, checkout: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(checkout, tmp_path / "other")
    pins = tmp_path / "other/packer/pins.json"
    document = json.loads(pins.read_text())
    document["components"]["hccl-demo"]["version"] = "0" * 40
    pins.write_text(json.dumps(document))

    with pytest.raises(Failure):
        building(tmp_path / "other", "habana")

    assert f"hccl-demo: https://github.com/HabanaAI/hccl_demo.git has no commit {'0' * 40}; " in (
        capfd.readouterr().err
    )
