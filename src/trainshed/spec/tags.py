"""Tags of the user's own, by the rules that every service keeps."""

from typing import Annotated

from pydantic import AfterValidator, Field

from trainshed.spec import forms

# AWS takes 50 on a resource; trainshed, CDK and AWS Batch add some too.
MOST_TAGS = 40
LONGEST_TAG_VALUE = 256
# EC2 API reference, Tag; other services take one character more.
_LONGEST_KEY = 127
# `Name` is that of single resources. IAM does not distinguish upper and lower case; nor does this.
_OURS = ("owner", "name")


def _check_key(key: str) -> str:
    folded = key.casefold()
    if folded in _OURS:
        remedy = "use the field owner" if folded == "owner" else "take another key"
        raise ValueError(f"is a tag that trainshed sets itself; {remedy}")
    if folded.startswith(("aws:", "trainshed:")):
        raise ValueError(
            f"begins with {folded.partition(':')[0]}:, which is reserved; take another"
        )
    return key


def _check_value(value: str) -> str:
    # AWS Batch user guide, "Tag restrictions": values, too.
    if value.casefold().startswith("aws:"):
        raise ValueError(f"{value!r} begins with aws:, which is reserved; take another value")
    return value


def tags_problem(keys: list[str]) -> str | None:
    """Return why keys cannot stand on one resource together, or None when they can."""
    if len(keys) > MOST_TAGS:
        return f"{len(keys)} tags are too many; at most {MOST_TAGS}"
    seen: dict[str, str] = {}
    for key in keys:
        first = seen.setdefault(key.casefold(), key)
        if first != key:
            return f"{first} and {key} differ in case only, which IAM does not distinguish"
    return None


def _check_all(tags: dict[str, str]) -> dict[str, str]:
    if problem := tags_problem(list(tags)):
        raise ValueError(problem)
    return tags


_Key = Annotated[
    str,
    Field(pattern=forms.TAG.pattern, max_length=_LONGEST_KEY),
    AfterValidator(_check_key),
]
_Value = Annotated[
    str,
    Field(pattern=forms.TAG.pattern, max_length=LONGEST_TAG_VALUE),
    AfterValidator(_check_value),
]
Tags = Annotated[dict[_Key, _Value], AfterValidator(_check_all)]
