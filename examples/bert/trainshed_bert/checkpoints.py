"""Checkpoints in a folder that all nodes share: docs/bert.md names its files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree

from torch import distributed

from trainshed_bert.devices import Device
from trainshed_bert.engines import Engine
from trainshed_bert.settings import Arguments, BertError

_NAME = "step-{:08d}"
_PATTERN = re.compile(r"step-(\d{8})")


class Checkpoints:
    """The checkpoints of one training.

    Raises:
        BertError: the folder cannot be used, is not shared, or is another training's.
    """

    def __init__(self, arguments: Arguments, device: Device) -> None:
        self._folder = arguments.checkpoint
        self._keep = arguments.keep
        self._device = device
        self._first = distributed.get_rank() == 0
        settings = _settings(arguments, distributed.get_world_size())
        file = self._folder / "settings.json"
        problem = self._prepare(file, settings) if self._first else ""
        # Nobody goes on without the first process.
        if self._device.sum([float(bool(problem))])[0]:
            raise BertError(problem or "the first process cannot use the folder; see its message")
        lacking = self._device.sum([float(not file.is_file())])[0]
        if lacking:
            raise BertError(
                f"{lacking:.0f} processes do not find {file}, which the first one wrote; give "
                "--checkpoint a folder that all nodes share, for instance below /fsx"
            )

    def _prepare(self, file: Path, settings: Mapping[str, object]) -> str:
        """Return why the folder cannot be used; nothing if it can."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if (self._folder / "latest").exists():
                before = json.loads(file.read_text(encoding="utf-8"))
                return self._difference(before, settings)
            _replace(file, json.dumps(settings, indent=2) + "\n")
        except (OSError, ValueError) as error:
            return f"--checkpoint {self._folder} cannot be used: {error}; take another folder"
        return ""

    def _difference(self, before: Mapping[str, object], now: Mapping[str, object]) -> str:
        others = [
            f"{name} {before.get(name)}, not {value}"
            for name, value in now.items()
            if before.get(name) != value
        ]
        if not others:
            return ""
        return (
            f"--checkpoint {self._folder} has checkpoints of another training: {', '.join(others)}"
            "; go on with its settings, or take another folder"
        )

    def resume(self, engine: Engine) -> int:
        """Load the last checkpoint; return its step, or 0 when there is none."""
        latest = self._folder / "latest"
        step = 0
        if self._first and latest.exists():
            found = _PATTERN.fullmatch(latest.read_text(encoding="utf-8").strip())
            step = int(found[1]) if found else -1
        step = int(self._device.sum([float(step)])[0])
        if step < 0:
            raise BertError(f"{latest} names no checkpoint; write the name of a folder beside it")
        folder = self._folder / _NAME.format(step)
        if step and not folder.is_dir():
            raise BertError(f"{latest} names {folder.name}, which does not exist; name another one")
        if step:
            engine.load(folder)
        return step

    def save(self, engine: Engine, step: int) -> None:
        """Write a checkpoint; it counts when all processes have written theirs."""
        folder = self._folder / _NAME.format(step)
        folder.mkdir(exist_ok=True)
        engine.save(folder)
        distributed.barrier()
        if os.environ["LOCAL_RANK"] == "0":
            # A host that is lost must not take with it what `latest` promises.
            for file in folder.rglob("*"):
                _flush(file)
        distributed.barrier()
        if self._first:
            _replace(self._folder / "latest", folder.name + "\n")
            self._remove_old(step)

    def _remove_old(self, step: int) -> None:
        if self._keep is None:
            return
        found = (_PATTERN.fullmatch(path.name) for path in self._folder.iterdir())
        steps = sorted(int(each[1]) for each in found if each and int(each[1]) <= step)
        for old in steps[: -self._keep]:
            rmtree(self._folder / _NAME.format(old))


def _settings(arguments: Arguments, processes: int) -> Mapping[str, object]:
    """What must stay the same: the shards of weights and optimizer, and which data was seen."""
    return {
        "model": arguments.model,
        "zero": arguments.zero,
        "optimizer": arguments.optimizer,
        "processes": processes,
        "micro-batch": arguments.micro_batch,
        "accumulation": arguments.accumulation,
        "sequence-length": arguments.sequence_length,
        "seed": arguments.seed,
        "data": str(arguments.data or "synthetic"),
    }


def _replace(file: Path, content: str) -> None:
    """Write a file so that there is the old one or the new one, whatever happens."""
    new = file.with_name(file.name + ".new")
    new.write_text(content, encoding="utf-8")
    _flush(new)
    new.replace(file)
    _flush(file.parent)


def _flush(path: Path) -> None:
    """Have a file, or the names in a folder, written to the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
