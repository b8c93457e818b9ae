"""The jobs of `make demo`, on the queue of a deployed cluster."""

import demo_job
import pytest
from libraries import needs_libraries

from embedded_aws.embedded import EmbeddedAws


@pytest.mark.parametrize(
    ("launcher", "nodes", "ranks"),
    [
        pytest.param("mpirun", demo_job.NODES, demo_job.RANKS, id="mpirun"),
        # Fewer: each process loads PyTorch for seconds.
        pytest.param("torchrun", 2, 4, id="torchrun", marks=needs_libraries("torch")),
    ],
)
def test_every_rank_has_the_sum(
    job_aws: EmbeddedAws,
    launcher: str,
    nodes: int,
    ranks: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(demo_job, "NODES", nodes)
    monkeypatch.setattr(demo_job, "RANKS", ranks)
    job_aws.lead_here(monkeypatch)

    demo_job.main(launcher)

    *lines, result = capsys.readouterr().out.splitlines()
    said = {line.split()[1] for line in lines if line.startswith("  rank ")}
    assert said == {str(rank) for rank in range(ranks)}
    assert result == f"all {ranks} ranks on {nodes} nodes have the sum {sum(range(ranks))}"
    assert any("ranks follow the network: node " in line for line in lines) == (nodes > 2)
    assert not any("not the network" in line for line in lines)


def test_a_job_that_fails_ends_the_demo(
    job_aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_aws.lead_here(monkeypatch)
    monkeypatch.setattr(demo_job, "command", lambda _: ("false",))

    with pytest.raises(SystemExit, match=r"the job is FAILED: .*; its ranks said \[\]"):
        demo_job.main("mpirun")
