"""From YAML text to plain values, and the line that each of them stands on."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from trainshed.documents.problems import Path, Position

_TAG = "tag:yaml.org,2002:"
# A cluster file has some fifty values. Anchors repeated in anchors can stand for billions.
_MOST_VALUES = 10_000
_DEEPEST = 100
_INTEGER_BITS = 63

Scalar = str | int | float | bool | None
Value = Scalar | list["Value"] | dict[str, "Value"]


class DocumentError(Exception):
    """The text is not a document that can be read.

    Attributes:
        line: where, from 1; None where that is not known.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        self.line = line
        super().__init__(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlDocument:
    """What one file holds.

    Attributes:
        value: the plain value; None when the file has none.
        positions: where each value stands, by path; () is the whole.
    """

    value: Value
    positions: dict[Path, Position]


def parse_document(
    text: str, *, tags: Mapping[str, str] | None = None, most_values: int = _MOST_VALUES
) -> YamlDocument:
    """Read YAML 1.2 text; dates stay text, and keys are text whatever they look like.

    Args:
        text: of the file.
        tags: short forms, for instance `{"!Ref": "Ref"}`: `!Ref X` is read as `{Ref: X}`.
        most_values: that the text may have, and with its anchors repeated may stand for.

    Raises:
        DocumentError: invalid YAML, a duplicate key, an unknown tag or one that its value does not
            fit, an anchor inside itself, or a text that is too deep or stands for too many values.
    """
    yaml = YAML(typ="safe", pure=True)
    # ruamel only calls it, which the type does not say.
    yaml.Composer = partial(_BoundedComposer, most_values)  # type: ignore[assignment]
    yaml.max_depth = _DEEPEST
    try:
        root = yaml.compose(text)
        reading = _Reading(yaml, tags or {}, most_values)
        value = reading.value(root, ()) if root else None
    except MaxDepthExceededError:
        raise DocumentError("is nested too deeply") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark
        raise DocumentError(_words(error), mark.line + 1 if mark else None) from error
    except YAMLError as error:
        raise DocumentError(f"invalid YAML: {str(error).splitlines()[0]}") from error
    except RecursionError:
        raise DocumentError("is nested too deeply") from None
    return YamlDocument(value=value, positions=reading.positions)


def _words(error: MarkedYAMLError) -> str:
    problem = str(error.problem)
    if "'\\t'" in problem:
        return "invalid YAML: a tab; indent with spaces"
    if "another document" in problem:
        return "invalid YAML: a second document begins here; leave one of them"
    return f"invalid YAML: {problem}"


class _BoundedComposer(Composer):
    """Refuses too many values while it reads: reading them all takes most of the time."""

    def __init__(self, most_values: int, loader: YAML) -> None:
        super().__init__(loader=loader)
        self._most_values, self._count = most_values, 0

    def compose_node(self, parent: Node | None, index: object) -> Node:
        self._count += 1
        # A value may have a key, which is a node too.
        if self._count > 2 * self._most_values:
            line = self.parser.peek_event().start_mark.line + 1
            raise DocumentError(_too_many(self._most_values), line)
        node: Node = super().compose_node(parent, index)
        return node


def _too_many(most_values: int) -> str:
    return f"stands for more than {most_values} values"


class _Written:
    """A number that messages show as the file has it: an account keeps its leading zero."""

    written: str

    def __repr__(self) -> str:
        return self.written


class _Whole(_Written, int):
    pass


class _Fraction(_Written, float):
    pass


@dataclass(slots=True)
class _Reading:
    yaml: YAML
    tags: Mapping[str, str]
    most_values: int
    positions: dict[Path, Position] = field(default_factory=dict)
    count: int = 0

    def value(self, node: Node, path: Path, inside: tuple[Node, ...] = ()) -> Value:
        self.count += 1
        if self.count > self.most_values:
            raise DocumentError(_too_many(self.most_values), _line(node))
        if node in inside:
            raise DocumentError("an anchor holds itself", _line(node))
        self.positions.setdefault(path, _position(node))
        if key := self.tags.get(str(node.tag)):
            self.positions.setdefault((*path, key), _position(node))
            return {key: self._content(node, (*path, key), inside)}
        if str(node.tag) in (_TAG + "map", _TAG + "seq") or isinstance(node, ScalarNode):
            return self._content(node, path, inside)
        raise DocumentError(f"the tag {node.tag} is not known", _line(node))

    def _content(self, node: Node, path: Path, inside: tuple[Node, ...]) -> Value:
        """Return the value of a node, whatever tag a mapping or a list has."""
        if isinstance(node, MappingNode):
            return self._mapping(node, path, (*inside, node))
        if isinstance(node, SequenceNode):
            entries = enumerate(node.value)
            return [self.value(entry, (*path, n), (*inside, node)) for n, entry in entries]
        assert isinstance(node, ScalarNode)
        return self._scalar(node)

    def _mapping(self, node: MappingNode, path: Path, inside: tuple[Node, ...]) -> Value:
        own: dict[str, Value] = {}
        merged: list[MappingNode] = []
        for key, entry in node.value:
            if key.tag == _TAG + "merge":
                merged += _mappings(entry)
                continue
            if not isinstance(key, ScalarNode):
                raise DocumentError("a key must be text", _line(key))
            here = (*path, key.value)
            if key.value in own:
                first = self.positions[here].line
                raise DocumentError(f"the key {key.value!r} is on line {first} too", _line(key))
            self.positions[here] = _position(key)
            own[key.value] = self.value(entry, here, inside)
        for other in merged:
            # The mapping's own keys win, and so do those of a mapping merged earlier.
            found, positions = self._merged(other, path, inside)
            for name, entry in found.items():
                own.setdefault(name, entry)
            for place, position in positions.items():
                self.positions.setdefault(place, position)
        return own

    def _merged(
        self, node: MappingNode, path: Path, inside: tuple[Node, ...]
    ) -> tuple[dict[str, Value], dict[Path, Position]]:
        outer, self.positions = self.positions, {}
        found, positions = self.value(node, path, inside), self.positions
        self.positions = outer
        assert isinstance(found, dict)
        return found, positions

    def _scalar(self, node: ScalarNode) -> Scalar:
        written = str(node.value)
        if str(node.tag) in self.tags:
            return written
        kind = str(node.tag).removeprefix(_TAG)
        try:
            match kind:
                case "null":
                    return None
                case "bool":
                    return bool(self.yaml.constructor.construct_yaml_bool(node))
                case "int":
                    number = int(self.yaml.constructor.construct_yaml_int(node))
                    if number.bit_length() <= _INTEGER_BITS:
                        whole = _Whole(number)
                        whole.written = written
                        return whole
                    raise DocumentError("the number is too large", _line(node))
                case "float":
                    fraction = _Fraction(self.yaml.constructor.construct_yaml_float(node))
                    fraction.written = written
                    return fraction
                case "str" | "timestamp" | "value" | "merge":
                    return written
        # What ruamel raises for a value that its tag does not fit.
        except (KeyError, IndexError, ValueError) as error:
            if len(written) > sys.get_int_max_str_digits():
                raise DocumentError("the number is too large", _line(node)) from error
            problem = f"{written!r} does not fit its tag !!{kind}; leave the tag out"
            raise DocumentError(problem, _line(node)) from error
        raise DocumentError(f"the tag {node.tag} is not known", _line(node))


def _mappings(node: Node) -> Iterator[MappingNode]:
    """Return what a merge key `<<` names: a mapping, or a list of them."""
    for entry in node.value if isinstance(node, SequenceNode) else [node]:
        if not isinstance(entry, MappingNode):
            raise DocumentError("`<<` takes an anchored mapping", _line(entry))
        yield entry


def _line(node: Node) -> int:
    return _position(node).line


def _position(node: Node) -> Position:
    return Position(int(node.start_mark.line) + 1, int(node.start_mark.column) + 1)
