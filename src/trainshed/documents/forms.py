"""The forms that a field's text may have: a pattern for machines, and words for people."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


def likely_meant(text: str) -> Iterator[str]:
    """Yield what may have been meant by a text that has not its form."""
    slug = re.sub("[^A-Za-z0-9]+", "-", text).strip("-")
    yield from (text.strip(), text.lower(), text.split("//")[-1], slug, slug.lower())


# By pattern.
FORMS: dict[str, "Form"] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The form of a text.

    Attributes:
        pattern: regular expression over the whole text.
        words: the same for people, without a verb.
        example: one text that has the form.
        meant: yields what may have been meant by a text that does not have the form.
    """

    pattern: str
    words: str
    example: str
    meant: Callable[[str], Iterator[str]] = likely_meant

    def __post_init__(self) -> None:
        """Be found by the pattern, which is all that an error has."""
        FORMS[self.pattern] = self

    def nearest(self, text: str) -> str | None:
        """Return a text of this form that may have been meant by another one."""
        return next((near for near in self.meant(text) if re.fullmatch(self.pattern, near)), None)


ACCOUNT = Form(
    pattern="^[0-9]{12}$",
    words="an AWS account, 12 digits in quotes",
    example='"123456789012"',
)
IMAGE_DIGEST = Form(
    pattern="^sha256:[0-9a-f]{64}$",
    words="the digest of an image, sha256: and 64 hexadecimal digits",
    example="sha256:" + "0123456789abcdef" * 4,
)
