"""Self-test: the programs that mount shared storage are there, and nothing listens for them."""

from __future__ import annotations

from collections.abc import Iterator

from trainshed_node.mounts import CLIENTS
from trainshed_node.recipe import Recipe
from trainshed_node.results import Result, unchecked, verdict
from trainshed_node.system import has_command, run


def check_storage(recipe: Recipe) -> Iterator[Result]:
    """Yield a result for each client of shared storage, and for the port mapper."""
    for kind, client in CLIENTS.items():
        for command, name in client.programs.items():
            if client.component in recipe.components:
                yield verdict(command, has_command(command), detail=f"there is no {command}")
            else:
                yield unchecked(
                    command, f"no {name} in this AMI: nodes with storage.{kind} refuse to boot"
                )
    state = run("systemctl", "is-enabled", "rpcbind.socket").output.strip()
    yield verdict("port mapper", state == "masked", detail="rpcbind.socket is not masked")
