"""What the instances of an embedded AWS are, where they are more than entries of its API."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Self


class MachineSettings(ABC):
    """The settings of machines; the folder of a service has them, and its fields are paths."""

    @abstractmethod
    def unavailable(self) -> str | None:
        """Return why there cannot be such machines here, and what to do, or None."""

    @classmethod
    def from_texts(cls, texts: Mapping[str, str | None]) -> Self:
        """Return the settings whose paths are given as text, as JSON has them."""
        return cls(**{name: Path(text) for name, text in texts.items() if text})
