"""Which values a filter of EC2 means.

EC2 API reference, Filter: several values of one filter are joined by or, several filters by and.
EC2 user guide, "List and filter using the CLI and API": `*` stands for any characters, `?` for one
or none, and a backslash before them for themselves. A resource with several values, as of
`tag-key`, matches by any of them. moto wants all of several values, has wildcards for some filters
only, and keeps the last one of two filters of the same name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from moto.ec2 import utils
from moto.ec2.models import tags
from moto.ec2.responses._base_response import EC2BaseResponse
from moto.ec2.utils import format_timestamp

from embedded_aws.actions import correction

_PART = re.compile(r"\\.|.", re.DOTALL)
_WILDCARDS = {"*": ".*", "?": ".?"}


@correction
def filter_as_ec2() -> None:
    """Have moto's filters mean what EC2's do."""
    vars(utils).update(
        is_filter_matching=_has_filter_value, instance_value_in_filter_values=matches
    )
    # DescribeTags has imported it.
    for module in (utils, tags):
        vars(module)["simple_aws_filter_to_re"] = _expression
    original = EC2BaseResponse._filters_from_querystring

    def checked(response: EC2BaseResponse) -> dict[str, str]:
        check_names(response._get_param("Filters", []) or response._get_param("Filter", []))
        return original(response)

    # mypy refuses replacing methods; moto offers no other way.
    EC2BaseResponse._filters_from_querystring = checked  # type: ignore[assignment,method-assign]


def check_names(filters: Iterable[Mapping[str, Any]]) -> None:
    """Refuse what cannot be a mapping from name to values.

    Raises:
        NotImplementedError: two filters have the same name.
    """
    names = [each.get("Name", "") for each in filters]
    for name in sorted({each for each in names if names.count(each) > 1}):
        raise NotImplementedError(f"two filters {name}; filter by one, and the answer by the other")


def matches(value: Any, patterns: str | Iterable[str]) -> bool:
    """Whether a value, or one of several, is what a filter means.

    Args:
        value: of a resource: a text, number, truth or time, or many of them.
        patterns: the values of the filter.
    """
    given = [patterns] if isinstance(patterns, str) else list(patterns)
    return any(
        re.fullmatch(_expression(pattern), text) for text in _texts(value) for pattern in given
    )


def _has_filter_value(resource: Any, name: str, patterns: Any) -> bool:
    return patterns is not None and matches(resource.get_filter_value(name), patterns)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case bool():
            yield str(value).lower()
        case int():
            yield str(value)
        case datetime():
            yield str(format_timestamp(value))
        case Iterable():
            for each in value:
                yield from _texts(each)


@cache
def _expression(pattern: str) -> str:
    """Return the regular expression of a filter's value."""
    parts = (_WILDCARDS.get(part) or re.escape(part[-1]) for part in _PART.findall(pattern))
    return f"(?s:{''.join(parts)})\\Z"
