"""What a review remembers: by content, whole or not at all, and not forever."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from trainshed.app.synthesis import App, SynthesisedStack, read_assembly
from trainshed.checks.templates.model import Assembly
from trainshed.checks.templates.program import Judge
from trainshed.errors import Failure
from trainshed.findings import Severity
from trainshed.findings.tools import TemplateFinding
from trainshed.review.cache import Cache, key, user_cache
from trainshed.review.remembered import RememberingProgram, remembered_synthesis
from trainshed.review.repository import BaseCommit

DAY = 24 * 60 * 60


@pytest.fixture
def said() -> list[str]:
    """What the cache says."""
    return []


@pytest.fixture
def cache(tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch) -> Cache:
    """The cache of a user who has used none yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return user_cache(said.append)


def entries(tmp_path: Path) -> list[Path]:
    """The files of the cache."""
    return [*(tmp_path / "cache" / "trainshed" / "review").iterdir()]


def test_what_was_written_is_read(cache: Cache) -> None:
    cache.write("a", "café\n")

    assert cache.read("a") == "café\n"
    assert cache.read("b") is None


def test_nobody_else_can_read_it(cache: Cache, tmp_path: Path) -> None:
    cache.write("a", "x")

    [entry] = entries(tmp_path)
    assert stat.S_IMODE(entry.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [b"", b"x", b"\xff\n\xff"])
def test_a_damaged_entry_is_missing_and_can_be_written_again(
    cache: Cache, tmp_path: Path, damage: bytes
) -> None:
    cache.write("a", "x" * 100)
    [entry] = entries(tmp_path)
    entry.write_bytes(damage)

    assert cache.read("a") is None
    cache.write("a", "y")
    assert cache.read("a") == "y"


def test_an_entry_cut_short_is_missing(cache: Cache, tmp_path: Path) -> None:
    cache.write("a", "x" * 100)
    [entry] = entries(tmp_path)
    entry.write_bytes(entry.read_bytes()[:-1])

    assert cache.read("a") is None


def test_what_nobody_used_for_a_month_is_removed(cache: Cache, tmp_path: Path) -> None:
    for name in ("used", "unused"):
        cache.write(name, name)
    for entry in entries(tmp_path):
        then = entry.stat().st_mtime - 31 * DAY
        os.utime(entry, (then, then))
    cache.read("used")

    user_cache(print)

    assert [entry.name for entry in entries(tmp_path)] == ["used"]


def test_a_folder_that_cannot_be_written_is_reported_once(tmp_path: Path, said: list[str]) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "folder", said.append)

    cache.write("a", "x")
    cache.write("b", "x")

    assert cache.read("a") is None
    assert said == [f"nothing is remembered: {tmp_path}/file/folder: Not a directory"]


def test_a_relative_cache_folder_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    user_cache(print).write("a", "x")

    assert (tmp_path / ".cache" / "trainshed" / "review" / "a").is_file()


@dataclass
class Tool:
    """A tool that finds the name of each stack, and says which it was asked for."""

    version: str = "1"
    asked: list[list[str]] = field(default_factory=list)
    known_basis: bool = True
    NAME: str = "tool"

    def missing(self) -> str | None:
        return None

    def basis(self) -> list[str] | None:
        return [self.version] if self.known_basis else None

    @contextmanager
    def loaded(self, folder: Path) -> Iterator[Judge]:
        def judge(assembly: Assembly) -> tuple[TemplateFinding, ...]:
            self.asked.append(list(assembly.stacks))
            if "Wrong" in assembly.stacks:
                raise Failure("it broke")
            return tuple(
                TemplateFinding(
                    rule="X1",
                    severity=Severity.ERROR,
                    message=str(stack.template),
                    stack=name,
                    path=stack.path,
                )
                for name, stack in assembly.stacks.items()
                if stack.template
            )

        yield judge


def assembly(**templates: dict[str, object]) -> Assembly:
    """Stacks with these templates."""
    return Assembly(
        folder=Path(),
        stacks={
            name: SynthesisedStack(path=name, region="us-west-2", file=Path(name), template=each)
            for name, each in templates.items()
        },
    )


def judged(tool: Tool, cache: Cache, stacks: Assembly) -> tuple[TemplateFinding, ...]:
    """What a tool says that is asked only for what is not remembered."""
    with RememberingProgram(program=tool, cache=cache).loaded(Path()) as judge:
        return judge(stacks)


def test_only_templates_that_differ_are_judged(cache: Cache) -> None:
    tool = Tool()
    judged(tool, cache, assembly(A={"x": 1}, B={"x": 2}, Empty={}))

    again = judged(tool, cache, assembly(A={"x": 1}, B={"x": 3}, Empty={}))

    assert tool.asked == [["A", "B", "Empty"], ["B"]]
    assert again == judged(
        Tool(), Cache(Path("/dev/null"), print), assembly(A={"x": 1}, B={"x": 3})
    )


