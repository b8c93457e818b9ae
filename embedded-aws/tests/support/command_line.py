"""A command line, called as its script calls it, in the process of the tests."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def runner(
    program: str,
    main: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Answer]:
    """Return what runs a program with arguments; no region or account comes from outside."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    # It remembers credentials, those of other tests of this process, too.
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)

    def run(*arguments: str) -> Answer:
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        # Nobody answers a question, also where pytest leaves the terminal to the tests.
        with Path(os.devnull).open() as nobody, pytest.raises(SystemExit) as ended:
            monkeypatch.setattr(sys, "stdin", nobody)
            main()
        printed = capsys.readouterr()
        return Answer(code=int(ended.value.code or 0), out=printed.out, err=printed.err)

    return run
