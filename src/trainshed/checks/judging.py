"""Judge clusters by their plans, and apply what their files say about findings."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from trainshed.findings import Finding, Over
from trainshed.findings.acceptance import accept
from trainshed.findings.rule import checks_of
from trainshed.findings.run import found
from trainshed.findings.tools import OURS, State, ToolRun
from trainshed.plan import ClusterPlan, Fleet, make_plan
from trainshed.spec import SpecError, read_spec

_COMMAND = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInFleet:
    """A cluster among others.

    Attributes:
        plan: of the cluster.
        fleet: the clusters, itself among them, that are to be there at the same time.
    """

    plan: ClusterPlan
    fleet: Fleet


def judge(plan: ClusterPlan, fleet: Fleet | None = None) -> tuple[Finding, ...]:
    """Return what our own rules find in a plan, the most severe first.

    Args:
        plan: of the cluster.
        fleet: the clusters, itself among them, that are to be there at the same time; by default
            it is alone.
    """
    return _accepted(plan, fleet or Fleet(clusters=(plan,)))


def judge_fleet(
    fleet: Fleet,
    others: Sequence[Finding],
    runs: Iterable[ToolRun],
    *,
    applied: Set[str] = frozenset(),
) -> list[Finding]:
    """Return what is found in clusters, by our own rules first, each as its cluster file says.

    Args:
        fleet: the clusters.
        others: what other judges found: the account, and tools in the templates.
        runs: these tools.
        applied: ids of the rules of the account that were applied.
    """
    tools = {run.tool for run in runs if run.state is State.RAN}
    files = {plan.where.file for plan in fleet.clusters}
    judged = [
        finding
        for plan in fleet.clusters
        for finding in _accepted(plan, fleet, others, applied=applied, tools=tools)
    ]
    # Of the AMI pipeline, and of stacks that follow from no file.
    judged += [each for each in others if _file(each) not in files]
    return sorted(judged, key=lambda finding: finding.tool != OURS)


def _accepted(
    plan: ClusterPlan,
    fleet: Fleet,
    others: Iterable[Finding] = (),
    *,
    applied: Set[str] = frozenset(),
    tools: Set[str] = frozenset(),
) -> tuple[Finding, ...]:
    own = found(_COMMAND, ClusterInFleet(plan=plan, fleet=fleet), plan.where)
    here = (each for each in others if _file(each) == plan.where.file)
    ours = {check.rule_id for check in checks_of(_COMMAND)}
    accepted = accept(
        plan.findings,
        plan.where,
        (*sorted(own, key=lambda finding: finding.rule), *here),
        applied=ours | applied,
        tools=tools,
    )
    return tuple(sorted(accepted, key=lambda finding: finding.rank))


def _file(finding: Finding) -> str:
    return finding.place.file if finding.place else ""


def _judge_example(text: str) -> tuple[Finding, ...]:
    """Return what is found in the text of a cluster file.

    Raises:
        SpecError: it cannot be planned.
    """
    file = "example.yaml"
    with TemporaryDirectory() as folder:
        path = Path(folder, file)
        path.write_text(text, encoding="utf-8")
        read = read_spec(path)
    if read.problems or not read.spec:
        raise SpecError(read.problems)
    return judge(make_plan(read.spec.placed(replace(read.spec.where, file=file))))


def _example_file(fields: str) -> str:
    """Return the cluster file of an example that names the fields that matter."""
    region = "" if fields.startswith("region:") else "region: us-west-2\n"
    return f"name: Example\n{region}{fields}"


clusters: Over[ClusterPlan, ClusterInFleet] = Over(
    command=_COMMAND,
    parts=lambda cluster: (cluster.plan,),
    orchestrator=lambda plan: plan.orchestrator,
    examples={"cluster file": _judge_example},
    example_file=_example_file,
)
