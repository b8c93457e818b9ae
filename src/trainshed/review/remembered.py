"""What a review remembers: the synthesis of a base, and what tools find in a template."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from trainshed.app.synthesis import App, read_assembly
from trainshed.checks.templates.basis import distributions
from trainshed.checks.templates.model import Assembly
from trainshed.checks.templates.program import Judge, Program
from trainshed.files import LARGEST_MADE, read_text
from trainshed.findings import Severity
from trainshed.findings.tools import TemplateFinding
from trainshed.review.cache import Cache, key
from trainshed.review.kubernetes_objects import FILES
from trainshed.review.repository import BaseCommit

_PACKAGES = ("trainshed", "trainshed_constructs", "trainshed_stacks")


def remembered_synthesis(
    cache: Cache, base: BaseCommit, app: App, output: Path, synthesise: Callable[[], Assembly]
) -> Assembly:
    """Return the synthesis of a base, which is made only when it is not remembered.

    Args:
        cache: what is remembered.
        base: the commit.
        app: the project's in it.
        output: folder for the cloud assembly.
        synthesise: makes it there.
    """
    node = os.environ.get("JSII_NODE") or shutil.which("node")
    mine = key(
        "synthesis",
        [base.tree, base.project, app.arguments, app.context, app.region],
        [sys.version, node, distributions(map(Path, sys.path)), _own_code()],
    )
    text = cache.read(mine)
    if text is None:
        made = synthesise()
        files = {
            str(file.relative_to(output)): read_text(file, LARGEST_MADE) for file in _facts(output)
        }
        cache.write(mine, json.dumps(files))
        return made
    for name, content in json.loads(text).items():
        file = output / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
    return Assembly(folder=output, stacks=read_assembly(output))


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberingProgram:
    """A tool that judges only those templates of which its findings are not remembered."""

    program: Program
    cache: Cache

    @property
    def NAME(self) -> str:
        """What it is called."""
        return self.program.NAME

    def missing(self) -> str | None:
        """Return why it cannot run, and what to do; None when it can."""
        return self.program.missing()

    def basis(self) -> list[str] | None:
        """Return what its answers depend on besides the templates; None when not known."""
        return self.program.basis()

    @contextmanager
    def loaded(self, folder: Path) -> Iterator[Judge]:
        """Start to load the tool, and return what judges."""
        with self.program.loaded(folder) as judge:
            basis = self.basis()
            yield judge if basis is None else partial(self._judge, judge, [basis, _own_code()])

    def _judge(
        self, judge: Judge, basis: list[object], assembly: Assembly
    ) -> tuple[TemplateFinding, ...]:
        keys = {
            name: key(self.NAME, basis, name, stack.path, stack.region, stack.template)
            for name, stack in assembly.stacks.items()
        }
        known = {name: self.cache.read(each) for name, each in keys.items()}
        found = {name: _findings(text) for name, text in known.items() if text is not None}
        unknown = {name: stack for name, stack in assembly.stacks.items() if name not in found}
        if unknown:
            judged = judge(replace(assembly, stacks=unknown))
            for name in unknown:
                found[name] = tuple(each for each in judged if each.stack == name)
                self.cache.write(keys[name], json.dumps([asdict(each) for each in found[name]]))
        return tuple(each for name in assembly.stacks for each in found[name])


def _findings(text: str) -> tuple[TemplateFinding, ...]:
    return tuple(
        TemplateFinding(**(each | {"severity": Severity(each["severity"])}))
        for each in json.loads(text)
    )


@cache
def _own_code() -> str:
    """Return a hash of trainshed's own code, which may be a checkout in which somebody works."""
    found = sha256()
    for package in _PACKAGES:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    found.update(f"{package}/{file.relative_to(folder)}\0".encode())
                    found.update(sha256(file.read_bytes()).digest())
    return found.hexdigest()


def _facts(assembly: Path) -> Iterator[Path]:
    """Yield the files of a cloud assembly but its assets, which are for deployments."""
    for file in (*assembly.rglob("*.json"), *assembly.glob(FILES)):
        within = file.relative_to(assembly).parts
        if file.is_file() and not any(part.startswith("asset.") for part in within):
            yield file
