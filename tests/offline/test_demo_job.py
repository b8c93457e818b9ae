"""The job at the end of `make demo`, on the queue of a deployed cluster."""

import demo_job
import pytest

from embedded_aws.embedded import EmbeddedAws


@pytest.mark.parametrize("launcher", ["mpirun", "torchrun"])
def test_every_rank_has_the_sum(
    job_aws: EmbeddedAws,
    launcher: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if launcher == "torchrun":
        pytest.importorskip("torch", reason="needs PyTorch: run `make torch`")
    job_aws.lead_here(monkeypatch)

    demo_job.main(launcher)

    *lines, result = capsys.readouterr().out.splitlines()
    assert {line.split()[1] for line in lines if line.startswith("  rank ")} == set("01234567")
    assert result == "all 8 ranks on 4 nodes have the sum 28"


def test_a_job_that_fails_ends_the_demo(
    job_aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_aws.lead_here(monkeypatch)
    monkeypatch.setattr(demo_job, "command", lambda _: ("false",))

    with pytest.raises(SystemExit, match=r"the job is FAILED: .*; its ranks said \[\]"):
        demo_job.main("mpirun")
