"""Reviews made by hand: one of a dangerous change, with all kinds of content, and a quiet one."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from trainshed.cost.model import Total
from trainshed.findings import Finding, Place, Severity
from trainshed.findings.tools import State, ToolRun
from trainshed.parts.model import Arrow
from trainshed.review.model import (
    ClusterChange,
    CostChange,
    Difference,
    Effect,
    FindingChanges,
    Level,
    Mark,
    Part,
    Permission,
    PropertyChange,
    QuotaChange,
    ResourceChange,
    Review,
    Risk,
    RiskKind,
    StackChange,
    Topology,
)


def _usd(usd: float, *unknown: str) -> Total:
    return Total(usd=usd, unknown=unknown)


_RISKS = (
    Risk(
        kind=RiskKind.DATA_LOSS,
        level=Level.HIGH,
        stack="TrainStorage",
        resource="Lustre/FileSystem",
        message="the file system is replaced, because StorageType changes from SSD to "
        "INTELLIGENT_TIERING; its policy keeps the old one with its data, but no job mounts it",
        remedy="back up what is on it, or ask the author to add a second file system instead",
    ),
    Risk(
        kind=RiskKind.DATA_LOSS,
        level=Level.HIGH,
        stack="TrainContainers",
        resource="Repository",
        message="the ECR repository train is deleted, with its images",
        remedy="ask the author why; to keep it, set its removal policy to retain first",
    ),
    Risk(
        kind=RiskKind.JOBS_KILLED,
        level=Level.HIGH,
        stack="TrainCluster",
        resource="Batch/Environment",
        message="an infrastructure update replaces the nodes of the compute environment: running "
        "jobs end after 30 minutes, because JobExecutionTimeoutMinutes is 30",
        remedy="deploy while no job runs, or raise the time that jobs are given",
    ),
    Risk(
        kind=RiskKind.OPEN_TO_THE_WORLD,
        level=Level.HIGH,
        stack="TrainCluster",
        resource="Debug/Group",
        message="the security group lets 0.0.0.0/0 in on TCP port 22",
        remedy="name the addresses that may, or use Session Manager",
    ),
    Risk(
        kind=RiskKind.SECRET_SHOWN,
        level=Level.HIGH,
        stack="TrainCluster",
        resource="Batch/Job",
        message="HF_TOKEN gets the value of a secret, which everybody who may describe the job "
        "definition can then read",
        remedy="give the ARN of the secret",
    ),
    Risk(
        kind=RiskKind.BROAD_PERMISSION,
        level=Level.MEDIUM,
        stack="TrainCluster",
        resource="JobRole",
        message="JobRole may do s3:* on every resource",
        remedy="name the buckets and the actions",
    ),
    Risk(
        kind=RiskKind.DEPLOYMENT_FAILS,
        level=Level.MEDIUM,
        stack="TrainNetwork",
        resource="Outputs",
        message="AWS refuses to change what deployed stacks import: StorageClients goes (imported "
        "by TrainStorage)",
        remedy="before it, tear down TrainStorage (docs/operate.md)",
    ),
    Risk(
        kind=RiskKind.REPLACED,
        level=Level.MEDIUM,
        stack="TrainCluster",
        resource="PlacementGroup",
        message="the placement group is replaced, because PartitionCount changes",
        remedy="expect a launch of all nodes",
    ),
)

_LAYOUT = '[{"Card": 0, "Device": 0, "InterfaceType": "efa"}, {"Card": 1, "Device": 1}]'
_STACKS = (
    StackChange(
        name="TrainStorage",
        effect=Effect.CHANGED,
        resources=(
            ResourceChange(
                stack="TrainStorage",
                logical_id="LustreFileSystemC2A1",
                name="Lustre/FileSystem",
                resource_type="AWS::FSx::FileSystem",
                effect=Effect.REPLACED,
                kept=True,
                properties=(
                    PropertyChange(
                        path="StorageType",
                        before="SSD",
                        after="INTELLIGENT_TIERING",
                        replaces=True,
                    ),
                    PropertyChange(path="StorageCapacity", before="4800", after=None),
                ),
            ),
        ),
    ),
    StackChange(
        name="TrainCluster",
        effect=Effect.CHANGED,
        resources=(
            ResourceChange(
                stack="TrainCluster",
                logical_id="PlacementGroup6C30D156",
                name="PlacementGroup",
                resource_type="AWS::EC2::PlacementGroup",
                effect=Effect.REPLACED,
                properties=(
                    PropertyChange(path="PartitionCount", before=None, after="2", replaces=True),
                ),
            ),
            ResourceChange(
                stack="TrainCluster",
                logical_id="OldAlarmA1B2",
                name="OldAlarm",
                resource_type="AWS::CloudWatch::Alarm",
                effect=Effect.REMOVED,
            ),
            ResourceChange(
                stack="TrainCluster",
                logical_id="BatchQueue37D2072B",
                name="Batch/Queue",
                resource_type="AWS::Batch::JobQueue",
                effect=Effect.MAY_BE_REPLACED,
                properties=(
                    PropertyChange(
                        path="JobQueueName", before="train", after="train-large", replaces=True
                    ),
                ),
            ),
            ResourceChange(
                stack="TrainCluster",
                logical_id="BatchEnvironment1E580EC4",
                name="Batch/Environment",
                resource_type="AWS::Batch::ComputeEnvironment",
                effect=Effect.CHANGED,
                properties=(
                    PropertyChange(path="ComputeResources.MaxvCpus", before="2048", after="4096"),
                    PropertyChange(
                        path="ComputeResources.LaunchTemplate.Version", before="1", after="$Latest"
                    ),
                ),
            ),
            ResourceChange(
                stack="TrainCluster",
                logical_id="LaunchTemplate04EC5460",
                name="LaunchTemplate",
                resource_type="AWS::EC2::LaunchTemplate",
                effect=Effect.CHANGED,
                properties=(
                    PropertyChange(
                        path="LaunchTemplateData.NetworkInterfaces",
                        before=_LAYOUT,
                        after=_LAYOUT.replace("efa", "efa-only"),
                    ),
                ),
            ),
            ResourceChange(
                stack="TrainCluster",
                logical_id="DebugGroup11",
                name="Debug/Group",
                resource_type="AWS::EC2::SecurityGroup",
                effect=Effect.ADDED,
            ),
        ),
    ),
    StackChange(
        name="TrainContainers",
        effect=Effect.REMOVED,
        resources=(
            ResourceChange(
                stack="TrainContainers",
                logical_id="Repository22E53BBD",
                name="Repository",
                resource_type="AWS::ECR::Repository",
                effect=Effect.REMOVED,
            ),
        ),
    ),
    StackChange(
        name="EvalCluster",
        effect=Effect.ADDED,
        resources=(
            ResourceChange(
                stack="EvalCluster",
                logical_id="BatchQueueAA",
                name="Batch/Queue",
                resource_type="AWS::Batch::JobQueue",
                effect=Effect.ADDED,
            ),
        ),
    ),
)

_PERMISSIONS = (
    Permission(stack="TrainCluster", gained=True, text="JobRole may do s3:* on every resource"),
    Permission(
        stack="TrainCluster",
        gained=True,
        text="NodeRole may read objects (s3:GetObject) of bucket data",
    ),
    Permission(
        stack="TrainCluster", gained=False, text="NodeRole may write logs (logs:PutLogEvents)"
    ),
)
_SECURITY_RULES = (
    Permission(
        stack="TrainCluster", gained=True, text="Debug/Group lets 0.0.0.0/0 in on TCP port 22"
    ),
    Permission(
        stack="TrainStorage",
        gained=False,
        text="Lustre/Group lets Nodes in on TCP ports 1018 to 1023",
    ),
)

_PICTURE = Topology(
    title="TrainCluster",
    parts=(
        Part(
            id="zone",
            kind="zone",
            lines=("us-west-2a", "usw2-az1"),
            parts=(
                Part(
                    id="subnet",
                    kind="subnet",
                    lines=("private subnet", "10.20.0.0/19"),
                    parts=(
                        Part(
                            id="group",
                            kind="placement-group",
                            lines=("placement group", "partition, 2 partitions"),
                            mark=Mark.REPLACED,
                            parts=(
                                Part(
                                    id="nodes",
                                    kind="nodes",
                                    lines=("0 to 32 x trn1.32xlarge", "AMI stable"),
                                    mark=Mark.CHANGED,
                                    parts=(
                                        Part(
                                            id="cards",
                                            kind="cards",
                                            lines=("8 cards", "8 x efa, 800 Gbps"),
                                            mark=Mark.CHANGED,
                                        ),
                                    ),
                                ),
                            ),
                        ),
                        Part(
                            id="lustre",
                            kind="storage",
                            lines=("Lustre train", "intelligent tiering"),
                            mark=Mark.REPLACED,
                        ),
                    ),
                ),
            ),
        ),
        Part(id="queue", kind="queue", lines=("job queue", "fair share")),
        Part(
            id="repository", kind="repository", lines=("ECR repository train",), mark=Mark.REMOVED
        ),
    ),
    links=(
        Arrow(start="queue", end="nodes", text="starts"),
        Arrow(start="nodes", end="lustre", text="mounts /fsx"),
        Arrow(start="nodes", end="repository"),
    ),
)
_EVAL_PICTURE = Topology(
    title="EvalCluster",
    parts=(
        Part(id="eval-nodes", kind="nodes", lines=("0 to 2 x p5.4xlarge",), mark=Mark.ADDED),
        Part(id="eval-queue", kind="queue", lines=("job queue",), mark=Mark.ADDED),
    ),
    links=(Arrow(start="eval-queue", end="eval-nodes", text="starts"),),
)
_P4D_PICTURE = Topology(
    title="P4dCluster",
    parts=(Part(id="p4d-nodes", kind="nodes", lines=("0 to 8 x p4d.24xlarge",)),),
    links=(),
)

_CLUSTERS = (
    ClusterChange(
        name="TrainCluster",
        file="clusters/train.yaml",
        effect=Effect.CHANGED,
        facts=(
            Difference(name="nodes", before="0 to 16", after="0 to 32"),
            Difference(name="interfaces", before="1 efa, 7 efa-only", after="8 efa"),
            Difference(name="placement group", before="cluster", after="partition, 2 partitions"),
            Difference(name="launch template version", before="1", after="$Latest"),
            Difference(name="capacity reservation", before=None, after="targeted by id"),
            Difference(name="provisioned throughput", before="250 MB/s per TiB", after=None),
        ),
        cost=CostChange(
            idle_before=_usd(1.84),
            idle_after=_usd(2.31),
            full_before=_usd(345.84),
            full_after=_usd(690.31),
        ),
        picture=_PICTURE,
    ),
    ClusterChange(
        name="EvalCluster",
        file="clusters/eval.yaml",
        effect=Effect.ADDED,
        facts=(Difference(name="instance type", before=None, after="p5.4xlarge"),),
        cost=CostChange(
            idle_before=None,
            idle_after=_usd(0.05),
            full_before=None,
            full_after=_usd(0.05, "2 x p5.4xlarge"),
        ),
        picture=_EVAL_PICTURE,
    ),
    ClusterChange(
        name="P4dCluster",
        file="clusters/p4d.yaml",
        effect=None,
        facts=(),
        cost=CostChange(
            idle_before=_usd(0.73),
            idle_after=_usd(0.73),
            full_before=_usd(176.3),
            full_after=_usd(176.3),
        ),
        picture=_P4D_PICTURE,
    ),
)

_NEW = (
    Finding(
        rule="TS-BAT-004",
        severity=Severity.ERROR,
        message="the launch template version is $Latest, which an update does not follow",
        remedy="name a version",
        place=Place(file="clusters/train.yaml", line=12, column=3, field="instance.ami"),
        source="https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html",
    ),
    Finding(
        rule="AwsSolutions-EC23",
        severity=Severity.ERROR,
        message="The Security Group allows for 0.0.0.0/0 or ::/0 inbound access",
        remedy="",
        tool="cdk-nag",
        resource="TrainCluster/Debug/Group",
    ),
    Finding(
        rule="TS-QUO-001",
        severity=Severity.INFO,
        message="32 nodes need a quota of 4096 vCPU",
        remedy="ask for it in time",
        place=Place(file="clusters/train.yaml", line=8, field="instance.nodes.max"),
    ),
)
_FIXED = (
    Finding(
        rule="TS-LUS-001",
        message="scratch storage loses its data when a disk fails",
        remedy="use persistent-2",
        place=Place(file="clusters/train.yaml", line=15, field="storage.lustre.deployment"),
    ),
)
_ACCEPTED = (
    Finding(
        rule="CKV_AWS_136",
        message="Ensure that ECR repositories are encrypted using KMS",
        remedy="",
        tool="checkov",
        resource="TrainContainers/Repository",
        accepted="AES-256 is enough for public images",
    ),
)
_RUNS = (
    ToolRun(tool="cdk-nag"),
    ToolRun(tool="cfn-lint", seconds=3.2),
    ToolRun(
        tool="checkov", state=State.NOT_RUN, reason="it is not installed; run pip install checkov"
    ),
    ToolRun(tool="cdk-preflight", state=State.FAILED, reason="it answered with exit code 70"),
)

DANGEROUS = Review(
    base="origin/main (1a2b3c4)",
    head="the working tree",
    broken_base=None,
    notes=("the base has trainshed 0.9.0, the head 1.0.0: some changes may come from that",),
    risks=_RISKS,
    stacks=_STACKS,
    permissions=_PERMISSIONS,
    security_rules=_SECURITY_RULES,
    clusters=_CLUSTERS,
    cost=CostChange(
        idle_before=_usd(2.57),
        idle_after=_usd(3.09),
        full_before=_usd(522.14),
        full_after=_usd(866.66, "2 x p5.4xlarge"),
    ),
    quotas=(
        QuotaChange(
            name="Running On-Demand Trn instances",
            code="L-2C3B7624",
            region="us-west-2",
            before=2048,
            after=4096,
        ),
        QuotaChange(
            name="Running On-Demand P instances",
            code="L-417A185B",
            region="us-west-2",
            before=768,
            after=800,
        ),
    ),
    findings=FindingChanges(
        new=_NEW,
        fixed=_FIXED,
        accepted=_ACCEPTED,
        still_open=2,
        still_accepted=41,
        runs=_RUNS,
    ),
)

_QUIET_PICTURE = Topology(
    title="TrainCluster",
    parts=(
        Part(
            id="job",
            kind="job",
            lines=("job definition", "time limit of a job: 72 hours → 24 hours"),
            mark=Mark.CHANGED,
        ),
        Part(id="queue", kind="queue", lines=("job queue",)),
        Part(id="nodes", kind="nodes", lines=("0 to 16 x trn1.32xlarge",)),
    ),
    links=(
        Arrow(start="job", end="queue", text="runs in"),
        Arrow(start="queue", end="nodes", text="launches"),
    ),
)
_QUIET_COST = CostChange(
    idle_before=_usd(1.84),
    idle_after=_usd(1.84),
    full_before=_usd(345.84),
    full_after=_usd(345.84),
)
QUIET = Review(
    base="origin/main (1a2b3c4)",
    head="feature (5d6e7f8)",
    broken_base=None,
    notes=(),
    risks=(),
    stacks=(
        StackChange(
            name="TrainCluster",
            effect=Effect.CHANGED,
            resources=(
                ResourceChange(
                    stack="TrainCluster",
                    logical_id="BatchJobB6C98FCB",
                    name="Batch/Job",
                    resource_type="AWS::Batch::JobDefinition",
                    effect=Effect.CHANGED,
                    properties=(
                        PropertyChange(
                            path="Timeout.AttemptDurationSeconds", before="259200", after="86400"
                        ),
                    ),
                ),
            ),
        ),
    ),
    permissions=(),
    security_rules=(),
    clusters=(
        replace(_CLUSTERS[0], facts=(), cost=_QUIET_COST, picture=_QUIET_PICTURE),
        replace(_CLUSTERS[2], cost=_QUIET_COST),
    ),
    cost=_QUIET_COST,
    quotas=(),
    findings=FindingChanges(
        new=(), fixed=(), accepted=(), still_open=0, still_accepted=41, runs=(_RUNS[0], _RUNS[1])
    ),
)

BROKEN_BASE = replace(
    QUIET,
    broken_base="clusters/train.yaml:4: unknown field instance.tpye; did you mean type?",
    stacks=(),
    clusters=(replace(_CLUSTERS[2], effect=None),),
    cost=replace(_QUIET_COST, idle_before=None, full_before=None),
)


# Not texts: the code makes them.
_IDS = {(Part, "id"), (Arrow, "start"), (Arrow, "end")}


def _fields(value: Any) -> dict[str, Any]:
    return {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if (type(value), field.name) not in _IDS
    }


def texts(value: object) -> Iterator[str]:
    """Yield every text of a tree of dataclasses, in its order."""
    if isinstance(value, str) and not isinstance(value, Enum):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from texts(each)
    elif is_dataclass(value):
        for each in _fields(value).values():
            yield from texts(each)


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text of a tree of dataclasses, in its order."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return change(value)
    if isinstance(value, tuple):
        return tuple(mapped(each, change) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {name: mapped(each, change) for name, each in _fields(value).items()}
        return replace(value, **changed)
    return value


def with_text(review: Review, place: int, text: str) -> Review:
    """Return the review with another text at a place."""
    left = iter(range(len(PLACES)))
    changed: Review = mapped(review, lambda old: text if next(left) == place else old)
    return changed


# The texts of the dangerous review, in their order.
PLACES = tuple(texts(DANGEROUS))
