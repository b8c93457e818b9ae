"""What holds for every test."""

import fcntl
import gc
import json
import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import property_tests
import pytest
from one_engine import OneEngine

from embedded_aws import service_models
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings
from trainshed.offline.stand_in import add_stand_in

if TYPE_CHECKING:
    from trainshed.plan import Fleet

ROOT = Path(__file__).parents[1]

property_tests.load_profile()

# A conftest of a folder may import it before it is a plug-in.
pytest.register_assert_rewrite("skips")

# As in servers; the clients of a session hardly outlive a test.
service_models.share()


def pytest_configure(config: pytest.Config) -> None:
    """Watch over skips, and mark costs.

    Stop with a clear word before the jsii import fails with an obscure one.
    """
    config.pluginmanager.import_plugin("skips")
    config.pluginmanager.import_plugin("costs")
    config.pluginmanager.import_plugin("planned_files")
    clash = [ROOT / "constructs.py", *ROOT.glob("constructs/__init__.py")]
    clash += (ROOT / "tests").rglob("constructs/__init__.py")
    if found := [path for path in clash if path.exists()]:
        raise pytest.UsageError(f"delete {found[0]}: it hides the PyPI library `constructs`")


def pytest_collection_finish() -> None:
    """Look for garbage only in what tests make, not in what was loaded: a seventh of the time."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


@pytest.fixture
def moto() -> Iterator[None]:
    """Has moto answer boto3 within this process, and leaves in its memory what is there.

    Plain `mock_aws()` empties it, and other tests of the process keep servers on it.
    """
    # Here, because loading moto takes a second that most tests do not need.
    from moto import mock_aws

    mock = mock_aws()
    mock.start(reset=False)
    yield
    mock.stop(remove_data=False)


@pytest.fixture(scope="session")
def two_regions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """An embedded AWS of us-west-2 and us-east-1; tests reset it."""
    log = tmp_path_factory.mktemp("two-regions") / "server.log"
    server = start(ServerSettings(regions=("us-west-2", "us-east-1")), log=log)
    yield EmbeddedAws(server)
    server.stop()


@pytest.fixture(scope="session")
def publish_ami() -> Callable[..., str]:
    """Put an AMI as a build leaves it into a channel, which a new account lacks; return its id.

    It is the plain equivalent of `trainshed ami publish`, which takes a second more.
    """

    def publish(aws: EmbeddedAws, cell: str = "neuron/ecs", *, channel: str = "stable") -> str:
        image_id = add_stand_in(aws.client, *cell.split("/"))
        aws.client("ssm").put_parameter(
            Name=f"/trainshed/ami/{cell}/{channel}",
            Value=image_id,
            Type="String",
            DataType="aws:ec2:image",
            Overwrite=True,
        )
        return image_id

    return publish


@pytest.fixture(scope="session")
def push_image() -> Callable[..., str]:
    """Put an image into an ECR repository that exists, and return its digest.

    It leaves what `trainshed container push` leaves, which needs an engine and a registry.
    """

    def push(aws: EmbeddedAws, repository: str, tag: str) -> str:
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": {"digest": "sha256:0"},
            "layers": [],
        }
        image = aws.client("ecr").put_image(
            repositoryName=repository, imageManifest=json.dumps(manifest), imageTag=tag
        )["image"]
        digest: str = image["imageId"]["imageDigest"]
        return digest

    return push


@pytest.fixture(scope="session")
def started_engine() -> Iterator[OneEngine]:
    """A process that compares templates."""
    engine = OneEngine()
    yield engine
    engine.stop()


@pytest.fixture
def one_engine(started_engine: OneEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reviews in this process compare templates in one process of Node, not in one for each."""
    monkeypatch.setattr("trainshed.review.engine.subprocess", started_engine)


@pytest.fixture(scope="session")
def context() -> dict[str, Any]:
    """The feature flags of cdk.json."""
    found: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return found


@pytest.fixture(scope="session")
def synthesise_anew(
    context: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[["Fleet"], Path]:
    """Synthesise a fleet as app.py does, cdk-nag included; returns the assembly's folder."""
    # Here, because loading CDK takes a second that most tests do not need.
    import aws_cdk as cdk
    from cdk_nag import AwsSolutionsChecks

    from trainshed_stacks import add_fleet

    gc.freeze()

    def run(fleet: "Fleet") -> Path:
        app = cdk.App(context=context, outdir=str(tmp_path_factory.mktemp("assembly")))
        cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        add_fleet(app, fleet)
        return Path(app.synth().directory)

    return run


@pytest.fixture(scope="session")
def synthesise(
    synthesise_anew: Callable[["Fleet"], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[["Fleet"], Path]:
    """Synthesise a fleet once for all test processes; returns a folder that tests only read."""
    ours = tmp_path_factory.getbasetemp()
    shared = (ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours) / "assemblies"
    shared.mkdir(exist_ok=True)

    def run(fleet: "Fleet") -> Path:
        # Without the names of its files, of which templates know nothing.
        assembly = shared / sha256(repr(fleet).encode()).hexdigest()
        with assembly.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not assembly.exists():
                assembly.symlink_to(synthesise_anew(fleet))
        return assembly.resolve()

    return run


@pytest.fixture
def ordinary_user() -> Iterator[None]:
    """Nobody instead of root, who may read every file."""
    user = os.geteuid()
    os.seteuid(user or 65534)
    yield
    os.seteuid(user)
