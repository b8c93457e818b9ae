"""What is known of a job and of what it needs, for the rules to judge."""

from dataclasses import dataclass
from datetime import datetime

from trainshed.account.capacity_reservations import CapacityReservation
from trainshed.account.quotas import AppliedQuota
from trainshed.guard.outputs import ENDED_AT_EXPIRY, Stopped
from trainshed.jobs.model import Job, ListedJob
from trainshed.kubernetes.node_group import NodeGroupIssue
from trainshed.prices import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A job queue.

    Attributes:
        name: its name.
        state: ENABLED or DISABLED.
        status: VALID, INVALID, UPDATING and others.
        reason: statusReason.
        capacity_wait_seconds: how long it lets a job wait for capacity; None without a limit.
    """

    name: str
    state: str
    status: str
    reason: str
    capacity_wait_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A compute environment of the queue.

    Attributes:
        name: its name.
        state: ENABLED or DISABLED.
        status: VALID, INVALID, UPDATING and others.
        reason: statusReason.
        kind: EC2, SPOT, FARGATE, UNMANAGED and others.
        max_vcpus: maxvCpus.
        instance_types: types or families.
        cluster: name of the trainshed cluster, by the tag of its nodes; None when it is of none.
        launch_template: id and version; None without one.
    """

    name: str
    state: str
    status: str
    reason: str
    kind: str
    max_vcpus: int
    instance_types: tuple[str, ...]
    cluster: str | None
    launch_template: tuple[str, str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedLaunch:
    """A scaling activity of the environment's Auto Scaling group that failed.

    Attributes:
        group: name of the group.
        message: what EC2 or EC2 Auto Scaling said.
        at: when.
    """

    group: str
    message: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An instance of the environment, also one that has just ended.

    Attributes:
        instance_id: its id.
        is_running: it is pending or running.
        launched_at: when.
        boot: what its boot signalled: `ok`, `failed: ` and why; None while it has not.
    """

    instance_id: str
    is_running: bool
    launched_at: datetime
    boot: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """A resource of which a node has less than a pod of the job asks for, whatever runs there.

    Attributes:
        node: its name.
        resource: as Kubernetes calls it.
        has: how much the node has.
        asked: how much the pod asks for.
        advice: what to do.
    """

    node: str
    resource: str
    has: str
    asked: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a node printed last.

    Attributes:
        node: its index.
        lines: the last ones, at least one.
        at: when the last one was printed.
    """

    node: int
    lines: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known; what could not be asked or does not apply is empty or None.

    Attributes:
        service: name of the AWS service that runs the job.
        region: name of the job's region.
        job: the job.
        now: when this was gathered.
        queue: its queue.
        stopped: why the cluster's guard had stopped its nodes, now or when the job ended; None
            when it had not.
        by_kueue: Kueue says when it begins.
        environments: of the queue, in the order in which it uses them.
        placed: other jobs of the queue that have got nodes.
        ahead: jobs that wait in the queue before it.
        short_of_capacity: the service says that EC2 has no instances for it.
        failed_launches: since the job was submitted, the newest first.
        instances: of the environments.
        joined: ids of the instances that have joined ECS; None when that is not known.
        reservations: that the nodes come from.
        nodes: how many nodes the cluster has; None when that is not known.
        cordoned: how many of them get no new pods.
        node_group_issues: what EKS says of the health of the group of its nodes.
        shortages: of the cluster's nodes.
        quota: of the nodes' instance type.
        node_price: what a node costs an hour on demand; None when it is unknown.
        printed: what the node printed last that failed, or that runs the main part; None when it
            printed nothing, or has not begun.
        unanswered: questions that AWS refused to answer, in its words.
    """

    service: str
    region: str
    job: Job
    now: datetime
    queue: Queue | None = None
    stopped: Stopped | None = None
    by_kueue: bool = False
    environments: tuple[Environment, ...] = ()
    placed: tuple[ListedJob, ...] = ()
    ahead: tuple[ListedJob, ...] = ()
    short_of_capacity: bool = False
    failed_launches: tuple[FailedLaunch, ...] = ()
    instances: tuple[Instance, ...] = ()
    joined: frozenset[str] | None = None
    reservations: tuple[CapacityReservation, ...] = ()
    nodes: int | None = None
    cordoned: int = 0
    node_group_issues: tuple[NodeGroupIssue, ...] = ()
    shortages: tuple[Shortage, ...] = ()
    quota: AppliedQuota | None = None
    node_price: Price | None = None
    printed: Printed | None = None
    unanswered: tuple[str, ...] = ()

    @property
    def waits(self) -> bool:
        """The job has no nodes yet."""
        return self.job.state.waits

    @property
    def ended_at_expiry(self) -> bool:
        """The guard has ended the job because its cluster has expired."""
        return bool(self.stopped) and (self.job.reason or "").startswith(ENDED_AT_EXPIRY)

    @property
    def vcpus(self) -> int:
        """VCPUs of the whole job."""
        return self.job.node_count * self.job.node_vcpus
