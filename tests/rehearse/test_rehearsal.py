"""Rehearsals: a deployed cluster's job, with each fault and without."""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest
from bert_training import SMALL_BATCHES, VARIABLES, losses
from command_line import Answer, runner
from documented import documented
from job_bench import job_aws
from libraries import needs_libraries
from skips import needs
from terminal import session

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.app.synthesis import SynthesisedStack
from trainshed.aws import Region
from trainshed.cli import main
from trainshed.cli import rehearse as rehearse_command
from trainshed.errors import TrainshedError
from trainshed.jobs.model import Job
from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.batch import faults
from trainshed.ready_jobs import Work
from trainshed.rehearse import deployment, rehearsal
from trainshed.rehearse.deployment import deploy
from trainshed.rehearse.faults import (
    Behaviour,
    FaultKind,
    Scene,
    check_on_spot,
    check_possible,
    find_fault,
)
from trainshed.rehearse.rehearsal import Rehearsal, Stages, job_path, run_job, with_files_here
from trainshed.rehearse.workplace import Workplace, workplace

ROOT = Path(__file__).parents[2]
# Its second attempt succeeds at once.
STEPS = "[ $AWS_BATCH_JOB_ATTEMPT = 1 ] || exit 0; echo step; exec sleep 90"
LAUNCH = ("trainshed-launch", "--wait", "5")
MARK = (sys.executable, "-c", "import mpi4py.MPI as m; print(m.COMM_WORLD.allreduce(1))")
Run = Callable[..., tuple[Job, str]]


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, project: Path
) -> Iterator[tuple[EmbeddedAws, Mapping[str, str]]]:
    """TrainCluster on an embedded AWS with nodes on loopback."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        stacks = deployment.synthesised("TrainCluster", tmp_path_factory.mktemp("cdk.out"))
    with job_path(), job_aws(tmp_path_factory.mktemp("aws"), JobSettings(loopback=True)) as aws:
        yield aws, deploy(aws, {name: stack.template for name, stack in stacks.items()})


@pytest.fixture
def run(cluster: tuple[EmbeddedAws, Mapping[str, str]]) -> Run:
    """Run a job; return it as it ended, and what its main node printed."""
    aws, outputs = cluster

    def run_one(
        *command: str, nodes: int | None = 2, fault: FaultKind | None = None
    ) -> tuple[Job, str]:
        printed: list[str] = []
        job = run_job(
            Rehearsal(cluster="TrainCluster", nodes=nodes, work=Work(command=command), fault=fault),
            aws,
            Region("us-west-2", aws.client),
            outputs,
            lambda _, lines: printed.extend(lines),
        )
        return job, "\n".join(printed)

    return run_one


def delete_images(aws: EmbeddedAws) -> None:
    """Empty the cluster's repository."""
    ecr = aws.client("ecr")
    if listed := ecr.list_images(repositoryName="train")["imageIds"]:
        ecr.batch_delete_image(repositoryName="train", imageIds=listed)


def exit_codes(job: Job) -> list[int | None]:
    """Those of the main node, one for each attempt."""
    return [ending.exit_code for ending in job.attempts]


def test_a_job_runs_in_the_deployed_queue(run: Run) -> None:
    job, said = run(*LAUNCH, "sh", "-c", "echo $NODE_RANK of $NNODES", nodes=None)

    assert (job.status, exit_codes(job)) == ("SUCCEEDED", [0])
    assert "0 of 4" in said
    assert len(job.nodes) == 4


def test_more_nodes_than_the_cluster_may_have_are_refused(run: Run) -> None:
    with pytest.raises(TrainshedError, match=r"^--nodes 17: TrainCluster has at most 16 nodes; "):
        run("true", nodes=17)


def test_mpi_runs_on_its_nodes(run: Run) -> None:
    job, said = run(*LAUNCH, "--processes", "2", "mpirun", "-n", "4", *MARK)

    assert job.status == "SUCCEEDED"
    assert said.split("\n").count("4") == 4


def test_a_failing_job_keeps_its_exit_code(run: Run) -> None:
    job, _ = run("sh", "-c", "exit 7")

    assert (job.status, exit_codes(job)) == ("FAILED", [7])


