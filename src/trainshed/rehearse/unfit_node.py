"""A node that loses a device between jobs, as its idle check would find out."""

from collections.abc import Callable
from time import monotonic, sleep

from trainshed.account.tags import BOOT_TAG
from trainshed.errors import Failure
from trainshed.jobs.nodes import Node, running_nodes
from trainshed.rehearse.faults import Scene

# By which trainshed-unfit.service powers a node off.
MARKING = 'touch "$EMBEDDED_AWS_NODE/run/trainshed/unfit/mark"'
UNFIT_EXPECTED = (
    "the node that lost a device between jobs takes no more of them, powers off and is replaced, "
    "and the job runs on nodes that are well"
)
_REPLACED_SECONDS, _LOOK_SECONDS = 120, 0.25


def lose_oldest(scene: Scene, count: int, mark: Callable[[Node], None]) -> None:
    """Have the oldest node do what its idle check does, and wait for another one.

    Args:
        scene: in which it is to happen.
        count: of the nodes that are there without a job, or soon will be.
        mark: runs `MARKING` on the node, the oldest of those that have no job.

    Raises:
        Failure: the nodes, or the other one, have not come in time.
    """
    oldest = _booted(scene, count)[0]
    mark(oldest)
    tag = {"Key": BOOT_TAG, "Value": "failed: 15 of 16 devices are on the PCI bus"}
    scene.aws.client("ec2").create_tags(Resources=[oldest.instance_id], Tags=[tag])
    _booted(scene, count)


def _booted(scene: Scene, count: int) -> list[Node]:
    """Wait until so many nodes have booted; return them, the oldest first."""
    last = monotonic() + _REPLACED_SECONDS
    while True:
        nodes = running_nodes(scene.region, scene.cluster, {BOOT_TAG: "ok"})
        if len(nodes) >= count:
            return list(nodes)
        if monotonic() > last:
            raise Failure(
                f"{count} nodes have not booted within {_REPLACED_SECONDS} seconds; run the "
                "rehearsal again when this machine has less to do"
            )
        sleep(_LOOK_SECONDS)
