"""What the models of all files have in common."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, PrivateAttr, Strict

from trainshed.documents.problems import Path, Where

# Pydantic would take `true` for 1, and "yes" for true.
Whole = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]


class Model(BaseModel):
    """Frozen; a key that is not a field is an error; `use_attribute_docstrings` documents them."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Document(Model):
    """The whole of one file, which knows where its values stand."""

    _where: Where | None = PrivateAttr(default=None)

    @classmethod
    def model_for(cls, fields: Mapping[str, Any]) -> type[Self]:
        """Return the model of a document with some fields, where a field decides it."""
        return cls

    @classmethod
    def key_elsewhere(cls, path: Path) -> str | None:
        """Say what is wrong with a key that is unknown here, and that other documents may have."""
        return None

    @property
    def where(self) -> Where:
        """Where the values stand; the model's name when it was made in Python."""
        name = getattr(self, "name", "")
        return self._where or Where(file=f"{type(self).__name__}({name!r})")

    def placed(self, where: Where) -> Self:
        """Return this document with the knowledge of where its values stand."""
        copy = self.model_copy()
        copy._where = where
        return copy
