"""What writing checkpoints takes from training."""

from collections.abc import Iterator

from trainshed.catalogue.lustre import THROUGHPUTS
from trainshed.checkpoints import (
    GOOD_LOSS,
    Checkpoint,
    Lustre,
    checkpoint_of,
    clients_of,
    own_offers,
)
from trainshed.checks import clusters
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import ClusterPlan
from trainshed.spec import DeploymentType

_MUCH_LOSS = 0.1


@rule(
    "TS-LUS-015",
    over=clusters,
    title="Accelerators wait for checkpoints for more than a tenth of the time",
    severity=Severity.WARNING,
    why="""
`training` says how large a checkpoint is: 14 bytes for each parameter, with Adam in mixed
precision. While it is written, to the fastest storage of the cluster and as fast as the nodes reach
that, the accelerators wait, and are paid for. `trainshed explain` compares what storage costs with
what it loses.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html",
        "https://arxiv.org/abs/1910.02054",
    ),
    example="""
instance: {type: trn1.32xlarge, nodes: {max: 16}}
storage: {lustre: {capacity_gib: 4800}}
training: {parameters: 70e9, checkpoint_minutes: 20}
""",
)
def waiting_for_checkpoints(plan: ClusterPlan) -> Iterator[Violation]:
    """A cluster should train for nine tenths of the time that it is paid for."""
    # How fast a file system is that is there already, nobody knows here.
    if not plan.training or any(each.existing for each in plan.storages):
        return
    checkpoint = checkpoint_of(plan.training)
    offers = own_offers(plan, checkpoint)
    if not offers:
        return
    own = offers[0]
    lost = checkpoint.lost(own.mbps)
    if lost <= _MUCH_LOSS:
        return
    yield Violation(
        path=("training", "checkpoint_minutes"),
        message=f"a checkpoint of {checkpoint.gb:,.0f} GB takes "
        f"{checkpoint.seconds(own.mbps):,.0f} seconds at {own.mbps:,.0f} MB/s: with one after "
        f"every {checkpoint.minutes:g} minutes, accelerators wait {100 * lost:.0f} % of the time",
        remedy=f"{_faster(checkpoint, plan)}; or write checkpoints "
        f"{checkpoint.minutes_for(own.mbps, _MUCH_LOSS):,.0f} minutes apart; or in the background, "
        f"which needs {checkpoint.background_mbps:,.0f} MB/s, and accept this",
    )


def _faster(checkpoint: Checkpoint, plan: ClusterPlan) -> str:
    fastest = Lustre(deployment=DeploymentType.PERSISTENT_2, throughput=max(THROUGHPUTS))
    better = fastest.smallest(checkpoint, clients_of(plan), GOOD_LOSS)
    waits = f"they wait {100 * checkpoint.lost(better.mbps):.1f} %"
    if checkpoint.lost(better.mbps) > GOOD_LOSS:
        waits = f"the nodes write {better.mbps:,.0f} MB/s, the most that they can, and {waits}"
    return f"with {better.size} at {fastest.throughput} MB/s per TiB {waits}"
