"""What writing checkpoints takes from training."""

from collections.abc import Iterator

from trainshed.checkpoints import checkpoint_of, own_offers
from trainshed.checks import clusters
from trainshed.checks.slow_checkpoints import slow_checkpoints
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import ClusterPlan


@rule(
    "TS-LUS-015",
    over=clusters,
    title="Accelerators wait for checkpoints for more than a tenth of the time",
    severity=Severity.WARNING,
    why="""
`training` says how large a checkpoint is: 14 bytes for each parameter, with Adam in mixed
precision. While it is written, to the fastest file system of the cluster and as fast as the nodes
reach that, the accelerators wait, and are paid for. `trainshed explain` compares what storage costs
with what it loses. Of a file system that is there already only the account knows the speed, so then
`trainshed preflight` judges it (TS-ACC-068); of a bucket nobody does.
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
    systems = [each for each in plan.storages if each is not plan.bucket]
    if not plan.training or any(each.existing for each in systems):
        return
    checkpoint = checkpoint_of(plan.training)
    for own in own_offers(plan, checkpoint)[:1]:
        path = ("training", "checkpoint_minutes")
        yield from slow_checkpoints(plan, checkpoint, own.mbps, path)
