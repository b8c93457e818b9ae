"""Tokens that were prepared before: a folder of HDF5 files, as docs/bert.md says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch

from trainshed_bert.batches import IGNORED, Batch, generator
from trainshed_bert.settings import Arguments, BertError, OneRankError

_ROWS = ("input_ids", "segment_ids", "input_mask", "masked_lm_positions", "masked_lm_ids")
_LABELS = "next_sentence_labels"
_PREPARE = "prepare the data as docs/bert.md says"


class Shards:
    """One rank's part of the data: of each epoch some files, in another order each time.

    Raises:
        BertError: the folder does not have a file for each rank.
    """

    def __init__(self, folder: Path, asked: Arguments, *, rank: int, ranks: int) -> None:
        if not folder.is_dir():
            raise BertError(f"--data {folder} is not a folder; name that of the shards")
        self._files = sorted(folder.glob("*.hdf5"))
        if len(self._files) < ranks:
            raise BertError(
                f"--data {folder} has {len(self._files)} files *.hdf5, and each of {ranks} "
                "processes needs its own; divide the data into more"
            )
        self._asked, self._rank, self._ranks = asked, rank, ranks

    def batches(self, start: int) -> Iterator[Batch]:
        """Yield batches without end, through as many epochs as it takes.

        Args:
            start: how many to leave out, which costs a look at each file.

        Raises:
            OneRankError: a file is not what it should be.
        """
        epoch, size = 0, self._asked.micro_batch
        while True:
            seen = 0
            for file in self._own(epoch):
                batches = self._rows(file) // size
                seen += batches
                if start >= batches:
                    start -= batches
                else:
                    yield from self._read(file, epoch, start)
                    start = 0
            if not seen:
                raise OneRankError(
                    f"the files of --data are smaller than --micro-batch {size}; "
                    "take a smaller one, or join files"
                )
            epoch += 1

    def _own(self, epoch: int) -> list[Path]:
        order = torch.randperm(
            len(self._files), generator=generator(self._asked.seed, epoch)
        ).tolist()
        # As many for each rank: what is left over comes in another epoch.
        each = len(order) // self._ranks
        return [self._files[number] for number in order[self._rank :: self._ranks][:each]]

    def _rows(self, file: Path) -> int:
        import h5py

        try:
            with h5py.File(file, "r") as shard:
                rows, length = shard[_ROWS[0]].shape
        except (OSError, KeyError, ValueError) as error:
            raise OneRankError(f"{file} cannot be read: {error}; {_PREPARE}") from error
        if length != self._asked.sequence_length:
            raise OneRankError(
                f"the sequences of {file} have {length} tokens; set --sequence-length to it"
            )
        return int(rows)

    def _read(self, file: Path, epoch: int, start: int) -> Iterator[Batch]:
        import h5py

        try:
            with h5py.File(file, "r") as shard:
                # At once: files are compressed, and their rows are wanted in another order.
                parts = [torch.from_numpy(shard[name][:]).long() for name in (*_ROWS, _LABELS)]
        except (OSError, KeyError) as error:
            raise OneRankError(f"{file} cannot be read: {error}; {_PREPARE}") from error
        largest, known = int(parts[0].max()), self._asked.published.shape.vocabulary
        if largest >= known:
            raise OneRankError(
                f"{file} has the token {largest}, and the model knows {known}; "
                "take another --model or other data"
            )
        number = self._files.index(file)
        order = torch.randperm(len(parts[0]), generator=generator(self._asked.seed, epoch, number))
        size = self._asked.micro_batch
        for batch in range(start, len(order) // size):
            rows = order[batch * size : (batch + 1) * size]
            tokens, segments, mask, positions, words, unrelated = (part[rows] for part in parts)
            # Position 0 is [CLS], which is never masked.
            labels = torch.where(positions > 0, words, IGNORED)
            yield Batch(tokens, segments, mask, positions, labels, unrelated.flatten())
