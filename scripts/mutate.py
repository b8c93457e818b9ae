"""Change random expressions, and tell which changes no test finds: `scripts/mutate.py 200`.

Rooms take turns, so that small ones count as much as large ones. For each change the tests run that
depend on the module, cheap ones first, until one fails; one that hangs fails, too. The checkout
must be clean: its files are changed in place, one at a time, and put back.
"""

import ast
import os
import random
import signal
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests_for import PACKAGES, ROOT, tests_for

_COSTLY = "synth or server or ladder"
_SELECTIONS = (f"not ({_COSTLY})", f"({_COSTLY}) and not ladder")
_SECONDS = 900
_OPERATORS: dict[type[ast.AST], Any] = {
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Lt: ast.LtE, ast.LtE: ast.Lt},
    **{ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """A change of one expression.

    Attributes:
        file: the module.
        line: of the expression, from 1.
        before: the expression.
        after: what takes its place.
        text: the whole module with it.
    """

    file: Path
    line: int
    before: str
    after: str
    text: str


def mutations(file: Path) -> Iterator[Mutation]:
    """Yield every mutation of a module."""
    source = file.read_text(encoding="utf-8")
    tree = ast.parse(source)
    # Before Python 3.12, the parts of an f-string have wrong places.
    inside = {
        each
        for text in ast.walk(tree)
        if isinstance(text, ast.JoinedStr)
        for each in ast.walk(text)
    }
    lines = source.splitlines(keepends=True)
    for node in ast.walk(tree):
        if node in inside or not isinstance(node, ast.expr) or not (changed := _changed(node)):
            continue
        before = ast.get_source_segment(source, node) or ""
        after = f"({ast.unparse(changed)})"
        start = sum(map(len, lines[: node.lineno - 1])) + _column(lines[node.lineno - 1], node)
        yield Mutation(
            file=file,
            line=node.lineno,
            before=before,
            after=after,
            text=source[:start] + after + source[start + len(before) :],
        )


def _column(line: str, node: ast.expr) -> int:
    return len(line.encode()[: node.col_offset].decode())


def _changed(node: ast.expr) -> ast.expr | None:
    """Return another expression in place of one, if it is of a kind that is mutated."""
    match node:
        case ast.Constant(value=bool(value)):
            return ast.Constant(value=not value)
        case ast.Constant(value=int(value)):
            return ast.Constant(value=value + 1)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return ast.IfExp(test=test, body=orelse, orelse=body)
        case ast.BoolOp(op=op, values=values) if type(op) in _OPERATORS:
            return ast.BoolOp(op=_OPERATORS[type(op)](), values=values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return ast.BinOp(left=left, op=_OPERATORS[type(op)](), right=right)
        case ast.Compare(left=left, ops=[op, *ops], comparators=right) if type(op) in _OPERATORS:
            return ast.Compare(left=left, ops=[_OPERATORS[type(op)](), *ops], comparators=right)
    return None


def rooms() -> dict[str, list[Path]]:
    """Return the modules of each room: of each package that is in one of the distributions."""
    found: dict[str, list[Path]] = {}
    for package, root in PACKAGES.items():
        for file in sorted((root / package).rglob("*.py")):
            below = file.relative_to(root / package).parts
            found.setdefault(f"{package}.{below[0]}" if len(below) > 1 else package, []).append(
                file
            )
    return found


def drawn(count: int, seed: int) -> Iterator[tuple[str, Mutation]]:
    """Draw mutations, by turns from each room that has some left."""
    luck = random.Random(seed)
    left = {
        room: [each for file in files for each in mutations(file)]
        for room, files in rooms().items()
    }
    for each in left.values():
        luck.shuffle(each)
    while count and any(left.values()):
        for room in luck.sample(sorted(left), len(left)):
            if left[room] and count:
                count -= 1
                yield room, left[room].pop()


def is_found(mutation: Mutation, room: str) -> bool:
    """Whether a test fails with a mutation."""
    name = room.rpartition(".")[2]
    files = sorted(tests_for(mutation.file), key=lambda file: f"/{name}/" not in str(file))
    kept = mutation.file.read_text(encoding="utf-8")
    mutation.file.write_text(mutation.text, encoding="utf-8")
    try:
        return any(_fails(files, selection) for selection in _SELECTIONS)
    finally:
        mutation.file.write_text(kept, encoding="utf-8")


def _fails(files: list[Path], selection: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    with subprocess.Popen(
        [*command, "-m", selection, *map(str, files)],
        cwd=ROOT,
        # A file that changes twice in a second looks the same to Python's cache.
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        try:
            # 5: no test is selected.
            return run.wait(_SECONDS) not in (0, 5)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return True


def main() -> None:
    """Print each mutation that no test finds, and how many were found by room."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="how many changes to try")
    parser.add_argument("--seed", type=int, default=0, help="another one draws other changes")
    given = parser.parse_args()
    if subprocess.run(["git", "diff", "--quiet"], cwd=ROOT).returncode:
        sys.exit("error: the checkout has changes: commit them first")
    tried, found = Counter[str](), Counter[str]()
    for room, mutation in drawn(given.count, given.seed):
        is_one = is_found(mutation, room)
        tried[room] += 1
        found[room] += is_one
        place = f"{mutation.file.relative_to(ROOT)}:{mutation.line}"
        said = "found" if is_one else "NOT FOUND"
        _say(f"{said}: {place}: {mutation.before!r} -> {mutation.after!r}")
    for room in sorted(tried):
        _say(f"{room}: {found[room]} of {tried[room]}")
    _say(f"in all: {found.total()} of {tried.total()}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