@pytest.mark.parametrize(
    ("fault", "ending"),
    [
        pytest.param(FaultKind.KILL_CHILD, "exit code 137", id="kill-child"),
        pytest.param(FaultKind.TERMINATE_HOST, "Host EC2 (instance i-", id="terminate-host"),
    ],
)
def test_a_lost_child_ends_the_attempt_which_is_tried_again(
    run: Run, fault: FaultKind, ending: str
) -> None:
    job, said = run(*LAUNCH, "sh", "-c", STEPS, fault=fault)

    assert (job.status, exit_codes(job)) == ("SUCCEEDED", [PEER_LOST, 0])
    assert "node 1 (127.80." in said
    assert "is lost" in said
    assert str(job.nodes[1].attempts[0]).startswith(ending)


@pytest.mark.parametrize(("command", "status"), [("true", "SUCCEEDED"), ("false", "FAILED")])
def test_a_fault_that_does_not_happen_is_an_error(run: Run, command: str, status: str) -> None:
    said = rf"--fault kill-child did not happen, and the job has {status}: .* printed no line while"

    with pytest.raises(TrainshedError, match=said):
        run(command, fault=FaultKind.KILL_CHILD)


def test_a_fault_that_is_not_seen_is_an_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    never = Behaviour(expected="the job waits", shows=lambda _: False)
    monkeypatch.setattr(faults, "FAULTS", {FaultKind.MISSING_DEVICE: never})
    said = "^--fault missing-device was not seen, and the job has SUCCEEDED$"

    with pytest.raises(TrainshedError, match=said):
        run("true", fault=FaultKind.MISSING_DEVICE)


def test_a_fault_waits_for_a_child_that_starts_after_the_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def not_yet(aws: EmbeddedAws, job: str) -> list[psutil.Process]:
        asked.append(job)
        return found(aws, job) if len(asked) > 1 else []

    found = faults.child_processes
    monkeypatch.setattr(faults, "child_processes", not_yet)

    job, _ = run(*LAUNCH, "sh", "-c", STEPS, fault=FaultKind.KILL_CHILD)

    assert exit_codes(job) == [PEER_LOST, 0]


@pytest.mark.parametrize(
    "fault",
    [
        FaultKind.CHILD_NEVER_STARTS,
        FaultKind.KILL_CHILD,
        FaultKind.CUT_NETWORK,
        FaultKind.TERMINATE_HOST,
        FaultKind.MISSING_DEVICE,
    ],
)
def test_a_job_of_one_node_has_no_child_to_lose(run: Run, fault: FaultKind) -> None:
    with pytest.raises(
        TrainshedError, match=f"--fault {fault}: this fault hits node 1, the second node"
    ):
        run("true", nodes=1, fault=fault)


def test_a_child_that_never_starts_is_named(run: Run) -> None:
    job, said = run("trainshed-launch", "--wait", "2", "true", fault=FaultKind.CHILD_NEVER_STARTS)

    assert (job.status, exit_codes(job)) == ("FAILED", [PEER_LOST] * 3)
    assert said.count("node 1 of 2 did not come within 2 s") == 3


