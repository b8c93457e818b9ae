"""Looks at everything that a cluster has on AWS, and says what is wrong."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from trainshed.account.deployed_stacks import DeployedStack, find_stack
from trainshed.aws import Region
from trainshed.cost import Total, running_cost
from trainshed.guard.outputs import stopped
from trainshed.jobs.idle_nodes import look_at_idle
from trainshed.jobs.node_states import NodeStates
from trainshed.jobs.scheduler import orchestrator_of, scheduler_of
from trainshed.jobs.why.questions import Questions
from trainshed.orchestrators import Orchestrator, part, traits
from trainshed.plan import ClusterPlan
from trainshed.plan.storage import StoragePlan
from trainshed.prices import PriceList
from trainshed.status.capacity import window_problems, windows_status
from trainshed.status.model import (
    AlarmStatus,
    ClusterStatus,
    Health,
    NodesStatus,
    StorageStatus,
    WindowStatus,
)
from trainshed.status.nodes import node_problems, nodes_status
from trainshed.status.storage import storage_problems, storage_status

# CloudWatch API reference, DescribeAlarms: "up to 100 alarms".
_ALARMS_AT_ONCE, _IN_ALARM = 100, "ALARM"
_ALARMS = ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm")
# Output of the cluster's stack.
_DASHBOARD = "DashboardUrl"


def look(region: Region, plan: ClusterPlan, prices: PriceList, now: datetime) -> ClusterStatus:
    """Look at a cluster.

    Args:
        region: the cluster's.
        plan: the cluster, as its file has it.
        prices: of the region.
        now: the time.
    """
    questions = Questions()
    stacks = {name: find_stack(region, name) for name in _stack_names(plan)}
    compute = stacks[plan.name]
    outputs = compute.outputs if compute else {}
    # A stack whose creation failed has no outputs, and no nodes.
    orchestrator = orchestrator_of(outputs)
    states = NodeStates(wanted=None, reached=None)
    nodes: NodesStatus | None = None
    jobs: Mapping[str, int] | None = None
    cost: Total | None = None
    if orchestrator:
        states = part(orchestrator, "node_states").look(region, plan.name, outputs, questions)
        nodes = questions.ask(
            lambda: nodes_status(region, plan.name, states, plan.nodes.max, now), None
        )
        jobs = questions.ask(lambda: _jobs(region, plan.name, outputs), None)
    storages = tuple(
        found
        for each in plan.storages
        if (found := questions.ask(_storage(region, each, stacks, now, questions), None))
    )
    no_windows: tuple[WindowStatus, ...] = ()
    windows = questions.ask(lambda: windows_status(region, plan, now), no_windows)
    names = [name for stack in stacks.values() if stack for name in stack.ids(*_ALARMS)]
    no_alarms: tuple[AlarmStatus, ...] | None = None
    in_alarm = questions.ask(lambda: tuple(_in_alarm(region, names)), no_alarms)
    by_guard = None
    if orchestrator:
        by_time = stopped(outputs, now) if _is_off(orchestrator, states) else None
        by_guard = by_time or look_at_idle(region, plan.name, outputs, questions)
    if nodes:
        billed = sum(each.health is not Health.ENDING for each in nodes.nodes)
        cost = running_cost(plan, prices, billed)
    return ClusterStatus(
        cluster=plan.name,
        region=plan.region,
        orchestrator=orchestrator or plan.orchestrator,
        at=now,
        stacks={name: stack.status if stack else None for name, stack in stacks.items()},
        nodes=nodes,
        jobs=jobs,
        storages=storages,
        windows=windows,
        alarms=None if in_alarm is None else len(names),
        in_alarm=in_alarm or (),
        dashboard=outputs.get(_DASHBOARD, ""),
        cost_per_hour=cost,
        stopped=by_guard,
        problems=(
            *_stack_problems(plan, stacks),
            *(node_problems(nodes) if nodes else ()),
            *states.problems,
            *(() if by_guard and by_guard.jobs_wait else states.disabled),
            *(problem for each in storages for problem in storage_problems(each)),
            *(problem for each in windows for problem in window_problems(each)),
            *(f"alarm {each.name}: {each.reason}" for each in in_alarm or ()),
        ),
        # Several questions may need the same permission.
        unknown=tuple(dict.fromkeys(questions.refusals)),
    )


def _is_off(orchestrator: Orchestrator, states: NodeStates) -> bool:
    """Whether no node is launched; where that is not known, it goes by the guard's times."""
    if states.wanted is None:
        return True
    return not states.wanted if traits(orchestrator).keeps_nodes else bool(states.disabled)


def _stack_names(plan: ClusterPlan) -> Iterator[str]:
    """Yield those that a cluster needs to be there, the network first.

    Not the prerequisites, which are looked at once, before a deployment.
    """
    yield plan.network.stack_name
    for storage in plan.storages:
        yield storage.stack_name
    if plan.repository:
        yield plan.repository.stack_name
    if plan.control_plane:
        yield plan.control_plane.stack_name
    yield plan.name


def _stack_problems(plan: ClusterPlan, stacks: Mapping[str, DeployedStack | None]) -> Iterator[str]:
    for name, stack in stacks.items():
        if stack is None or not stack.is_begun:
            yield f"stack {name} is not deployed: npx cdk deploy {plan.name}"
        elif not (stack.is_as_asked or stack.is_at_work):
            yield f"stack {name} is {stack.status}: its events in CloudFormation say why"


def _jobs(region: Region, cluster: str, outputs: Mapping[str, str]) -> Mapping[str, int] | None:
    scheduler = scheduler_of(region, cluster, outputs)
    return dict(Counter(job.status for job in scheduler.jobs())) if scheduler else None


def _storage(
    region: Region,
    storage: StoragePlan,
    stacks: Mapping[str, DeployedStack | None],
    now: datetime,
    questions: Questions,
) -> Callable[[], StorageStatus | None]:
    return lambda: storage_status(region, storage, stacks[storage.stack_name], now, questions)


def _in_alarm(region: Region, names: Sequence[str]) -> Iterator[AlarmStatus]:
    for start in range(0, len(names), _ALARMS_AT_ONCE):
        answer = region.call(
            "cloudwatch",
            "describe_alarms",
            AlarmNames=names[start : start + _ALARMS_AT_ONCE],
            AlarmTypes=["MetricAlarm", "CompositeAlarm"],
            MaxRecords=_ALARMS_AT_ONCE,
        )
        for each in (*answer.get("MetricAlarms", ()), *answer.get("CompositeAlarms", ())):
            if each["StateValue"] == _IN_ALARM:
                yield AlarmStatus(
                    name=each["AlarmName"],
                    reason=each.get("StateReason", ""),
                    since=each["StateUpdatedTimestamp"],
                )
