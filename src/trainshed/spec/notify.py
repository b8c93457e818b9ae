"""Who gets the messages of a cluster: e-mail addresses, or an SNS topic that exists."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from trainshed.documents.messages import shown
from trainshed.spec import forms

Email = Annotated[str, Field(pattern=forms.EMAIL.pattern)]


_WAYS = "give a list of e-mail addresses, or the ARN of an SNS topic"


def _refuse_others(value: object) -> object:
    """Refuse what is neither addresses nor a topic; no addresses would say what is the default."""
    match value:
        case str() if re.fullmatch(forms.EMAIL.pattern, value):
            raise ValueError(f"{value!r} is not a list; write it as [{value}]")
        case []:
            raise ValueError(f"is an empty list; {_WAYS}, or leave the key out to tell nobody")
        case None | str() | list() | tuple():
            return value
    raise ValueError(f"{shown(value)} is not allowed; {_WAYS}")


def _refuse_twice(addresses: tuple[str, ...]) -> tuple[str, ...]:
    for number, address in enumerate(addresses):
        if address in addresses[:number]:
            raise ValueError(f"{address} is there twice; leave one of them out")
    return addresses


def _kind(value: object) -> str:
    return "topic" if isinstance(value, str) else "addresses"


Notify = Annotated[
    # Not min_length, which counts no address that is wrong.
    Annotated[
        tuple[Email, ...],
        Field(json_schema_extra={"minItems": 1}),
        AfterValidator(_refuse_twice),
        Tag("addresses"),
    ]
    | Annotated[str, Field(pattern=forms.TOPIC.pattern), Tag("topic")],
    Discriminator(_kind),
    BeforeValidator(_refuse_others),
]
