"""What is trained: the section `training`, from which trainshed works out what storage it needs."""

import re
from typing import Annotated

from pydantic import Field, Strict, field_validator

from trainshed.documents.model import Model

# Pydantic would take "70e9" and `true` for numbers.
_Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]


class TrainingSpec(Model):
    """What is trained; nothing of it is deployed."""

    parameters: _Number = Field(gt=0, le=1e15)
    """Parameters of the model, for instance 70e9."""
    checkpoint_minutes: _Number = Field(gt=0, le=100_000)
    """Minutes of training from the end of one checkpoint to the beginning of the next."""
    dataset_gib: _Number = Field(default=0, ge=0, le=1e9)
    """Room that the data set takes on the file system, in GiB."""

    @field_validator("parameters", mode="before")
    @classmethod
    def _is_a_number(cls, value: object) -> object:
        # As models are named: 70B.
        named = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([BM])", str(value).upper())
        if named:
            power = {"B": "e9", "M": "e6"}[named[2]]
            raise ValueError(f"{value!r} is not a number; did you mean {named[1]}{power}?")
        return value
