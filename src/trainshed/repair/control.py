"""How the nodes of a cluster are taken out of service and back, whichever orchestrator it has."""

from typing import Protocol

from trainshed.jobs.nodes import Node


class NodeControl(Protocol):
    """Takes the nodes of one cluster out of service and back."""

    @property
    def lost_job(self) -> str:
        """What becomes of a job that loses its node, in words."""

    def host(self, node: Node) -> str:
        """Return what jobs call a node, as `JobNode.host`; empty when it has not joined yet."""

    def is_drained(self, node: Node) -> bool:
        """Whether a node takes no more jobs because somebody wants that."""

    def is_joined(self, node: Node) -> bool:
        """Whether what starts jobs reaches a node."""

    def drain(self, node: Node) -> None:
        """Give a node no more jobs; those that it has go on."""

    def undrain(self, node: Node) -> None:
        """Give a drained node jobs again."""

    def evict(self, node: Node) -> bool:
        """Have the jobs of a node leave it; return whether that can be waited for."""

    def why_no_launch(self) -> str | None:
        """Return why no other node would be launched, and what to do; None when one is."""

    def terminate(self, node: Node) -> None:
        """End a node for good; another one is launched as the orchestrator does that."""
