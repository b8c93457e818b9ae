"""The parts of the BERT training, in one process: model, data, optimizers, checkpoints."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: run `make torch`")
h5py = pytest.importorskip("h5py", reason="needs h5py: run `make torch`")

from torch import distributed  # noqa: E402

from trainshed_bert.batches import IGNORED, Batch  # noqa: E402
from trainshed_bert.checkpoints import Checkpoints  # noqa: E402
from trainshed_bert.devices import Device  # noqa: E402
from trainshed_bert.engines import DataParallel  # noqa: E402
from trainshed_bert.model import Bert  # noqa: E402
from trainshed_bert.optimizers import make_optimizer  # noqa: E402
from trainshed_bert.settings import PUBLISHED, Arguments, BertError, parse  # noqa: E402
from trainshed_bert.shards import Shards  # noqa: E402
from trainshed_bert.synthetic import synthetic_batches  # noqa: E402

# Several wait for each other by spinning, for longer than they compute so little.
torch.set_num_threads(1)

TINY = PUBLISHED["tiny"].shape
LENGTH = 16


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("tiny", 183_554),
        ("340m", 336_232_258),
        ("1.5b", 1_530_388_930),
        ("5b", 5_049_243_970),
    ],
)
def test_a_model_is_as_large_as_it_is_called(name: str, parameters: int) -> None:
    with torch.device("meta"):
        model = Bert(PUBLISHED[name].shape)

    assert sum(each.numel() for each in model.parameters()) == parameters


def settings(**others: Any) -> Arguments:
    words = ["--model", "tiny", "--data", "synthetic", "--checkpoint", "none"]
    return replace(parse(words, "cpu"), seed=1, **{"sequence_length": LENGTH, **others})


def synthetic(start: int = 0, rank: int = 0) -> Iterator[Batch]:
    return synthetic_batches(settings(micro_batch=4), rank=rank, start=start)


def same(one: Batch, other: Batch) -> bool:
    return all(torch.equal(here, there) for here, there in zip(one, other, strict=True))


def test_synthetic_data_go_on_where_they_stopped() -> None:
    batches = list(islice(synthetic(), 5))

    assert same(next(synthetic(start=4)), batches[4])
    assert not same(next(synthetic(rank=1)), batches[0])


def test_what_is_masked_is_hidden_and_asked_for() -> None:
    batch = next(synthetic())

    hidden = batch.tokens.gather(1, batch.positions)
    assert bool((hidden == 3).all())
    assert bool((batch.labels > 3).all())
    assert int(batch.tokens.max()) < TINY.vocabulary


@pytest.mark.parametrize("norm_first", [True, False])
def test_activations_that_are_computed_again_change_no_gradient(norm_first: bool) -> None:
    shape = type(TINY)(**{**vars(TINY), "norm_first": norm_first})
    gradients = []
    for recompute in (False, True):
        torch.manual_seed(5)
        model = Bert(shape, recompute=recompute)
        model(*next(synthetic())).backward()
        gradients.append([each.grad for each in model.parameters()])

    for plain, again in zip(*gradients, strict=True):
        torch.testing.assert_close(plain, again)


def test_what_is_after_the_end_changes_nothing() -> None:
    model = Bert(TINY).eval()
    batch = next(synthetic())
    mask = batch.mask.clone()
    mask[:, -2:] = 0
    positions = batch.positions.clamp(max=LENGTH - 3)
    other = batch.tokens.clone()
    other[:, -2:] = 9

    losses = [
        model(*batch._replace(tokens=tokens, mask=mask, positions=positions)).item()
        for tokens in (batch.tokens, other)
    ]

    assert losses[0] == pytest.approx(losses[1])


@pytest.mark.parametrize("name", ["lamb", "lans"])
def test_a_step_is_as_long_as_the_weights_say(name: str) -> None:
    layer = torch.nn.Linear(3, 3, bias=False)
    before = layer.weight.detach().clone()
    optimizer = make_optimizer(name, layer)
    optimizer.param_groups[0]["lr"] = 0.1
    layer.weight.grad = torch.randn(3, 3) * 1000

    optimizer.step()

    # The first step of both: all its parts have one direction.
    assert (layer.weight - before).norm().item() == pytest.approx(0.1 * before.norm().item(), 0.02)


def test_a_small_gradient_counts_as_a_large_one_with_lans() -> None:
    steps = []
    for scale in (1.0, 1e-3):
        torch.manual_seed(3)
        layer = torch.nn.Linear(3, 3, bias=False)
        optimizer = make_optimizer("lans", layer)
        optimizer.param_groups[0]["lr"] = 0.1
        gradient = torch.randn(3, 3)
        for _ in range(3):
            layer.weight.grad = gradient * scale
            optimizer.step()
        steps.append(layer.weight.detach())

    torch.testing.assert_close(steps[0], steps[1], rtol=1e-2, atol=1e-3)


def test_biases_do_not_decay() -> None:
    groups = make_optimizer("adamw", Bert(TINY)).param_groups

    assert [group["weight_decay"] for group in groups] == [0.01, 0.0]
    assert {each.dim() for each in groups[0]["params"]} == {2}
    assert {each.dim() for each in groups[1]["params"]} == {1}


@pytest.fixture
def write_shards(tmp_path: Path) -> Callable[..., Path]:
    """Write files in the format of NVIDIA's scripts."""

    def write(rows: list[int], **others: Any) -> Path:
        for number, count in enumerate(rows):
            tokens = torch.randint(4, 100, (count, LENGTH))
            tokens[:, 0] = 1
            # The file and the row, to recognise a sequence by.
            tokens[:, 1] = number + 4
            tokens[:, 2] = torch.arange(count) + 4
            positions = torch.zeros(count, 3, dtype=torch.long)
            positions[:, 0] = 5
            arrays = {
                "input_ids": tokens,
                "input_mask": torch.ones_like(tokens),
                "segment_ids": torch.zeros_like(tokens),
                "masked_lm_positions": positions,
                "masked_lm_ids": torch.where(positions > 0, 7, 0),
                "next_sentence_labels": torch.arange(count) % 2,
                **others,
            }
            with h5py.File(tmp_path / f"part_training_{number}.hdf5", "w") as file:
                for name, array in arrays.items():
                    file.create_dataset(name, data=array.numpy(), compression="gzip")
        return tmp_path

    return write


