"""An embedded AWS for tests that reach behind its APIs, and one with a cluster that takes jobs."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import frequent_looks
import pytest
from accelerator_tools import install
from command_line import Answer, runner
from deployed_jobs import CLUSTER, deployed_cluster, outputs
from in_process import in_process_aws
from protected_stacks import deploy_protected

from embedded_aws.embedded import EmbeddedAws
from trainshed.cli import main
from trainshed.plan import load_fleet


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """An embedded AWS within this process; not seeded."""
    with in_process_aws() as url:
        yield url


@pytest.fixture(scope="session")
def write_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Write the file of a cluster to the folder of a project, and return the folder."""

    def write(cluster: str) -> Path:
        folder = tmp_path_factory.mktemp("project")
        (folder / "clusters").mkdir()
        (folder / "clusters/train.yaml").write_text(cluster)
        return folder

    return write


@pytest.fixture(scope="session")
def deploy_project(
    synthesise: Callable[..., Path],
    publish_ami: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., AbstractContextManager[EmbeddedAws]]:
    """Deploy some stacks of a project's cluster to an embedded AWS, whose nodes take jobs.

    The keywords are as of `deployed_cluster`, but for the cell of the nodes' AMI.
    """

    def deploy(
        project: Path, *stacks: str, cell: str = "neuron/ecs", **keywords: Any
    ) -> AbstractContextManager[EmbeddedAws]:
        assembly = synthesise(load_fleet([project / "clusters/train.yaml"]))
        publish = partial(publish_ami, cell=cell)
        return deployed_cluster(
            tmp_path_factory.mktemp("jobs"), assembly, stacks, publish, **keywords
        )

    return deploy


@pytest.fixture(scope="session")
def clusters(write_project: Callable[[str], Path]) -> Path:
    """A project's folder with one cluster file."""
    return write_project(CLUSTER)


@pytest.fixture(scope="session")
def job_aws(
    clusters: Path,
    deploy_project: Callable[..., AbstractContextManager[EmbeddedAws]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[EmbeddedAws]:
    """An embedded AWS with the cluster deployed.

    Its nodes have the launcher, and a stand-in of nccom-test.
    """
    tools = install(tmp_path_factory.mktemp("tools"), "nccom-test")
    with deploy_project(clusters, "TrainNetwork", "TrainCluster", tools=[tools]) as found:
        yield found


@pytest.fixture
def trainshed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """The command `trainshed`."""
    return runner("trainshed", main, capsys, monkeypatch)


@pytest.fixture
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have jobs looked at more often than AWS would like."""
    frequent_looks.look_often(monkeypatch)


@pytest.fixture
def job(
    job_aws: EmbeddedAws,
    look_often: None,
    clusters: Path,
    trainshed: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., Answer]]:
    """`trainshed job` in the project; afterwards no job is left."""
    job_aws.lead_here(monkeypatch)
    monkeypatch.chdir(clusters)

    yield lambda *arguments: trainshed("job", *arguments)

    batch, queue = job_aws.client("batch"), outputs(job_aws)["JobQueue"]
    pause = threading.Event()
    while left := [
        each["jobId"]
        for status in ("SUBMITTED", "RUNNABLE", "STARTING", "RUNNING")
        for each in batch.list_jobs(jobQueue=queue, jobStatus=status)["jobSummaryList"]
    ]:
        for job_id in left:
            batch.terminate_job(jobId=job_id, reason="the test is over")
        pause.wait(0.05)
    job_aws.fail()


@pytest.fixture
def deploy_cluster(
    clean_aws: EmbeddedAws, synthesise: Callable[..., Path], tmp_path: Path
) -> Callable[..., None]:
    """Deploy some stacks of a cluster, protected as the CDK CLI does it, by its file."""

    def run(text: str, *stacks: str) -> None:
        file = tmp_path / "clusters" / "train.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        deploy_protected(clean_aws, synthesise(load_fleet([file])), stacks)

    return run


@pytest.fixture
def tear_down(
    clean_aws: EmbeddedAws,
    trainshed: Callable[..., Answer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], str]:
    """Tear down what `deploy_cluster` deployed; return what was said, without its table."""
    clean_aws.lead_here(monkeypatch)
    monkeypatch.chdir(tmp_path)

    def run() -> str:
        done = trainshed("teardown", "TrainCluster", "--yes")
        assert done.code == 0, done.err
        return " ".join(done.out.replace("│", " ").split())

    return run
