"""The control plane of a cluster on Amazon EKS: what protects it, and what stays of it."""

import time
from collections.abc import Callable, Collection, Iterator

from trainshed.account.billed import key_billed
from trainshed.account.deployed_stacks import DeployedStack, find_stack, importers
from trainshed.account.tags import CLUSTER_TAG, STACK_TAG
from trainshed.aws import Region, accepting
from trainshed.errors import Failure
from trainshed.plan.control_plane import ControlPlanePlan
from trainshed.teardown.kept import Kept, kept_logs

_CLUSTER = "AWS::EKS::Cluster"
_PAUSE_SECONDS = 5


def cluster_name(stack: DeployedStack | None, planned: ControlPlanePlan | None) -> str | None:
    """Return the name of the EKS cluster of a control plane's stack; None where there is none.

    Args:
        stack: the stack, if it is there.
        planned: the control plane in the cluster file, if it has one.
    """
    deployed = stack.ids(_CLUSTER) if stack else ()
    return next(iter(deployed), planned.name if planned else None)


def unused_control_planes(region: Region, known: Collection[str]) -> tuple[DeployedStack, ...]:
    """Return our stacks of control planes that no stack imports from.

    Args:
        region: where.
        known: names of stacks to leave out, because they will be used.
    """
    names = set()
    for cluster in region.pages("eks", "list_clusters", "clusters"):
        # Gone meanwhile.
        with accepting("ResourceNotFoundException"):
            tags = region.call("eks", "describe_cluster", name=cluster)["cluster"]["tags"]
            if CLUSTER_TAG in tags and STACK_TAG in tags:
                names.add(tags[STACK_TAG])
    stacks = [find_stack(region, name) for name in sorted(names - {*known})]
    return tuple(each for each in stacks if each and not any(importers(region, each).values()))


def unprotect(region: Region, stack: DeployedStack, *, show: Callable[[str], None]) -> None:
    """End the deletion protection of the EKS cluster of a stack, if it has a protected one.

    EKS API reference, UpdateClusterConfig: it is an update, during which the cluster is UPDATING
    and takes neither another update nor its deletion. So this waits for its end, and for that of
    an update which another one has begun, or a teardown that was interrupted.

    Args:
        region: where it is.
        stack: any stack.
        show: gets each step, and an empty text while nothing new happens.

    Raises:
        Failure: the update failed.
    """
    for name in stack.ids(_CLUSTER):
        if not _waits_for_protection(region, name, show):
            continue
        show(f"{name}: ending the deletion protection of the EKS cluster")
        asked = {"name": name, "deletionProtection": False}
        update = region.call("eks", "update_cluster_config", **asked)["update"]
        while update["status"] == "InProgress":
            _pause(show)
            known = {"name": name, "updateId": update["id"]}
            update = region.call("eks", "describe_update", **known)["update"]
        if update["status"] != "Successful":
            errors = "; ".join(each["errorMessage"] for each in update.get("errors", ()))
            raise Failure(
                f"the deletion protection of the EKS cluster {name} has not ended: the update is "
                f"{update['status']}{f' ({errors})' if errors else ''}; fix that, and run the same "
                "command again"
            )


def kept_of_control_plane(region: Region, stack: DeployedStack | None, name: str) -> Iterator[Kept]:
    """Name what stays of a control plane that is gone, or goes.

    Args:
        region: where it is.
        stack: its stack, if it is still there.
        name: of the EKS cluster.
    """
    for key in stack.ids("AWS::KMS::Key") if stack else ():
        billed = key_billed(key)
        yield Kept.of(
            billed,
            cost="bills by the month",
            why="it encrypts the secrets of the EKS cluster in every backup; if you have none: "
            f"{billed.command}",
        )
    # The stack has a log group of this name; EKS makes it again for what it logs after that.
    if stack is None:
        yield from kept_logs(region, f"/aws/eks/{name}/cluster", "the log of the control plane")


def _waits_for_protection(region: Region, name: str, show: Callable[[str], None]) -> bool:
    """Wait until EKS does not update a cluster; return whether it is there and protected."""
    while True:
        cluster = None
        with accepting("ResourceNotFoundException"):
            cluster = region.call("eks", "describe_cluster", name=name)["cluster"]
        if cluster is None or cluster["status"] != "UPDATING":
            return bool(cluster and cluster.get("deletionProtection"))
        _pause(show)


def _pause(show: Callable[[str], None]) -> None:
    show("")
    time.sleep(_PAUSE_SECONDS)
