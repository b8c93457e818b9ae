"""What mounts shared storage of one kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar

from trainshed_node.settings import Mount
from trainshed_node.system import Finished

Log = Callable[[str], None]


class StorageClient(ABC):
    """The client of one kind of shared storage.

    Attributes:
        component: of the AMI, in its recipe.
        programs: what the AMI must have for it, by the command that each brings.
        file_system_type: of mount(8).
        options: of mount(8).
        read_only: jobs read it and never write to it.
    """

    component: ClassVar[str]
    programs: ClassVar[Mapping[str, str]]
    file_system_type: ClassVar[str]
    options: ClassVar[str]
    read_only: ClassVar[bool] = False

    @abstractmethod
    def source(self, values: Mapping[str, str]) -> str:
        """Return what is mounted, from the values of the parameters by what they hold."""

    def prepare(self, mount: Mount, log: Log) -> None:  # noqa: B027
        """Set up what must be before the first mount; by default nothing.

        Raises:
            NodeError: this node can never mount it.
        """

    def why_not(self, mounting: Finished) -> str:
        """Return why mount(8) failed, in the words of the client; by default its last line."""
        return mounting.last_line

    def tune(self, mount: Mount, log: Log) -> None:  # noqa: B027
        """Set up what can only be after the mount; by default nothing."""
