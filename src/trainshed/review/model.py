"""What a review says about a change: the most dangerous first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from trainshed.app.synthesis import SynthesisedStack
from trainshed.cost.model import Total
from trainshed.findings import Finding
from trainshed.findings.tools import ToolRun
from trainshed.parts.model import Arrow
from trainshed.plan import Fleet


class Effect(StrEnum):
    """What happens to a resource, the worst first."""

    REPLACED = "replaced"
    REMOVED = "removed"
    MAY_BE_REPLACED = "may be replaced"
    CHANGED = "changed"
    ADDED = "added"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The project before the change, or after it.

    Attributes:
        name: of the commit, for people: `origin/main (1a2b3c4)`, or `the working tree`.
        fleet: the clusters.
        stacks: what the app synthesises, by name.
        findings: all that `trainshed check` finds.
        runs: the other tools, and whether each ran.
        objects: of Kubernetes, by file and name.
    """

    name: str
    fleet: Fleet
    stacks: Mapping[str, SynthesisedStack]
    findings: tuple[Finding, ...]
    runs: tuple[ToolRun, ...]
    objects: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenSide:
    """A base that cannot be synthesised, so that only the head is reviewed.

    Attributes:
        name: as that of `Side`.
        reason: why, in a few lines.
    """

    name: str
    reason: str


class RiskKind(StrEnum):
    """What may go wrong when the change is deployed, the worst first."""

    DATA_LOSS = "data-loss"
    JOBS_KILLED = "jobs-killed"
    OPEN_TO_THE_WORLD = "open-to-the-world"
    SECRET_SHOWN = "secret-shown"
    BROAD_PERMISSION = "broad-permission"
    DEPLOYMENT_FAILS = "deployment-fails"
    REPLACED = "replaced"


