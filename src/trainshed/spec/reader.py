"""Reading a file: YAML to spec, every mistake shown with its line."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from trainshed.documents.messages import empty_message, problems_of, shown
from trainshed.documents.model import Document
from trainshed.documents.problems import Path, Position, Problem, Where
from trainshed.documents.yaml import DocumentError, parse_document
from trainshed.files import KIB, FoundDirectory, ReadError, read_text
from trainshed.spec.errors import SpecError
from trainshed.spec.findings import FindingsFile
from trainshed.spec.models import ClusterSpec
from trainshed.spec.pipeline import AmiPipelineSpec

# Of a file of some fifty values, with comments.
_LARGEST = 256 * KIB

Read = TypeVar("Read", bound=Document)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult(Generic[Read]):
    """What came out of one file.

    Attributes:
        spec: the document; with problems it is what could be read without the faulty values, so
            that further problems can be found in the same run; None when nothing could.
        problems: the mistakes in the file.
    """

    spec: Read | None
    problems: tuple[Problem, ...]


def read_spec(path: FilePath) -> ReadResult[ClusterSpec]:
    """Read one cluster file; messages name it by the path as given."""
    return _read(path, ClusterSpec, "a cluster", "`name` and `instance: {type: ...}`")


def read_ami_pipeline(path: FilePath) -> ReadResult[AmiPipelineSpec]:
    """Read the file of an AMI pipeline; messages name it by the path as given."""
    return _read(path, AmiPipelineSpec, "an AMI pipeline", "`repository`, `connection` and `cells`")


def read_findings_file(path: FilePath) -> FindingsFile:
    """Read a file that says which findings are accepted.

    Raises:
        SpecError: it is wrong, or cannot be read.
    """
    read = _read(path, FindingsFile, "a file of accepted findings", "`findings`")
    if read.problems or not read.spec:
        raise SpecError(read.problems)
    return read.spec


def _read(path: FilePath, model: type[Read], what: str, needs: str) -> ReadResult[Read]:
    file = str(path)

    def failed(message: str, line: int | None = None) -> ReadResult[Read]:
        where = Where(file=file, positions={(): Position(line)} if line else {})
        return ReadResult(spec=None, problems=(Problem(where=where, path=(), message=message),))

    try:
        document = parse_document(read_text(path, _LARGEST, "utf-8-sig"))
    except FoundDirectory:
        return failed(f"is a directory; name its files: {path}/*.yaml")
    except ReadError as error:
        return failed(f"cannot be read: {error.reason}")
    except DocumentError as error:
        return failed(str(error), error.line)
    if document.value is None:
        return failed(f"is empty; {what} needs at least {needs}")
    if not isinstance(document.value, dict):
        return failed(f"holds {shown(document.value)}; {what} is a mapping of fields", 1)
    return _validated(document.value, model, Where(file=file, positions=document.positions))


def _validated(data: dict[str, Any], model: type[Read], where: Where) -> ReadResult[Read]:
    """Validate, and while values are faulty take them out and look at the rest."""
    model = model.model_for(data)
    spec, problems = _attempt(data, model, where)
    faulty = {problem.path for problem in problems}
    problems += tuple(
        Problem(where=where, path=path, message=empty_message(path, model))
        for path in _empty_fields(data)
        if not faulty & {path[:end] for end in range(1, len(path) + 1)}
    )
    faults = problems
    while faults:
        # What a removal causes is not the user's mistake: only the first round is shown.
        if not any([_remove(data, fault.path) for fault in faults]):
            return ReadResult(spec=None, problems=problems)
        spec, faults = _attempt(data, model, where)
    return ReadResult(spec=spec, problems=problems)


def _attempt(
    data: dict[str, Any], model: type[Read], where: Where
) -> tuple[Read | None, tuple[Problem, ...]]:
    try:
        return model.model_validate(data).placed(where), ()
    except ValidationError as error:
        return None, problems_of(error, model, where)


def _empty_fields(data: dict[str, Any], path: Path = ()) -> Iterator[Path]:
    """Find keys without a value: `lustre:` could mean none, or one with the defaults."""
    for key, value in data.items():
        if value is None:
            yield (*path, key)
        elif isinstance(value, dict):
            yield from _empty_fields(value, (*path, key))


def _remove(data: dict[str, Any], path: Path) -> bool:
    """Take the value at `path` out, or what should have held it; False when nothing is left."""
    for end in range(len(path), 0, -1):
        holder: Any = data
        for key in path[: end - 1]:
            holder = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and path[end - 1] in holder:
            del holder[path[end - 1]]
            return True
    return False
