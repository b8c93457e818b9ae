"""What the BERT training is asked to do, and how the learning rate moves; PyTorch is not needed."""

import subprocess
import sys
from pathlib import Path

import pytest
from bert_training import PROGRAM

from trainshed.catalogue import lookup
from trainshed.ready_jobs import JobNodes, find_ready_job
from trainshed_bert.settings import BertError, parse, rate

PLACES = ("--data", "synthetic", "--checkpoint", "/fsx/bert")


def test_what_is_left_out_is_as_published_on_gaudi() -> None:
    asked = parse(["--model", "1.5b", *PLACES], "hpu")

    assert (asked.zero, asked.micro_batch, asked.accumulation) == (1, 16, 24)
    assert (asked.optimizer, asked.learning_rate, asked.steps) == ("lans", 0.0015, 155_000)


def test_what_is_left_out_is_as_published_on_trainium() -> None:
    asked = parse(["--model", "340m", *PLACES], "xla")

    assert (asked.zero, asked.micro_batch, asked.accumulation) == (0, 16, 32)
    assert (asked.optimizer, asked.learning_rate, asked.steps) == ("adamw", 4e-4, 28_125)


@pytest.mark.parametrize(
    ("ready_job", "instance", "device"),
    [
        ("bert-340m", "dl1.24xlarge", "hpu"),
        ("bert-1.5b", "dl1.24xlarge", "hpu"),
        ("bert-5b", "dl1.24xlarge", "hpu"),
        ("bert-340m", "trn1.32xlarge", "xla"),
    ],
)
def test_ready_jobs_ask_for_what_the_program_knows_as_published(
    ready_job: str, instance: str, device: str
) -> None:
    node = lookup(instance)
    found = find_ready_job(ready_job, node)
    one = JobNodes(instance=node, count=1, shared_folder="/fsx")
    words = found.work(one, found.read({})).command

    asked = parse(words[words.index("bert/train.py") + 1 :], device)
    published = parse(["--model", asked.model, *PLACES], device)

    for name in (
        *("zero", "micro_batch", "accumulation", "steps", "sequence_length"),
        "learning_rate",
    ):
        assert getattr(asked, name) == getattr(published, name), name


def test_what_is_given_counts() -> None:
    options = ["--zero", "0", "--micro-batch", "4", "--learning-rate", "0.01", "--device", "cpu"]

    asked = parse(["--model", "5b", *PLACES, *options], "hpu")

    assert (asked.zero, asked.micro_batch, asked.accumulation) == (0, 4, 4)
    assert (asked.learning_rate, asked.device) == (0.01, "cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sequence-length", "513"), "340m takes 8 to 512 tokens"),
        (("--sequence-length", "7"), "340m takes 8 to 512 tokens"),
        (("--zero", "1", "--device", "xla"), "use --zero 0"),
    ],
)
def test_what_contradicts_itself_is_refused(options: tuple[str, ...], message: str) -> None:
    with pytest.raises(BertError, match=message):
        parse(["--model", "340m", *PLACES, *options], "cpu")


@pytest.mark.parametrize("option", ["--steps=0", "--learning-rate=2", "--model=9b", "--nope"])
def test_a_wrong_option_ends_with_the_code_that_is_not_tried_again(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["--model", "tiny", *PLACES, option], "cpu")

    assert ended.value.code == 78
    assert capsys.readouterr().err.startswith("bert: ERROR: ")


def test_a_python_without_pytorch_says_so_in_one_line(tmp_path: Path) -> None:
    # -S: without site-packages.
    ended = subprocess.run(
        [sys.executable, "-S", PROGRAM, "--model", "tiny", *PLACES],
        env={},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 78
    assert ended.stderr.startswith("bert: ERROR: ")
    assert "has no torch, which training needs; install it in the container image" in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("step", "expected"),
    [(1, 0.02), (25, 0.5), (50, 1), (300, 1), (650, 0.5), (1000, 0)],
)
def test_the_learning_rate_rises_stays_and_falls(step: int, expected: float) -> None:
    asked = parse(["--model", "1.5b", *PLACES, "--steps", "1000", "--learning-rate", "0.5"], "cpu")

    assert rate(step, asked) == pytest.approx(expected / 2)
