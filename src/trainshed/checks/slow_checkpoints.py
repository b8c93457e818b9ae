"""Whether the fastest storage of a cluster is fast enough for the checkpoints of its training."""

from collections.abc import Iterator

from trainshed.catalogue.lustre import THROUGHPUTS
from trainshed.checkpoints import GOOD_LOSS, Checkpoint, Lustre, clients_of
from trainshed.documents.problems import Path
from trainshed.findings import Violation
from trainshed.plan import ClusterPlan
from trainshed.spec import BucketAccess, DeploymentType

_MUCH_LOSS = 0.1


def slow_checkpoints(
    plan: ClusterPlan, checkpoint: Checkpoint, mbps: float, path: Path
) -> Iterator[Violation]:
    """Yield what is lost if accelerators wait for more than a tenth of the time.

    Args:
        plan: the cluster.
        checkpoint: of its training.
        mbps: MB/s that its nodes write to the fastest storage.
        path: the field to blame.
    """
    lost = checkpoint.lost(mbps)
    if lost <= _MUCH_LOSS:
        return
    yield Violation(
        path=path,
        message=f"a checkpoint of {checkpoint.gb:,.0f} GB takes "
        f"{checkpoint.seconds(mbps):,.0f} seconds at {mbps:,.0f} MB/s: with one after "
        f"every {checkpoint.minutes:g} minutes, accelerators wait {100 * lost:.0f} % of the time",
        remedy=f"{_faster(checkpoint, plan)}; or write checkpoints "
        f"{checkpoint.minutes_for(mbps, _MUCH_LOSS):,.0f} minutes apart; {_to_bucket(plan)}or in "
        f"the background, which needs {checkpoint.background_mbps:,.0f} MB/s, and accept this",
    )


def _faster(checkpoint: Checkpoint, plan: ClusterPlan) -> str:
    fastest = Lustre(deployment=DeploymentType.PERSISTENT_2, throughput=max(THROUGHPUTS))
    better = fastest.smallest(checkpoint, clients_of(plan), GOOD_LOSS)
    waits = f"they wait {100 * checkpoint.lost(better.mbps):.1f} %"
    if checkpoint.lost(better.mbps) > GOOD_LOSS:
        waits = f"the nodes write {better.mbps:,.0f} MB/s, the most that they can, and {waits}"
    return f"with {better.size} at {fastest.throughput} MB/s per TiB {waits}"


def _to_bucket(plan: ClusterPlan) -> str:
    """Name the bucket, of which only a measurement says how fast it is."""
    if not plan.bucket or plan.bucket.access is BucketAccess.READ:
        return ""
    return "or measure whether the bucket, by S3's API, is faster; "
