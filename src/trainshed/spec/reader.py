"""Reading a cluster file: YAML to spec, every mistake told with its line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError

from trainshed.errors import did_you_mean
from trainshed.spec.models import ClusterSpec
from trainshed.spec.problems import Path, Problem, Where

# The tags of the `capacity` union, which pydantic puts into an error's location.
_UNION_TAGS = {"market", "reservation", "block"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What came out of one file.

    Attributes:
        spec: the cluster; with problems it is what could be read without the faulty values, so
            that further problems can be found in the same run; None when nothing could.
        problems: what is wrong with the file; empty when all is well.
    """

    spec: ClusterSpec | None
    problems: tuple[Problem, ...]


def read_spec(path: FilePath, shown_as: str | None = None) -> Reading:
    """Read one cluster file.

    Args:
        path: the file.
        shown_as: how messages name it; default: the path as given.
    """
    nowhere = Where(file=shown_as or str(path))

    def failed(message: str, line: int | None = None) -> Reading:
        where = Where(file=nowhere.file, lines={(): line} if line else {})
        return Reading(spec=None, problems=(Problem(where=where, path=(), message=message),))

    try:
        data = YAML().load(path.read_text(encoding="utf-8"))
    except OSError as error:
        return failed(f"cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return failed("cannot be read: not UTF-8 text")
    except MarkedYAMLError as error:
        mark = error.problem_mark
        return failed(f"invalid YAML: {error.problem}", mark.line + 1 if mark else None)
    if data is None:
        return failed("is empty; a cluster needs at least `name` and `instance: {type: ...}`")
    if not isinstance(data, CommentedMap):
        return failed(f"holds a {type(data).__name__}; a cluster is a mapping of fields")
    where = Where(file=nowhere.file, lines=dict(_lines(data, ())))
    return _validated(_plain(data), where)


def _validated(data: dict[Any, Any], where: Where) -> Reading:
    """Validate, and while values are faulty take them out and look at the rest."""
    problems: tuple[Problem, ...] = ()
    while True:
        try:
            spec = ClusterSpec.model_validate(data).placed(where)
            return Reading(spec=spec, problems=problems)
        except ValidationError as error:
            details = error.errors(include_url=False)
        faults = tuple(
            Problem(where=where, path=_path(detail), message=_message(detail)) for detail in details
        )
        # What a removal causes is not the user's mistake: only the first round is told.
        problems = problems or faults
        removed = [_remove(data, fault.path) for fault in faults]
        if not any(removed):
            return Reading(spec=None, problems=problems)


def _lines(data: CommentedMap | CommentedSeq, path: Path) -> Iterator[tuple[Path, int]]:
    entries = data.items() if isinstance(data, CommentedMap) else enumerate(data)
    for key, value in entries:
        line, _column = data.lc.key(key) if isinstance(data, CommentedMap) else data.lc.item(key)
        yield (*path, key), line + 1
        if isinstance(value, CommentedMap | CommentedSeq):
            yield from _lines(value, (*path, key))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def _path(detail: ErrorDetails) -> Path:
    match detail["loc"]:
        case ("capacity", tag, *rest) if tag in _UNION_TAGS:
            return ("capacity", *rest)
        case loc:
            return loc


def _remove(data: dict[Any, Any], path: Path) -> bool:
    """Take the value at `path` out, or what should have held it; False when nothing is left."""
    for end in range(len(path), 0, -1):
        holder: Any = data
        for key in path[: end - 1]:
            holder = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and path[end - 1] in holder:
            del holder[path[end - 1]]
            return True
    return False


def _message(detail: ErrorDetails) -> str:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    name = str(detail["loc"][-1]) if detail["loc"] else ""
    match kind:
        case "missing":
            return "is required"
        case "extra_forbidden":
            fields = tuple(_model_at(_path(detail)[:-1]).model_fields)
            return f"unknown key{did_you_mean(name, fields)} (allowed: {', '.join(fields)})"
        case "enum" | "literal_error":
            allowed = context["expected"].replace("'", "").replace(" or ", ", ")
            near = did_you_mean(str(value), tuple(allowed.split(", ")))
            return f"{value!r} is not allowed{near} (allowed: {allowed})"
        case "string_pattern_mismatch":
            return f"{value!r} is not allowed: must match {context['pattern']}"
        case "string_type":
            return f"{value!r} is not text; put it in quotes"
        case "value_error":
            return str(context["error"])
        case "model_type" | "model_attributes_type":
            names = ", ".join(_model_at(_path(detail)).model_fields)
            return f"{value!r} is not a mapping (its fields: {names})"
        case _:
            text = detail["msg"].replace("Input should be", "should be").replace("Input is", "is")
            return f"{value!r} is not allowed: {text}"


def _model_at(path: Path) -> type[BaseModel]:
    """Return the model whose fields are allowed at a path."""
    model: type[BaseModel] = ClusterSpec
    for key in path:
        annotation = model.model_fields[str(key)].annotation
        model = next(_models_in(annotation))
    return model


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) is not None or isinstance(annotation, UnionType | Union):
        for part in get_args(annotation):
            yield from _models_in(part)