def shards(folder: Path, rank: int = 0, ranks: int = 1, **others: Any) -> Shards:
    return Shards(folder, settings(**{"micro_batch": 2, **others}), rank=rank, ranks=ranks)


def sequences(batches: Iterator[Batch], count: int) -> list[tuple[int, ...]]:
    taken = islice(batches, count)
    return [tuple(row.tolist()) for batch in taken for row in batch.tokens[:, 1:3]]


def test_each_rank_reads_its_own_shards(write_shards: Callable[..., Path]) -> None:
    folder = write_shards([4, 4, 4, 4])

    seen = [sequences(shards(folder, rank, 2).batches(0), 4) for rank in (0, 1)]

    assert len(set(seen[0]) | set(seen[1])) == 16
    assert len({file for file, _ in seen[0]}) == 2


def test_shards_go_on_where_they_stopped(write_shards: Callable[..., Path]) -> None:
    folder = write_shards([5, 2, 7])
    # An epoch has 6 batches; what is left over of a file comes in another epoch.
    all_batches = list(islice(shards(folder).batches(0), 20))

    for start in (1, 6, 17):
        assert same(next(shards(folder).batches(start)), all_batches[start])


def test_epochs_have_other_orders(write_shards: Callable[..., Path]) -> None:
    seen = sequences(shards(write_shards([8])).batches(0), 8)

    assert sorted(seen[:8]) == sorted(seen[8:])
    assert seen[:8] != seen[8:]


def test_places_without_a_masked_token_are_left_out(write_shards: Callable[..., Path]) -> None:
    batch = next(shards(write_shards([4])).batches(0))

    assert batch.labels.tolist() == [[7, IGNORED, IGNORED]] * 2
    assert bool(torch.isfinite(Bert(TINY)(*batch)))


