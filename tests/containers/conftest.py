"""Real builds, a real registry, and an ECR in front of it."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from container_bench.base import NAME, base_unavailable, engine_unavailable, prepare
from container_bench.commits import commit_sources
from image_registry import serving_registry
from vendors.bench import Vendors, serve_vendors
from vendors.site import owner_of

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings

ROOT = Path(__file__).parents[2]
REGION = "us-west-2"
BASE = "localhost/base"
# NVIDIA's own bases have their entrypoint, by which EFA's installer knows them.
NVIDIA_BASE = "localhost/nvidia-base"
NEURON_KEY = "https://apt.repos.neuron.amazonaws.com/GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB"
CACHE = Path(os.environ.get("TRAINSHED_CONTAINER_BASES", "/var/cache/trainshed/containers"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """buildah with a store of its own, in which nothing of this machine's is.

    Attributes:
        folder: a place for files.
        variables: what makes every buildah a buildah of this bench.
    """

    folder: Path
    variables: dict[str, str]

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | self.variables

    def buildah(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["buildah", *words], env=self.environment, capture_output=True, text=True, check=False
        )

    def run(self, container: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a container.

        What it prints goes to files. With chroot isolation buildah ends with the command, and does
        not wait until it has passed on what that printed (runUsingChrootMain in its
        chroot/run_common.go): on a busy machine the last lines were missing.
        """
        with TemporaryDirectory(dir=self.folder) as folder:
            stdout, stderr = (Path(folder, name) for name in ("stdout", "stderr"))
            for file in (stdout, stderr):
                file.touch()
                # The user of the image is another one.
                file.chmod(0o666)
            Path(folder).chmod(0o755)
            script = '"$@" >/printed/stdout 2>/printed/stderr'
            done = self.buildah(
                *("run", "--volume", f"{folder}:/printed", container, "--"),
                *("sh", "-c", script, "sh", *command),
            )
            said = stderr.read_text() + done.stderr
            return subprocess.CompletedProcess(command, done.returncode, stdout.read_text(), said)

    def done(self, *words: str) -> str:
        """What a command that must not fail printed."""
        ended = self.buildah(*words)
        assert ended.returncode == 0, f"buildah {' '.join(words)}: {ended.stdout}{ended.stderr}"
        return ended.stdout.strip()

    def configuration(self, image: str) -> dict[str, Any]:
        """What an image says about itself."""
        found = json.loads(self.done("inspect", "--type", "image", image))
        configuration: dict[str, Any] = found["OCIv1"]["config"]
        return configuration

    def make(self, image: str, dockerfile: str) -> None:
        """Build a small image."""
        context = self.folder / "context"
        context.mkdir(exist_ok=True)
        (context / "Dockerfile").write_text(dockerfile)
        self.done("build", "--tag", image, str(context))


def _bench(folder: Path, stores: list[Path], hosts: Path | None = None) -> Bench:
    storage, containers = folder / "storage.conf", folder / "containers.conf"
    additional = ", ".join(f'"{store}"' for store in stores)
    storage.write_text(
        f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/store"\nrunroot = "{folder}/run"\n'
        f"[storage.options]\nadditionalimagestores = [{additional}]\n"
    )
    lines = [f'base_hosts_file = "{hosts}"'] if hosts else []
    containers.write_text("\n".join(["[containers]", *lines]) + "\n")
    variables = {
        "BUILDAH_ISOLATION": "chroot",
        "CONTAINERS_STORAGE_CONF": str(storage),
        "CONTAINERS_CONF": str(containers),
    }
    return Bench(folder=folder, variables=variables)


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """An engine for small images, made from nothing."""
    if reason := engine_unavailable():
        pytest.skip(reason)
    made = _bench(tmp_path_factory.mktemp("bench"), [])
    yield made
    made.done("rmi", "--all", "--force")


@pytest.fixture(scope="session")
def vendors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vendors]:
    """The vendors, and what of them is pinned by its commit in the copy of packer/."""
    if reason := base_unavailable():
        pytest.skip(reason)
    with serve_vendors(ROOT / "packer", tmp_path_factory.mktemp("vendors"), region=REGION) as made:
        commit_sources(made)
        yield made


@pytest.fixture(scope="session")
def checkout(vendors: Vendors, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that images are built in: ours, with the pins of the stub vendors."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "containers", folder / "containers")
    shutil.copytree(vendors.template, folder / "packer")
    return folder


@pytest.fixture(scope="session")
def builder(vendors: Vendors, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """An engine that has a Debian as base, which trusts the vendors' certificates."""
    folder = tmp_path_factory.mktemp("builder")
    made = _bench(folder, [prepare(CACHE)], vendors.hosts)
    context = folder / "context"
    context.mkdir()
    (context / "authority.crt").write_bytes(vendors.authority.read_bytes())
    # As AWS's images for Neuron: the repository is there, by a key that is not the pinned one.
    (context / "neuron.list").write_text(
        "deb [signed-by=/etc/apt/keyrings/neuron.asc] "
        "https://apt.repos.neuron.amazonaws.com noble main\n"
    )
    (context / "neuron.asc").write_bytes(vendors.site.keys.public(owner_of(NEURON_KEY)))
    made.make(
        BASE,
        f"FROM {NAME}\nCOPY authority.crt /usr/local/share/ca-certificates/\n"
        "COPY neuron.asc /etc/apt/keyrings/\nCOPY neuron.list /etc/apt/sources.list.d/\n"
        "RUN update-ca-certificates\nUSER nobody\n",
    )
    made.make(
        NVIDIA_BASE,
        f"FROM {BASE}\nUSER 0\n"
        "RUN mkdir /opt/nvidia && touch /opt/nvidia/nvidia_entrypoint.sh\nUSER nobody\n",
    )
    yield made
    made.done("rmi", "--all", "--force")


@pytest.fixture(scope="session")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """An embedded AWS whose ECR takes pushes."""
    if reason := engine_unavailable():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("registry")
    with serving_registry(folder) as address:
        server = start(ServerSettings(registry=address), log=folder / "server.log")
        yield EmbeddedAws(server)
        server.stop()


@pytest.fixture
def ecr(aws: EmbeddedAws) -> Any:
    """A client of an ECR with nothing in it."""
    aws.reset()
    return aws.client("ecr")


@pytest.fixture
def repository(ecr: Any) -> str:
    """URI of an empty repository called `train` with immutable tags."""
    made = ecr.create_repository(repositoryName="train", imageTagMutability="IMMUTABLE")
    uri: str = made["repository"]["repositoryUri"]
    return uri


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """File of a cluster whose image is `train:v1`."""
    file = tmp_path / "train.yaml"
    file.write_text(
        "name: TrainCluster\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
        "image: {repository: train, tag: v1}\n"
    )
    return file
