"""BERT on plain EC2 nodes on Spot, which goes on from the checkpoint that it wrote at a notice."""

import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from bert_training import ENVIRONMENT, PROGRAM, SMALL_BATCHES, TORCHRUN, losses
from command_bench import until
from command_line import runner
from job_bench import job_aws
from libraries import needs_libraries
from rehearse_project import write_app

from embedded_aws.job_settings import JobSettings
from trainshed.aws import Region
from trainshed.cli import main
from trainshed.jobs.nodes import running_nodes
from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.plan import Fleet, load_fleet
from trainshed.ready_jobs import Work
from trainshed.rehearse import deployment
from trainshed.rehearse.faults import FaultKind
from trainshed.rehearse.rehearsal import Rehearsal, job_path, run_job

CLUSTER = """name: PlainCluster
region: us-west-2
orchestrator: ec2
instance: {type: trn1.32xlarge, nodes: {max: 2}}
capacity: {spot: {}}
"""
STEPS = 200


def nodes(region: Region) -> list[str]:
    """The instances that have booted."""
    found = running_nodes(region, "PlainCluster")
    return [node.instance_id for node in found if node.boot == "ok"]


@needs_libraries("torch")
def test_bert_goes_on_from_the_checkpoint_that_it_wrote_when_ec2_took_a_node_back(
    synthesise: Callable[[Fleet], Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    file = tmp_path / "clusters/plain.yaml"
    file.parent.mkdir()
    file.write_text(CLUSTER)
    write_app(tmp_path, synthesise(load_fleet([file])))
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("", 0)) as free:
        port = str(free.getsockname()[1])
    training = (
        *("trainshed-launch", *(word.format(port=port) for word in TORCHRUN), str(PROGRAM)),
        *("--model", "tiny", "--data", "synthetic", *SMALL_BATCHES, "--zero", "0"),
        *("--steps", str(STEPS), "--checkpoint-every", str(STEPS)),
        *("--checkpoint", str(tmp_path / "checkpoint")),
    )
    rehearsal = Rehearsal(
        cluster="PlainCluster",
        work=Work(command=training, environment=ENVIRONMENT),
        fault=FaultKind.SPOT_INTERRUPTION,
        fault_after="step 3 of",
    )
    stacks = deployment.synthesised("PlainCluster", tmp_path / "cdk.out")
    printed: list[str] = []
    with job_path(), job_aws(tmp_path, JobSettings(loopback=True)) as aws:
        outputs = deployment.deploy(aws, {name: each.template for name, each in stacks.items()})
        region = Region("us-west-2", aws.client)
        before = set(nodes(region))

        ended = run_job(rehearsal, aws, region, outputs, lambda _, lines: printed.extend(lines))

        assert [each.ending and each.ending.exit_code for each in ended.nodes] == [PEER_LOST] * 2
        trainshed = runner("trainshed", main, capsys, monkeypatch)
        aws.lead_here(monkeypatch)
        until(lambda: len(found := nodes(region)) == 2 and {*found} != before, "another node")
        done = trainshed("job", "again", ended.job_id, "--watch")

    assert done.code == 0, done.err
    first, second = "\n".join(printed), done.out.replace("node 0: ", "")
    [step] = re.findall(r"checkpoint of step (\d+) written", first)
    assert 3 <= int(step) < STEPS
    assert f"goes on after step {step}, from " in second
    assert [*losses(second)] == [*range(int(step) + 1, STEPS + 1)]
