"""Self-test: NCCL finds its plugin for EFA, without which it uses TCP and says nothing."""

from __future__ import annotations

from collections.abc import Iterator

from trainshed_node.recipe import Recipe
from trainshed_node.results import Result, verdict
from trainshed_node.system import run

# By this name NCCL loads it, from the linker's cache.
_PLUGIN = "libnccl-net.so"


def check_nccl_plugin(recipe: Recipe) -> Iterator[Result]:
    """Yield a result for AMIs whose accelerators use NCCL."""
    if recipe.accelerator == "nvidia" and "efa-installer" in recipe.components:
        cached = run("ldconfig", "-p").output
        yield verdict(
            "NCCL plugin for EFA",
            f"\t{_PLUGIN} (" in cached,
            detail=f"the linker's cache has no {_PLUGIN}, which EFA's installer installs; see "
            "/etc/ld.so.conf.d and /opt/amazon/ofi-nccl",
        )
