"""A rehearsal in which a node is lost in the middle of a training."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bert_training import losses
from command_line import Answer, runner

from trainshed.cli import main
from trainshed.exit_codes import PEER_LOST

pytest.importorskip("torch", reason="needs PyTorch: run `make torch`")
pytest.importorskip("deepspeed", reason="needs DeepSpeed: run `make torch`")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def rehearse(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Answer]:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rehearse: Callable[..., Answer] = runner("trainshed", main, capsys, monkeypatch)
    return rehearse


def test_a_training_that_lost_a_child_is_tried_again_and_goes_on_from_its_checkpoint(
    rehearse: Callable[..., Answer], tmp_path: Path
) -> None:
    fault = ("--fault", "kill-child", "--fault-after", "step 14 of 26")
    torchrun = ("torchrun", "--nproc-per-node", "1", "--no-python")
    training = ("--model", "tiny", "--data", "synthetic", "--micro-batch", "4")
    steps = ("--steps", "26", "--checkpoint-every", "12")

    answer = rehearse(
        *("rehearse", "TrainCluster", "--nodes", "2", *fault, "--"),
        *(*torchrun, "trainshed-bert", *training, *steps),
        *("--checkpoint", str(tmp_path / "checkpoint")),
    )

    assert answer.code == 0, answer.out
    assert "the job has SUCCEEDED after 2 attempts" in answer.out
    assert f"│ 1       │ 0    │ {PEER_LOST}       │" in answer.out
    first, again, second = answer.out.partition("goes on after step 12, from ")
    assert again
    before, after = losses(first), losses(second)
    assert list(after) == list(range(13, 27))
    repeated = range(13, max(before) + 1)
    assert [after[step] for step in repeated] == pytest.approx(
        [before[step] for step in repeated], abs=2e-4
    )
    assert after[26] < before[1] - 1
