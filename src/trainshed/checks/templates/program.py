"""Tools that are programs of their own, and judge what a synthesis has written."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import Protocol

from trainshed.checks.templates.model import Assembly
from trainshed.errors import Failure
from trainshed.findings.tools import State, TemplateFinding, ToolRun

Step = Callable[[str], None]
# Raises Failure.
Judge = Callable[[Assembly], tuple[TemplateFinding, ...]]


class Program(Protocol):
    """A tool that is a program of its own; a module may be one."""

    @property
    def NAME(self) -> str:
        """What it is called."""

    def missing(self) -> str | None:
        """Return why it cannot run, and what to do; None when it can."""

    def basis(self) -> list[str] | None:
        """Return what its answers depend on besides the templates; None when that is not known."""

    def loaded(self, folder: Path) -> AbstractContextManager[Judge]:
        """Start to load it, and return what judges.

        Args:
            folder: where it finds no settings of its own.
        """


@contextmanager
def loaded_programs(
    programs: Sequence[Program], folder: Path
) -> Iterator[Mapping[str, Judge | ToolRun]]:
    """Start to load programs, so that they are ready once there is something to judge.

    Returns: what judges, by the name of the program; for one that cannot run, why not.
    """
    with ExitStack() as stack:
        ready: dict[str, Judge | ToolRun] = {}
        for program in programs:
            if reason := program.missing():
                ready[program.NAME] = ToolRun(tool=program.NAME, state=State.NOT_RUN, reason=reason)
                continue
            try:
                ready[program.NAME] = stack.enter_context(program.loaded(folder))
            except Failure as error:
                ready[program.NAME] = _failed(program.NAME, str(error), 0)
        yield ready


def run_programs(
    ready: Mapping[str, Judge | ToolRun], assembly: Assembly, step: Step
) -> tuple[ToolRun, ...]:
    """Have programs judge, all at the same time."""
    runs = {tool: each for tool, each in ready.items() if isinstance(each, ToolRun)}
    start = monotonic()
    with ThreadPoolExecutor() as pool:
        judged = {
            pool.submit(judge, assembly): tool
            for tool, judge in ready.items()
            if not isinstance(judge, ToolRun)
        }
        if judged:
            step(f"running {' and '.join(judged.values())}")
        for done in as_completed(judged):
            tool, seconds = judged[done], round(monotonic() - start, 1)
            try:
                found = done.result()
                runs[tool] = ToolRun(tool=tool, findings=found, seconds=seconds)
                step(f"{tool} took {seconds:.0f} s")
            except Failure as error:
                runs[tool] = _failed(tool, str(error), seconds)
            except (LookupError, TypeError, AttributeError):
                # Another release of it, perhaps.
                runs[tool] = _failed(tool, "it printed JSON in an unknown form", seconds)
    return tuple(runs[tool] for tool in ready)


def _failed(tool: str, reason: str, seconds: float) -> ToolRun:
    return ToolRun(tool=tool, state=State.FAILED, reason=reason, seconds=seconds)
