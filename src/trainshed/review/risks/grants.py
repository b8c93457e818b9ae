"""How much a statement of a policy gives."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from trainshed.review.differences import Statement
from trainshed.review.model import Level

_EVERY_ACTION = ("*", "*:*")
_EVERY_RESOURCE = ("*", "arn:*", "arn:aws:*")
# All of one kind: `role/*`, `table/*`, `log-group:*`, or with any name, `*`.
_EVERY_ONE = re.compile(r"([\w-]+[:/])?\*")
# The buckets of S3 come without a kind before them.
_EVERY_OBJECT = re.compile(r"\*(/\*)?")
_COMPUTED = re.compile(r"\$\{[^}]*\}")
_SUBSTITUTED = re.compile(r'\{"Fn::Sub":"(?P<text>[^"]*)"\}')


def breadth(statement: Statement) -> Level | None:
    """Return how dangerous it is that a statement allows so many actions on so much."""
    resources = [_arn(name) for name in statement.resources.names]
    everywhere = not _is_of_tagged(statement) and (
        statement.resources.inverted or any(map(_is_everything, resources))
    )
    actions = [action.lower() for action in statement.actions.names]
    if statement.actions.inverted:
        return Level.HIGH if everywhere else None
    if any(action in _EVERY_ACTION for action in actions):
        return Level.HIGH
    escalating = _given("escalating", actions)
    if not everywhere:
        unusual = escalating - _given("usual_on_some", actions)
        among_many = any("*" in resource for resource in resources)
        return Level.MEDIUM if among_many and any(map(_is_of_iam, unusual)) else None
    if escalating or any(action == "organizations:*" for action in actions):
        return Level.MEDIUM if statement.condition else Level.HIGH
    if any(action.endswith(":*") for action in actions):
        return Level.MEDIUM
    broad = _given("reading", actions) or any(map(_destroys_any, actions))
    return Level.MEDIUM if broad and not statement.condition else None


def _is_of_tagged(statement: Statement) -> bool:
    """Return whether a condition narrows a statement down to what has a tag."""
    operators = statement.condition.values() if isinstance(statement.condition, dict) else ()
    keys = (key for each in operators if isinstance(each, dict) for key in each)
    return any("resourcetag/" in str(key).lower() for key in keys)


def _arn(name: str) -> str:
    """Return the name of a resource as the engine writes it, without what is computed in it."""
    found = _SUBSTITUTED.fullmatch(name)
    return _COMPUTED.sub("_", found["text"] if found else name)


def _is_everything(resource: str) -> bool:
    if resource in _EVERY_RESOURCE:
        return True
    match resource.split(":", 5):
        case ["arn", _, "s3", _, _, last]:
            return bool(_EVERY_OBJECT.fullmatch(last))
        case ["arn", _, _, _, _, last]:
            return bool(_EVERY_ONE.fullmatch(last))
    return False


def _given(group: str, actions: Iterable[str]) -> set[str]:
    """Return which actions of a group a statement allows, by name or wildcard."""
    return {
        each for each in _groups()[group] for action in actions if fnmatchcase(each.lower(), action)
    }


def _is_of_iam(action: str) -> bool:
    return action.startswith("iam:")


def _destroys_any(action: str) -> bool:
    verb = action.partition(":")[2]
    return verb.endswith("*") and any(
        verb.removesuffix("*").startswith(each.lower()) for each in _groups()["destroying"]
    )


@cache
def _groups() -> Mapping[str, tuple[str, ...]]:
    text = files(__package__).joinpath("grants.toml").read_text(encoding="utf-8")
    return {name: tuple(values) for name, values in tomllib.loads(text).items()}