class Level(StrEnum):
    """How dangerous it is."""

    HIGH = "high"
    MEDIUM = "medium"


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """Something that a reviewer must know before anything else.

    Attributes:
        kind: what may go wrong.
        level: how dangerous it is.
        stack: where it happens.
        resource: path of the construct in its stack.
        message: what happens, and why.
        remedy: what to do, or to ask the author.
        spared_minutes: of `jobs-killed`: for so long jobs that run go on, and the deployment waits
            for them; None where it ends none that runs, and for other kinds.
    """

    kind: RiskKind
    level: Level
    stack: str
    resource: str
    message: str
    remedy: str
    spared_minutes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyChange:
    """One property of a resource, before and after.

    Attributes:
        path: for instance `ComputeResources.MaxvCpus`.
        before: as text; None where it was not there.
        after: as text; None where it is gone.
        replaces: it forces a replacement, or may.
    """

    path: str
    before: str | None
    after: str | None
    replaces: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChange:
    """A resource that differs, or another part of a template.

    Attributes:
        stack: name of its stack.
        logical_id: in the template.
        name: path of its construct in the stack, or else its logical id.
        resource_type: for instance `AWS::FSx::FileSystem`; of another part `Parameter`, `Mapping`,
            `Condition` or `Output`.
        effect: what happens to it.
        kept: it leaves the stack, but a policy of its template keeps it.
        properties: what differs; of what is added or removed, nothing.
    """

    stack: str
    logical_id: str
    name: str
    resource_type: str
    effect: Effect
    kept: bool = False
    properties: tuple[PropertyChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StackChange:
    """A stack in which something differs.

    Attributes:
        name: of the stack.
        effect: `added`, `removed` or `changed`.
        resources: what differs in it, the worst effect first.
    """

    name: str
    effect: Effect
    resources: tuple[ResourceChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """A permission of IAM, or a rule of a security group, that is gained or lost.

    Attributes:
        stack: name of the stack.
        gained: it is new; otherwise it is lost.
        text: in plain words: `NodeRole may read objects (s3:GetObject) of bucket data`.
    """

    stack: str
    gained: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A fact about a cluster, before and after.

    Attributes:
        name: for people, for instance `placement group`.
        before: None where it was not there.
        after: None where it is gone.
    """

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostChange:
    """The cost per hour of a cluster, or of all of them, before and after; None when not there.

    What clusters share counts in each of them, and once in the cost of all of them.
    """

    idle_before: Total | None
    idle_after: Total | None
    full_before: Total | None
    full_after: Total | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaChange:
    """What the clusters need of one of the account's quotas at once.

    Attributes:
        name: of the quota.
        code: of Service Quotas.
        region: where it counts.
        before: what was needed; 0 for nothing.
        after: what is needed; 0 for nothing.
    """

    name: str
    code: str
    region: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterChange:
    """One cluster, before and after.

    Attributes:
        name: of the cluster.
        file: that describes it.
        effect: `added`, `removed` or `changed`; None when nothing about it differs.
        facts: what differs: interfaces, placement group, zone, launch template, image ...
        cost: per hour.
        picture: its topology, with what changes marked.
    """

    name: str
    file: str
    effect: Effect | None
    facts: tuple[Difference, ...]
    cost: CostChange
    picture: "Topology"


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingChanges:
    """What the checks find after the change, beside what they found before it.

    Attributes:
        new: open now, and not there before.
        fixed: open before, and gone or no longer open for another reason than acceptance.
        accepted: accepted now, and not before.
        still_open: how many are open on both sides.
        still_accepted: how many are accepted on both sides.
        runs: the tools on the head, and whether each ran.
        notes: which tools ran on one side only, so that what they find counts nowhere.
    """

    new: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    accepted: tuple[Finding, ...]
    still_open: int
    still_accepted: int
    runs: tuple[ToolRun, ...]
    notes: tuple[str, ...] = ()


class Mark(StrEnum):
    """What the change does to a part of a picture, the worst last."""

    SAME = "same"
    ADDED = "added"
    CHANGED = "changed"
    MAY_BE_REPLACED = "may be replaced"
    REPLACED = "replaced"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a cluster in its picture.

    Attributes:
        id: unique in the picture; lower-case letters, digits and `-`.
        kind: for instance `zone`, `subnet`, `nodes`, `cards`, `storage`, `queue`.
        lines: what is written on it; the first is its name.
        mark: what the change does to it.
        parts: what is inside.
    """

    id: str
    kind: str
    lines: tuple[str, ...]
    mark: Mark = Mark.SAME
    parts: tuple["Part", ...] = ()

    @property
    def title(self) -> str:
        """Its name, after the word of its mark."""
        return self.lines[0] if self.mark is Mark.SAME else f"{self.mark}: {self.lines[0]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """A cluster as a picture: parts in parts, and arrows between them."""

    title: str
    parts: tuple[Part, ...]
    links: tuple[Arrow, ...]

    @property
    def all_parts(self) -> tuple[Part, ...]:
        """The parts and what is inside them, each before what it contains."""
        found: list[Part] = []
        waiting = list(reversed(self.parts))
        while waiting:
            found.append(waiting.pop())
            waiting += reversed(found[-1].parts)
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The story of a change.

    Attributes:
        base: name of the base.
        head: name of the head.
        broken_base: why the base cannot be synthesised; then all is about the head alone.
        notes: what limits the review, for instance that the base has another trainshed.
        risks: the most dangerous first.
        stacks: the diff by meaning: those with the worst effect first; then files of objects of
            Kubernetes.
        permissions: gained first.
        security_rules: gained first.
        clusters: changed ones first.
        cost: of all clusters together.
        quotas: those that the clusters need on either side.
        findings: new, fixed and accepted.
    """

    base: str
    head: str
    broken_base: str | None
    notes: tuple[str, ...]
    risks: tuple[Risk, ...]
    stacks: tuple[StackChange, ...]
    permissions: tuple[Permission, ...]
    security_rules: tuple[Permission, ...]
    clusters: tuple[ClusterChange, ...]
    cost: CostChange
    quotas: tuple[QuotaChange, ...]
    findings: FindingChanges
