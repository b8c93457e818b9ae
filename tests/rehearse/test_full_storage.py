"""A job whose shared storage has no room, on nodes that are there between jobs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import runner
from rehearse_project import write_app
from skips import needs

from embedded_aws.kubernetes.cache import unavailable
from trainshed.cli import main
from trainshed.orchestrators import Orchestrator
from trainshed.plan import Fleet, load_fleet

pytestmark = [pytest.mark.server, needs("ip", "unshare", "nsenter", networks=True)]
CLUSTER = """name: Any
region: us-west-2
orchestrator: {orchestrator}
instance: {{type: trn1.32xlarge, nodes: {{max: 2}}}}
storage: {{lustre: {{deployment: scratch-2}}}}
"""
OF_EKS = 'kubernetes: {version: "1.35", access: [{role: Operator, policy: cluster-admin}]}\n'
WRITES = "echo began; while echo x >/fsx/$NODE_RANK; do sleep 0.1; done; exit 3"


@pytest.mark.parametrize("orchestrator", [Orchestrator.EC2, Orchestrator.EKS])
def test_a_job_that_finds_its_storage_full_fails_and_says_so(
    synthesise: Callable[[Fleet], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    orchestrator: Orchestrator,
) -> None:
    on_eks = orchestrator is Orchestrator.EKS
    if on_eks and (reason := unavailable()):
        pytest.skip(reason)
    file = tmp_path / "clusters/any.yaml"
    file.parent.mkdir()
    file.write_text(CLUSTER.format(orchestrator=orchestrator) + OF_EKS * on_eks)
    write_app(tmp_path, synthesise(load_fleet([file])))
    monkeypatch.chdir(tmp_path)
    logs = tmp_path / "logs"
    logs.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(logs))
    run = runner("trainshed", main, capsys, monkeypatch)
    command = ("trainshed-launch", "sh", "-c", WRITES)

    answer = run("rehearse", "Any", "--fault", "full-storage", "--", *command)

    assert answer.code == 3, answer.out + answer.err
    assert re.search(r"job why: TS-JOB-039 .* /fsx/[01] has no space left", answer.out)
