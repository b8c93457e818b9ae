"""Which objects a lifecycle rule is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# A rule as PutBucketLifecycleConfiguration takes it.
Rule = Mapping[str, Any]

_PREDICATES = ("Prefix", "Tag", "ObjectSizeGreaterThan", "ObjectSizeLessThan", "And")
_SIZES = ("ObjectSizeGreaterThan", "ObjectSizeLessThan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The predicates of a rule; all of them hold for its objects.

    Attributes:
        prefix: of the key.
        tags: keys and values.
        more_than: bytes that an object exceeds.
        less_than: bytes that an object does not reach.
    """

    prefix: str
    tags: Mapping[str, str]
    more_than: int | None
    less_than: int | None

    @classmethod
    def of(cls, rule: Rule) -> "Filter":
        """Read the filter of a rule, or the prefix that older rules have in its place."""
        given: Mapping[str, Any] = rule.get("Filter") or {"Prefix": rule.get("Prefix", "")}
        given = given.get("And", given)
        tags = given.get("Tags", [given["Tag"]] if "Tag" in given else [])
        return cls(
            prefix=given.get("Prefix") or "",
            tags={tag["Key"]: tag["Value"] for tag in tags},
            more_than=given.get(_SIZES[0]),
            less_than=given.get(_SIZES[1]),
        )

    @property
    def has_sizes(self) -> bool:
        """Whether it says how large objects are."""
        return self.more_than is not None or self.less_than is not None

    @property
    def text(self) -> str:
        """How S3 calls it in refusals."""
        return f"(prefix={self.prefix})"

    def matches(self, name: str, size: int, tags: Mapping[str, str]) -> bool:
        """Whether an object is one of those that the rule is about."""
        return (
            name.startswith(self.prefix)
            and self.tags.items() <= tags.items()
            and (self.more_than is None or size > self.more_than)
            and (self.less_than is None or size < self.less_than)
        )


def well_formed(rule: Rule) -> bool:
    """Whether a rule has one filter, or one prefix, and predicates side by side in And only."""
    if ("Filter" in rule) == ("Prefix" in rule):
        return False
    given = rule.get("Filter", {})
    if len([name for name in _PREDICATES if name in given]) > 1:
        return False
    both = given.get("And")
    return both is None or len(both.keys() - {"Tags"}) + len(both.get("Tags", [])) > 1