@pytest.mark.parametrize(
    ("rows", "changes", "others", "message"),
    [
        ([4], {"ranks": 2}, {}, "has 1 files .*each of 2 processes"),
        ([4], {"sequence_length": 128}, {}, "have 16 tokens; set --sequence-length"),
        ([1], {}, {}, "smaller than --micro-batch 2"),
        ([4], {}, {"input_ids": torch.full((4, LENGTH), 30_000)}, "the token 30000"),
        ([4], {}, {"input_ids": torch.zeros(4)}, "cannot be read"),
    ],
)
def test_unfit_shards_are_refused(
    write_shards: Callable[..., Path],
    rows: list[int],
    changes: dict[str, Any],
    others: dict[str, Any],
    message: str,
) -> None:
    folder = write_shards(rows, **others)

    with pytest.raises(BertError, match=message):
        next(shards(folder, **changes).batches(0))


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A device whose process is the only one."""
    monkeypatch.setenv("LOCAL_RANK", "0")
    store = tmp_path / "store"
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=0, world_size=1)
    yield Device("cpu", "gloo")
    distributed.destroy_process_group()


def arguments(folder: Path, *options: str) -> Arguments:
    words = ["--model", "tiny", "--data", "synthetic", "--checkpoint", str(folder / "saved")]
    return parse([*words, "--zero", "0", "--accumulation", "2", *options], "cpu")


def engine(asked: Arguments, device: Device) -> DataParallel:
    torch.manual_seed(1)
    return DataParallel(asked, Bert(TINY), device)


def take_steps(trained: DataParallel, steps: range) -> list[float]:
    found = []
    for step in steps:
        torch.manual_seed(step)
        found.append(trained.train(islice(synthetic(start=2 * step), 2), rate=0.03))
    return found


@pytest.mark.parametrize("optimizer", ["lans", "lamb", "adamw"])
def test_without_zero_a_resumed_training_is_the_same(
    alone: Device, tmp_path: Path, optimizer: str
) -> None:
    asked = arguments(tmp_path, "--optimizer", optimizer)
    undisturbed = engine(asked, alone)
    first = take_steps(undisturbed, range(3))
    Checkpoints(asked, alone).save(undisturbed, 3)

    resumed = engine(asked, alone)
    step = Checkpoints(asked, alone).resume(resumed)

    assert step == 3
    expected = take_steps(undisturbed, range(3, 6))
    assert take_steps(resumed, range(3, 6)) == pytest.approx(expected)
    assert expected[-1] < first[0]


def test_a_checkpoint_that_was_not_finished_does_not_count(alone: Device, tmp_path: Path) -> None:
    asked = arguments(tmp_path)
    checkpoints, trained = Checkpoints(asked, alone), engine(asked, alone)
    checkpoints.save(trained, 1)

    class Killed(DataParallel):
        def save(self, folder: Path) -> None:
            super().save(folder)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checkpoints.save(Killed(asked, Bert(TINY), alone), 2)

    assert (tmp_path / "saved/step-00000002").is_dir()
    assert Checkpoints(asked, alone).resume(trained) == 1


@pytest.mark.parametrize(
    ("options", "kept"),
    [((), [1, 2, 3]), (("--keep", "2"), [2, 3])],
)
def test_checkpoints_are_kept_unless_told_otherwise(
    alone: Device, tmp_path: Path, options: tuple[str, ...], kept: list[int]
) -> None:
    asked = arguments(tmp_path, *options)
    checkpoints, trained = Checkpoints(asked, alone), engine(asked, alone)

    for step in (1, 2, 3):
        checkpoints.save(trained, step)

    assert sorted(each.name for each in (tmp_path / "saved").glob("step-*")) == [
        f"step-{step:08d}" for step in kept
    ]


def test_another_training_does_not_take_the_checkpoints(alone: Device, tmp_path: Path) -> None:
    asked = arguments(tmp_path)
    Checkpoints(asked, alone).save(engine(asked, alone), 1)

    with pytest.raises(BertError, match="another training: micro-batch 8, not 4, seed 12439, not"):
        Checkpoints(arguments(tmp_path, "--micro-batch", "4", "--seed", "7"), alone)

    # More steps, and another rate, are the same training.
    Checkpoints(arguments(tmp_path, "--steps", "99", "--learning-rate", "0.1"), alone)


def test_settings_may_change_until_there_is_a_checkpoint(alone: Device, tmp_path: Path) -> None:
    Checkpoints(arguments(tmp_path), alone)

    Checkpoints(arguments(tmp_path, "--seed", "7"), alone)


@pytest.mark.parametrize(
    ("latest", "message"),
    [("nonsense", "names no checkpoint"), ("step-00000009", "which does not exist")],
)
def test_a_checkpoint_that_is_gone_is_named(
    alone: Device, tmp_path: Path, latest: str, message: str
) -> None:
    asked = arguments(tmp_path)
    checkpoints = Checkpoints(asked, alone)
    checkpoints.save(engine(asked, alone), 1)
    (tmp_path / "saved/latest").write_text(latest)

    with pytest.raises(BertError, match=message):
        checkpoints.resume(engine(asked, alone))


def test_a_folder_that_cannot_be_used_is_named(alone: Device, tmp_path: Path) -> None:
    (tmp_path / "saved").write_text("a file")

    with pytest.raises(BertError, match=r"saved cannot be used: .*; take another folder"):
        Checkpoints(arguments(tmp_path), alone)


def test_a_folder_that_the_others_do_not_see_is_refused(alone: Device, tmp_path: Path) -> None:
    class OnFourNodes(Device):
        # No problem of the first process; then, three that do not find its file.
        sums: ClassVar = [[0.0], [3.0]]

        def sum(self, numbers: Sequence[float]) -> list[float]:
            found: list[float] = self.sums.pop(0)
            return found

    with pytest.raises(BertError, match=r"3 processes do not find .*settings\.json"):
        Checkpoints(arguments(tmp_path), OnFourNodes("cpu", "gloo"))