def test_a_node_that_lacks_its_devices_is_named_and_replaced(
    run: Run, cluster: tuple[EmbeddedAws, Mapping[str, str]]
) -> None:
    job, said = run(*LAUNCH, "echo", "started", fault=FaultKind.MISSING_DEVICE)

    assert (job.status, exit_codes(job)) == ("SUCCEEDED", [PEER_LOST, 0])
    [(problem, bad)] = re.findall(
        r"ERROR: node 1 \([\d.]+\) takes no part: (.*); (i-\w+) goes down, and if the next", said
    )
    assert problem == (
        "0 of 8 efa devices are on the PCI bus; 0 of 16 neuron devices are on the PCI bus"
    )
    assert "started" in said
    ec2 = cluster[0].client("ec2")
    [found] = ec2.describe_instances(InstanceIds=[bad])["Reservations"][0]["Instances"]
    assert found["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"


def test_a_node_that_loses_its_devices_under_a_job_is_named_and_replaced(
    run: Run, cluster: tuple[EmbeddedAws, Mapping[str, str]]
) -> None:
    job, said = run(*LAUNCH, "sh", "-c", STEPS, fault=FaultKind.LOST_DEVICE)

    assert (job.status, exit_codes(job)) == ("SUCCEEDED", [PEER_LOST, 0])
    [bad] = re.findall(
        r"node 1 \([\d.]+\) lost a device while the command ran: 0 of 8 efa devices are on the "
        r"PCI bus; 0 of 16 neuron devices are on the PCI bus; (i-\w+) goes down",
        said,
    )
    ec2 = cluster[0].client("ec2")
    [found] = ec2.describe_instances(InstanceIds=[bad])["Reservations"][0]["Instances"]
    assert found["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"


def test_a_job_goes_on_while_a_deployment_changes_the_ami_of_its_nodes(
    run: Run, cluster: tuple[EmbeddedAws, Mapping[str, str]]
) -> None:
    job, _ = run(*LAUNCH, "sh", "-c", "echo step; exec sleep 8", fault=FaultKind.CHANGED_AMI)

    assert (job.status, exit_codes(job)) == ("SUCCEEDED", [0])
    batch, ec2 = (cluster[0].client(each) for each in ("batch", "ec2"))
    [environment] = batch.describe_compute_environments()["computeEnvironments"]
    [image] = environment["computeResources"]["ec2Configuration"]
    [ami] = ec2.describe_images(ImageIds=[image["imageIdOverride"]])["Images"]
    assert ami["Name"].endswith("-next")


def test_a_job_starts_although_its_main_node_is_late(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainshed.rehearse.faults.LATE_SECONDS", 3)

    job, said = run(*LAUNCH, "echo", "started", fault=FaultKind.LATE_MAIN_NODE)

    assert job.status == "SUCCEEDED"
    assert "started" in said


def test_a_missing_log_group_is_named(
    run: Run, cluster: tuple[EmbeddedAws, Mapping[str, str]]
) -> None:
    aws, outputs = cluster
    job, _ = run("true", fault=FaultKind.MISSING_LOG_GROUP)
    aws.client("logs").create_log_group(logGroupName=outputs["LogGroup"])

    assert (job.status, job.reason) == ("FAILED", "Task failed to start")
    assert "log group does not exist" in str(job.attempts[-1])


def test_a_missing_image_is_named(run: Run, cluster: tuple[EmbeddedAws, Mapping[str, str]]) -> None:
    delete_images(cluster[0])

    job, _ = run("true", fault=FaultKind.MISSING_IMAGE)

    assert str(job.attempts[-1]).startswith("CannotPullContainerError: ")


def test_an_image_of_a_cluster_file_elsewhere_is_looked_at_when_it_is_deployed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "job_image", lambda *_: "registry.example/train:1")

    with pytest.raises(TrainshedError, match="is not of this account"):
        run("true", fault=FaultKind.MISSING_IMAGE)


def test_a_stand_in_of_the_image_lets_jobs_start(
    run: Run,
    cluster: tuple[EmbeddedAws, Mapping[str, str]],
    rehearse: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aws = cluster[0]
    delete_images(aws)
    aws.lead_here(monkeypatch)

    first, again = (rehearse(*documented("trainshed offline image TrainCluster")) for _ in range(2))

    image = "123456789012.dkr.ecr.us-west-2.amazonaws.com/train:2.9.0-neuronx"
    assert (first.code, first.out) == (0, f"{image}\n"), first.err
    assert again == first
    [listed] = rehearse("container", "list", "TrainCluster", "--json").json
    assert (listed["tags"], listed["accelerator"]) == (["2.9.0-neuronx"], None)
    # As run() adds no image with this fault.
    assert run("true", fault=FaultKind.MISSING_IMAGE)[0].status == "SUCCEEDED"


def test_files_of_the_working_directory_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    command = with_files_here(["python", "examples/all_reduce.py", "--steps", "3"])

    assert command == ["python", str(ROOT / "examples/all_reduce.py"), "--steps", "3"]


def test_files_that_go_with_the_job_keep_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = ["python", "./examples/all_reduce.py", "README.md"]

    command = with_files_here(words, {"examples/all_reduce.py"})

    assert command == [*words[:2], str(ROOT / "README.md")]


@pytest.mark.parametrize("kind", FaultKind)
def test_every_fault_says_what_must_be_seen(kind: FaultKind) -> None:
    assert find_fault(kind, Orchestrator.BATCH, "TrainCluster").expected


def test_nodes_that_are_gone_between_jobs_lose_no_device_there(run: Run) -> None:
    with pytest.raises(
        TrainshedError,
        match="--fault unfit-node: the nodes of TrainCluster are there while a job runs only; "
        r"set instance\.nodes\.min in its file",
    ):
        run("true", fault=FaultKind.UNFIT_NODE)


def test_nodes_of_a_multi_node_job_are_not_taken_back(run: Run) -> None:
    with pytest.raises(
        TrainshedError,
        match="the nodes of TrainCluster are not on Spot, where AWS Batch runs no multi-node jobs; "
        r"set capacity: \{spot: \{\}\} and instance.nodes.max to 1 in its file",
    ):
        run("true", fault=FaultKind.SPOT_INTERRUPTION)


def test_nodes_that_are_not_on_spot_are_not_taken_back(
    cluster: tuple[EmbeddedAws, Mapping[str, str]],
) -> None:
    aws, outputs = cluster
    region = Region("us-west-2", aws.client)
    scene = Scene(aws=aws, region=region, cluster="TrainCluster", outputs=outputs, nodes=2)

    said = "--fault rebalance: the nodes of TrainCluster are not on Spot; set"
    with pytest.raises(TrainshedError, match=said):
        check_on_spot(FaultKind.REBALANCE, scene)


def test_the_network_of_the_machine_is_never_cut() -> None:
    with pytest.raises(Exception, match="needs nodes with networks of their own"):
        check_possible(FaultKind.CUT_NETWORK, loopback=True)


@pytest.mark.parametrize("fault", [None, FaultKind.MISSING_IMAGE])
def test_a_fault_that_waits_for_no_line_is_refused_one(fault: FaultKind | None) -> None:
    with pytest.raises(TrainshedError, match="--fault-after is for the faults kill-child, cut-"):
        check_possible(fault, loopback=True, after="step 9")


@pytest.fixture
def rehearse(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    project: Path,
) -> Any:
    monkeypatch.chdir(project)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return runner("trainshed", main, capsys, monkeypatch)


def test_more_nodes_than_the_cluster_file_has_are_refused_before_anything_is_synthesised(
    rehearse: Callable[..., Answer],
) -> None:
    answer = rehearse("rehearse", "TrainCluster", "--nodes", "200", "--", "true")

    assert answer.code == 2
    assert answer.err == (
        "error: --nodes 200: TrainCluster has at most 16 nodes; ask for fewer, or raise "
        "instance.nodes.max in the cluster's file\n"
    )


@pytest.mark.parametrize(
    ("orchestrator", "fault", "where"),
    [
        pytest.param("ec2", "missing-image", "batch, eks, and Plain has orchestrator ec2"),
        pytest.param(
            "eks",
            "missing-log-group",
            "batch, and Plain has orchestrator eks, where pods start without a log group: kubelets "
            "keep what they print",
        ),
    ],
)
def test_a_fault_of_another_orchestrator_is_refused_before_anything_is_synthesised(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rehearse: Callable[..., Answer],
    orchestrator: str,
    fault: str,
    where: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters/plain.yaml").write_text(
        f"name: Plain\nregion: us-west-2\norchestrator: {orchestrator}\n"
        "instance: {type: trn1.32xlarge, nodes: {max: 2}}\n"
    )

    answer = rehearse("rehearse", "Plain", "--fault", fault, "--", "true")

    assert answer.code == 2
    assert answer.err.splitlines()[-1] == (
        f"error: --fault {fault}: it is for orchestrator {where}; leave it out"
    )
    assert "synthesise the cluster" not in answer.err


@pytest.mark.parametrize("orchestrator", ["batch", "eks"])
def test_an_image_that_the_embedded_aws_takes_as_present_cannot_be_missing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rehearse: Callable[..., Answer],
    orchestrator: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters/any.yaml").write_text(
        f"name: Any\nregion: us-west-2\norchestrator: {orchestrator}\n"
        "instance: {type: trn1.32xlarge, nodes: {max: 2}}\n"
        'image: {uri: "registry.example/train:1"}\n'
    )

    answer = rehearse("rehearse", "Any", "--fault", "missing-image", "--", "true")

    assert answer.code == 2
    assert answer.err.splitlines()[-1] == (
        "error: --fault missing-image: registry.example/train:1 is not of this account's ECR, so "
        "the embedded AWS takes it as present; leave out image.uri of the cluster file for this "
        "rehearsal"
    )
    assert "synthesise the cluster" not in answer.err


def test_the_command_shows_a_job_cancelled_for_want_of_capacity(
    rehearse: Callable[..., Answer],
) -> None:
    options = ("--nodes", "2", "--fault", "insufficient-capacity", "--loopback")

    answer = rehearse("rehearse", "TrainCluster", *options, "--", "true")

    assert answer.code == 1
    assert "job RUNNABLE, nodes: 2 RUNNABLE: CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY" in answer.err
    assert "Canceled by JobStateTimeLimit action due to reason: CAPACITY" in answer.out
    assert "run the job" in answer.out


@needs(networks=True)
def test_a_cut_network_loses_a_node(rehearse: Callable[..., Answer]) -> None:
    options = ("--nodes", "2", "--fault", "cut-network")

    answer = rehearse("rehearse", "TrainCluster", *options, "--", "sh", "-c", STEPS)

    assert answer.code == 0
    assert "is lost" in answer.out
    assert "the job has SUCCEEDED after 2 attempts" in answer.out


@needs(networks=True)
def test_a_job_that_finds_its_storage_full_fails_and_says_so(
    rehearse: Callable[..., Answer],
) -> None:
    writes = "echo began; while echo x >/fsx/$AWS_BATCH_JOB_NODE_INDEX; do sleep 0.1; done; exit 3"
    options = ("--nodes", "2", "--fault", "full-storage")

    answer = rehearse("rehearse", "TrainCluster", *options, "--", "sh", "-c", writes)

    assert answer.code == 3, answer.out
    assert "the job has FAILED after 1 attempt" in answer.out
    assert re.search(r"job why: TS-JOB-039 .* /fsx/[01] has no space left", answer.out)


@needs(networks=True)
def test_the_command_shows_how_a_node_that_lacks_its_devices_is_replaced(
    rehearse: Callable[..., Answer],
) -> None:
    options = ("--nodes", "2", "--fault", "missing-device")

    # EC2 lists its type no more: the rehearsal is as of a day when it did.
    answer = rehearse("rehearse", "Dl1Cluster", *options, "--", "true")

    assert answer.code == 0, answer.out
    assert answer.out.count("node 1 (10.20.") == 1
    assert "0 of 8 habana devices are on the PCI bus; i-" in answer.out
    assert "the job has SUCCEEDED after 2 attempts" in answer.out


@needs_libraries("torch", "deepspeed")
def test_a_training_that_lost_a_child_is_tried_again_and_goes_on_from_its_checkpoint(
    rehearse: Callable[..., Answer], tmp_path: Path
) -> None:
    fault = ("--fault", "kill-child", "--fault-after", "step 21 of 40")
    torchrun = ("torchrun", "--nproc-per-node", "1", "--no-python")
    variables = ("env", *(f"{name}={value}" for name, value in VARIABLES.items()))
    training = (
        "python3",
        "examples/bert/train.py",
        "--model",
        "tiny",
        "--data",
        "synthetic",
        *SMALL_BATCHES,
    )
    steps = ("--steps", "40", "--checkpoint-every", "20")

    answer = rehearse(
        *("rehearse", "TrainCluster", "--nodes", "2", *fault, "--send", "examples/bert"),
        *("--", *torchrun, *variables),
        *(*training, *steps, "--checkpoint", str(tmp_path / "checkpoint")),
    )

    assert answer.code == 0, answer.out
    assert "the job has SUCCEEDED after 2 attempts" in answer.out
    assert f"│ 1       │ 0    │ {PEER_LOST}       │" in answer.out
    first, again, second = answer.out.partition("goes on after step 20, from ")
    assert again
    before, after = losses(first), losses(second)
    assert list(after) == list(range(21, 41))
    repeated = range(21, max(before) + 1)
    assert [after[step] for step in repeated] == pytest.approx(
        [before[step] for step in repeated], abs=2e-4
    )
    assert after[40] < before[1] - 1


def stack(name: str, template: Mapping[str, Any]) -> SynthesisedStack:
    """Return a stack of the app."""
    file = Path(f"{name}.template.json")
    return SynthesisedStack(path=name, region="us-west-2", file=file, template=template)


@pytest.mark.parametrize("name", ["Trains", "TrainNetwork"])
def test_what_is_no_cluster_that_takes_jobs_is_refused(
    rehearse: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    stacks = {
        "TrainNetwork": stack("TrainNetwork", {}),
        "TrainCluster": stack("TrainCluster", {"Outputs": {"Orchestrator": {}}}),
    }
    monkeypatch.setattr(deployment, "synthesise", lambda *_: stacks)

    answer = rehearse("rehearse", name, "--", "true")

    assert answer.code == 2
    assert (
        f"no cluster '{name}' that takes jobs here; those that do are: TrainCluster" in answer.err
    )


def test_a_rehearsal_that_is_stopped_leaves_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(server: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    template = {"Outputs": {"Orchestrator": {"Value": "batch"}}}
    stacks = {"TrainCluster": stack("TrainCluster", template)}
    monkeypatch.setattr(deployment, "synthesised", lambda *_: stacks)
    monkeypatch.setattr(rehearsal, "start", lambda *_, **__: Mock())
    monkeypatch.setattr(rehearsal, "EmbeddedAws", stopped)

    with pytest.raises(KeyboardInterrupt), workplace() as place:
        place.log.touch()
        rehearsal.rehearse(
            Rehearsal(cluster="TrainCluster", nodes=1, work=Work(command=("true",))),
            place,
            stages=Stages(lambda _: None),
            seen=lambda *_: None,
        )

    assert not list(tmp_path.iterdir())


def test_files_that_a_job_would_not_find_are_named_before_the_rehearsal(
    rehearse: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearse_command, "rehearse", Mock(side_effect=TrainshedError("stopped")))

    answer = rehearse("rehearse", "TrainCluster", "--", "python", "examples/all_reduce.py")

    assert answer.err.startswith("warning: examples/all_reduce.py is a file of this machine: a job")
    assert answer.err.endswith("error: stopped\n")


@pytest.mark.server
@pytest.mark.parametrize(("way", "code"), [("Ctrl-C", 130), ("SIGTERM", 143), ("close", 129)])
def test_a_rehearsal_that_is_stopped_leaves_nothing(
    tmp_path: Path, project: Path, way: str, code: int
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    command = [sys.executable, "-m", "trainshed.cli", "rehearse", "TrainCluster", "--loopback"]
    command += ["--nodes", "2", "--", "sh", "-c", "echo it runs; exec sleep 600"]

    with session(
        command, folder=project, environment={**os.environ, "TMPDIR": str(temporary)}
    ) as rehearsed:
        rehearsed.wait_for(b"it runs")
        started = psutil.Process(rehearsed.process.pid).children(recursive=True)
        assert [*temporary.rglob("trainshed-launch-*")]
        rehearsed.stop(way)

    assert rehearsed.process.returncode == code
    gone, alive = psutil.wait_procs(started, timeout=60)
    assert gone and not alive
    assert [*temporary.iterdir()] == []


def test_a_ready_job_is_rehearsed_with_its_tiny_model(
    rehearse: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Rehearsal] = []

    def stopped(wanted: Rehearsal, place: Workplace, **_: object) -> None:
        # Its nodes share the folder.
        assert Path(wanted.work.command[wanted.work.command.index("--checkpoint") + 1]).is_dir()
        asked.append(wanted)
        raise TrainshedError("stopped here")

    monkeypatch.setattr(rehearse_command, "rehearse", stopped)

    answer = rehearse("rehearse", "TrainCluster", "--nodes", "2", "--recipe", "bert-340m")

    assert answer.err.endswith("error: stopped here\n")
    [wanted] = asked
    assert (wanted.cluster, wanted.nodes) == ("TrainCluster", 2)
    words = " ".join(wanted.work.command)
    assert words.startswith("trainshed-launch torchrun --nproc-per-node 2 ")
    assert " bert/train.py --zero 0 " in words and " --model tiny " in words
    assert f"command: {words}" in answer.err
    assert not Path(wanted.work.command[wanted.work.command.index("--checkpoint") + 1]).exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ("--recipe", "health"),
            "ready job health cannot be rehearsed: it needs Trainium; submit it to the cluster: "
            "trainshed job submit TrainCluster --recipe health",
            id="no-rehearsal",
        ),
        pytest.param(("--recipe", "bert"), "did you mean bert-5b?", id="unknown"),
        pytest.param(
            ("--recipe", "bert-340m", "--", "true"),
            "--recipe bert-340m and the command true exclude each other",
            id="both",
        ),
    ],
)
def test_a_ready_job_that_cannot_be_rehearsed_is_refused(
    rehearse: Callable[..., Answer], arguments: tuple[str, ...], message: str
) -> None:
    answer = rehearse("rehearse", "TrainCluster", *arguments)

    assert answer.code == 2
    assert message in answer.err
