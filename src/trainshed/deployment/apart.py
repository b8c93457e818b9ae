"""Whether storage and compute wait for each other."""

from trainshed.deployment.graph import ResourceGraph


def storage_and_compute(graph: ResourceGraph, storage: str, compute: str) -> tuple[str, ...]:
    """Say which resources of two stacks wait for each other, or that none does.

    Args:
        graph: of the cloud assembly.
        storage: name of the stack of the file system.
        compute: name of the stack of the nodes.
    """
    pairs = (*graph.waiting(storage, compute), *graph.waiting(compute, storage))
    if pairs:
        return tuple(
            f"{first.name} of {first.stack} waits for {second.name} of {second.stack}"
            for first, second in pairs
        )
    by_order = (
        f"; {compute} comes after {storage} by the order of the stacks only, and can be deployed "
        "without it: cdk deploy --exclusively"
        if storage in graph.all_before(compute)
        else ""
    )
    return (f"no resource of {storage} waits for one of {compute}, or the reverse{by_order}",)