def test_nobody_is_asked_for_what_is_all_remembered(cache: Cache) -> None:
    tool = Tool()

    first, second = (judged(tool, cache, assembly(A={"x": 1})) for _ in range(2))

    assert tool.asked == [["A"]]
    assert first == second


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"path": "Stage/A"}, id="path"),
        pytest.param({"region": "us-east-1"}, id="region"),
        pytest.param({"template": {"x": "1"}}, id="template"),
    ],
)
def test_what_a_finding_depends_on_is_judged_anew(cache: Cache, change: dict[str, str]) -> None:
    tool = Tool()
    before = assembly(A={"x": 1})
    judged(tool, cache, before)

    judged(tool, cache, replace(before, stacks={"A": replace(before.stacks["A"], **change)}))  # type: ignore[arg-type]  # one of several types

    assert tool.asked == [["A"], ["A"]]


def test_another_version_of_the_tool_judges_anew(cache: Cache) -> None:
    asked: list[list[str]] = []

    for version in ("1", "2", "1"):
        judged(Tool(version=version, asked=asked), cache, assembly(A={"x": 1}))

    assert asked == [["A"], ["A"]]


def test_a_tool_whose_answers_depend_on_what_is_not_known_is_always_asked(cache: Cache) -> None:
    tool = Tool(known_basis=False)

    for _ in range(2):
        judged(tool, cache, assembly(A={"x": 1}))

    assert tool.asked == [["A"], ["A"]]


def test_a_failure_is_not_remembered(cache: Cache) -> None:
    tool = Tool()

    for _ in range(2):
        with pytest.raises(Failure):
            judged(tool, cache, assembly(Wrong={"x": 1}))

    assert tool.asked == [["Wrong"], ["Wrong"]]


MANIFEST = """{"artifacts": {"A": {"type": "aws:cloudformation:stack",
"environment": "aws://unknown-account/us-west-2", "properties": {"templateFile": "A.json"}}}}"""
BASE = BaseCommit(
    name="main (1a2b3c4)",
    repository=Path(),
    commit="1a2b3c4",
    tree="5d6e",
    project="",
)
APP = App(folder=Path(), arguments=("app.py",), context={"a": 1}, region="us-west-2")


def synthesised(
    cache: Cache, output: Path, base: BaseCommit = BASE, app: App = APP
) -> tuple[Assembly, Sequence[str]]:
    """A synthesis that writes one stack, and what ran for it."""
    ran: list[str] = []

    def synthesise() -> Assembly:
        ran.append("app")
        (output / "asset.1").mkdir(parents=True)
        (output / "asset.1" / "large.json").write_text("{}")
        (output / "manifest.json").write_text(MANIFEST)
        (output / "A.json").write_text('{"Resources": {}}')
        (output / "validation-report.json").write_text("{}")
        return Assembly(folder=output, stacks=read_assembly(output))

    return remembered_synthesis(cache, base, app, output, synthesise), ran


def test_a_base_is_synthesised_once(cache: Cache, tmp_path: Path) -> None:
    first, ran = synthesised(cache, tmp_path / "one")
    second, ran_again = synthesised(cache, tmp_path / "two")

    assert (ran, ran_again) == (["app"], [])
    assert {name: stack.template for name, stack in second.stacks.items()} == {
        name: stack.template for name, stack in first.stacks.items()
    }
    files = [file.name for file in (tmp_path / "two").rglob("*")]
    assert sorted(files) == ["A.json", "manifest.json", "validation-report.json"]


@pytest.mark.parametrize(
    ("base", "app"),
    [
        pytest.param(replace(BASE, tree="5d6f"), APP, id="tree"),
        pytest.param(replace(BASE, project="sub"), APP, id="project"),
        pytest.param(BASE, replace(APP, region="us-east-1"), id="region"),
        pytest.param(BASE, replace(APP, context={"a": 2}), id="context"),
        pytest.param(BASE, replace(APP, arguments=("other.py",)), id="app"),
    ],
)
def test_what_a_synthesis_depends_on_has_it_run_again(
    cache: Cache, tmp_path: Path, base: BaseCommit, app: App
) -> None:
    synthesised(cache, tmp_path / "one")

    _, ran = synthesised(cache, tmp_path / "two", base, app)

    assert ran == ["app"]


def test_another_commit_with_the_same_files_needs_no_synthesis(
    cache: Cache, tmp_path: Path
) -> None:
    synthesised(cache, tmp_path / "one")

    _, ran = synthesised(cache, tmp_path / "two", replace(BASE, commit="2b", name="other (2b)"))

    assert ran == []


def test_a_key_is_of_all_its_parts() -> None:
    assert key("a", ["b"]) == key("a", ["b"])
    assert len({key("a", ["b"]), key("a", "b"), key("ab"), key("a", ["b"], None)}) == 4
