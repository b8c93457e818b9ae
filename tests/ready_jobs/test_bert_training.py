"""The smallest BERT, by the launcher, the sharding and the script of the large ones."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from bert_training import PLAIN, TORCHRUN, losses, start_bert
from launched_nodes import Nodes, nodes_of_a_job
from libraries import needs_libraries

from trainshed.nodes.exit_codes import PEER_LOST

pytestmark = needs_libraries("torch", "deepspeed")


@pytest.fixture
def attempt(tmp_path: Path) -> Iterator[Callable[..., Nodes]]:
    """Start an attempt of a training; each goes on from the checkpoints of those before it."""
    with ExitStack() as running:

        def start(*options: str, nodes: int, starter: Sequence[str] = TORCHRUN) -> Nodes:
            folder = tmp_path / f"attempt{len(list(tmp_path.iterdir()))}"
            folder.mkdir()
            job = running.enter_context(nodes_of_a_job(folder, nodes))
            start_bert(job, tmp_path / "checkpoint", *options, starter=starter)
            return job

        yield start


def test_a_training_that_lost_a_node_goes_on_as_if_nothing_had_happened(
    attempt: Callable[..., Nodes],
) -> None:
    options = ("--zero", "1", "--steps", "40", "--checkpoint-every", "20")
    first = attempt(*options, nodes=4)
    first.started[0].wait_until("step 21 of 40")
    launcher = psutil.Process(first.started[2].process.pid)
    for process in (launcher, *launcher.children(recursive=True)):
        process.kill()
    assert first.started[0].wait() == PEER_LOST

    second = attempt(*options, nodes=4, starter=PLAIN)

    for node in second.started.values():
        assert node.wait() == 0, node.said
    before, after = losses(first.started[0].said), losses(second.started[0].said)
    assert list(after) == list(range(21, 41))
    assert "goes on after step 20, from" in second.started[0].said
    repeated = range(21, max(before) + 1)
    assert [after[step] for step in repeated] == pytest.approx(
        [before[step] for step in repeated], abs=2e-4
    )
    assert after[40] < before[1] - 1
    assert f"done: step 40, loss {after[40]:.4f}, " in second.started[0].said


@pytest.mark.parametrize(
    ("zero", "starter", "code"),
    [
        pytest.param("0", PLAIN, 143, id="without-zero"),
        # torchrun's own code for a signal.
        pytest.param("2", TORCHRUN, 1, id="zero-2"),
    ],
)
def test_a_training_that_is_asked_to_end_loses_no_step(
    attempt: Callable[..., Nodes], tmp_path: Path, zero: str, starter: Sequence[str], code: int
) -> None:
    options = ("--zero", zero, "--steps", "24", "--checkpoint-every", "2")
    first = attempt(*options, nodes=2, starter=starter)
    first.started[0].wait_until("step 5 of 24")
    first.started[0].process.terminate()
    assert first.started[0].wait() == code
    before = losses(first.started[0].said)
    latest = tmp_path / "checkpoint" / "latest"
    assert latest.read_text() == f"step-{max(before):08d}\n"
    assert f"asked to end after step {max(before)}; " in first.started[0].said

    # An earlier one is as good. Were the processes' weights different, this would show it.
    latest.write_text("step-00000002\n")
    second = attempt(*options, nodes=2, starter=PLAIN)

    assert second.started[0].wait() == 0, second.started[0].said
    after = losses(second.started[0].said)
    assert list(after) == list(range(3, 25))
    repeated = range(3, max(before) + 1)
    assert [after[step] for step in repeated] == pytest.approx(
        [before[step] for step in repeated], abs=2e-4
    )
    assert after[24] < before[1] - 1
