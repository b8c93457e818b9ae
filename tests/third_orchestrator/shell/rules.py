"""Rules over its plans."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import ClusterPlan


@rule(
    "TS-SHL-001",
    over=clusters,
    orchestrators=("shell",),
    title="Two jobs may run on one node",
    why="A command of Systems Manager starts whatever else runs on the instance.",
    severity=Severity.INFO,
    basis=Basis.OBSERVED,
    sources=("https://docs.aws.amazon.com/systems-manager/latest/userguide/run-command.html",),
    example="""
orchestrator: shell
instance: {type: trn1.32xlarge}
""",
)
def shared_nodes(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever submits a job must know what else runs."""
    yield Violation(
        path=("orchestrator",),
        message=f"nothing keeps two jobs off one of the {plan.nodes.max} nodes",
        remedy="submit one job at a time",
    )
