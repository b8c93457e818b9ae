"""The cluster description: the fields of `clusters/*.yaml`, and of the same from Python."""

import inspect
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal, Self, TypeVar, cast

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Strict,
    Tag,
    create_model,
    model_validator,
)

from trainshed.documents.forms import ACCOUNT
from trainshed.documents.messages import shown
from trainshed.documents.model import Document, Flag, Model, Whole
from trainshed.documents.problems import Path
from trainshed.errors import did_you_mean
from trainshed.interfaces import InterfaceProfile
from trainshed.orchestrators import Orchestrator, traits
from trainshed.spec import forms
from trainshed.spec.calendar import Calendar
from trainshed.spec.findings import FindingsSpec
from trainshed.spec.guard import GuardSpec, refuse_no_fields
from trainshed.spec.iam import IamSpec
from trainshed.spec.job import JobSpec
from trainshed.spec.notify import Notify
from trainshed.spec.scratch import ScratchSpec
from trainshed.spec.storage import ShareName, StorageSpec
from trainshed.spec.tags import Tags
from trainshed.spec.training import TrainingSpec

ReservationId = Annotated[str, Field(pattern=forms.RESERVATION.pattern)]
_Section = TypeVar("_Section", bound=Model)
BlockOrGroup = Annotated[str, Field(pattern=forms.BLOCK.pattern)]


class Endpoint(StrEnum):
    """AWS services that can be reached through interface endpoints instead of the NAT gateway."""

    BATCH = "batch"
    CLOUDFORMATION = "cloudformation"
    EC2 = "ec2"
    ECR = "ecr"
    ECS = "ecs"
    LOGS = "logs"
    SSM = "ssm"


class NodeRange(Model):
    """How many nodes the cluster may have at one time."""

    min: Whole = Field(default=0, ge=0, le=1000)
    """Nodes that are kept (and billed) while no job runs; with orchestrator ec2 all are."""
    max: Whole = Field(default=1, ge=1, le=1000)
    """Nodes of the largest job; AWS Batch takes up to 1000."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min is {self.min}, more than max, which is {self.max}")
        return self


class InstanceSpec(Model):
    """The nodes."""

    type: str
    """EC2 instance type, for instance trn1.32xlarge."""
    nodes: NodeRange = NodeRange()
    """Smallest and largest number of nodes."""
    interfaces: InterfaceProfile | None = None
    """Layout of the network interfaces; default: the one made for the orchestrator."""
    ami: str = Field(default="stable", min_length=1)
    """A channel of /trainshed/ami/<accelerator>/ecs/ (of .../ec2/ with orchestrator ec2) or an SSM
    parameter (/...), as it is when the cluster is first deployed with it, or at a version
    (stable:7); or an AMI id."""
    root_gib: Whole = Field(default=200, ge=30, le=16384)
    """Size of the encrypted gp3 root volume, in GiB."""
    scratch: ScratchSpec | None = None
    """What /scratch is of types without an instance store; default: they have none."""


class Reservation(Model):
    """Launch into an On-Demand Capacity Reservation."""

    reservation: ReservationId
    """The reservation's id."""
    placement_group: str | None = None
    """Name of the cluster placement group that the reservation was made in, if it was."""


class CapacityBlock(Model):
    """Launch into a Capacity Block for ML, or into several."""

    capacity_block: BlockOrGroup
    """Id of the block, cr-..., or ARN of the resource group of several; with one, a later change of
    the nodes ends the jobs that run, which are then tried again on the new nodes."""


class SpotOptions(Model):
    """What Spot nodes may cost."""

    # SpotMarketOptions of the EC2 API: it must be more than 0.001.
    max_price: Annotated[float, Strict(), Field(gt=0.001, allow_inf_nan=False)] | None = None
    """The most that a node may cost, in USD an hour; above it, EC2 ends the node. With orchestrator
    ec2; default: the price on demand, EC2's own default."""


class Market(Model):
    """Launch Spot Instances, or nodes of one of several types, or both."""

    spot: SpotOptions | None = None
    """Spot Instances, which EC2 takes back with a notice of two minutes; {} for the price of the
    day. With orchestrator ec2 and eks: when EC2 takes a node back, the job ends on all nodes, and
    goes on from its last checkpoint. With orchestrator batch: for instance.nodes.max 1; AWS Batch
    launches another node, and the job goes on from its last checkpoint."""
    instance_types: tuple[str, ...] = ()
    """Types in order of preference, of which instance.type is the first: EC2 launches the next one
    for the nodes that it has no capacity for; on Spot it follows the order as far as capacity lets
    it, and with eks not at all. All have the same maker and number of accelerators, and the same
    interfaces. With orchestrator ec2 and eks, and with batch on Spot."""


def _capacity_tag(value: object) -> str | None:
    """Name the member of `Capacity` that a value is meant to be; None when there is none."""
    match value:
        case "on-demand":
            return "market"
        case CapacityBlock() | {"capacity_block": _}:
            return "block"
        case Market() | {"spot": _} | {"instance_types": _}:
            return "bought"
        case Reservation() | {"reservation": _}:
            return "reservation"
        case Calendar() | {"calendar": _}:
            return "calendar"
    return None


_KINDS = ("reservation", "capacity_block", "spot", "calendar", "instance_types")


def _check_capacity(value: object) -> object:
    if _capacity_tag(value) is not None:
        return value
    match value:
        case "spot":
            wrong = "'spot' is not allowed; did you mean {spot: {}}?"
        case dict() if value:
            kind = ", ".join(map(str, value))
            near = did_you_mean(kind, _KINDS)
            wrong = f"{{{kind}: ...}} is not allowed{near}"
        case _:
            near = did_you_mean(value if isinstance(value, str) else "", ("on-demand",))
            wrong = f"{shown(value)} is not allowed{near}"
    raise ValueError(
        f"{wrong} (allowed: on-demand, {{reservation: cr-...}}, {{capacity_block: cr-...}}, "
        "{spot: {}}, {calendar: [...]}, {instance_types: [...]})"
    )


Capacity = Annotated[
    Annotated[Literal["on-demand"], Tag("market")]
    | Annotated[Reservation, Tag("reservation")]
    | Annotated[CapacityBlock, Tag("block")]
    | Annotated[Market, Tag("bought")]
    | Annotated[Calendar, Tag("calendar")],
    Discriminator(_capacity_tag),
    BeforeValidator(_check_capacity),
]


class NetworkSpec(Model):
    """The VPC: a new one, or an existing one."""

    name: ShareName | None = None
    """Clusters share it by this name; fixed once deployed; default: from the cluster's name."""
    cidr: IPv4Network | None = None
    """Address range of the new VPC, /16 to /22; default 10.20.0.0/16."""
    endpoints: tuple[Endpoint, ...] = ()
    """Services to reach through interface endpoints; S3 always has a gateway endpoint."""
    vpc: Annotated[str, Field(pattern=forms.VPC.pattern)] | None = None
    """Id of an existing VPC to use instead."""
    subnet: Annotated[str, Field(pattern=forms.SUBNET.pattern)] | None = None
    """Id of the private subnet of that VPC, in the cluster's zone."""
    default_security_group: Annotated[str, Field(pattern=forms.SECURITY_GROUP.pattern)] | None = (
        None
    )
    """Id of that VPC's default group; multi-node jobs use it, so the rules that it lacks are added
    (all traffic between its members, TCP 443 to anywhere)."""

    @model_validator(mode="after")
    def _new_or_existing(self) -> Self:
        if (self.vpc is None) != (self.subnet is None):
            raise ValueError("vpc and subnet go together: give both, or neither for a new VPC")
        if self.vpc and (self.cidr or self.endpoints):
            raise ValueError("cidr and endpoints are for a new VPC; leave them out with vpc")
        if self.default_security_group and not self.vpc:
            raise ValueError("default_security_group is for an existing VPC; give vpc and subnet")
        return self


class ClusterSpec(Document):
    """One training cluster; its orchestrator decides what `image`, `job` and others hold."""

    name: Annotated[str, Field(pattern=forms.CLUSTER_NAME.pattern)]
    """Name of the compute stack; the others follow."""
    account: Annotated[str, Field(pattern=ACCOUNT.pattern)] | None = None
    """AWS account, 12 digits; default: from the environment."""
    region: str | None = None
    """AWS region; default: from the environment."""
    zone: str | None = None
    """Availability zone ID (usw2-az4) or name; default: the first that offers the type."""
    owner: Annotated[str, Field(pattern=forms.TAG.pattern, max_length=256)] = "unassigned"
    """Value of the `owner` tag on every resource."""
    tags: Tags = Field(default_factory=dict)
    """Further tags on every resource, for instance {team: speech}."""
    orchestrator: Orchestrator = Orchestrator.BATCH
    """batch: AWS Batch launches nodes for jobs, in containers. ec2: nodes that are there all the
    time, and jobs on the nodes themselves."""
    instance: InstanceSpec
    """The nodes."""
    capacity: Capacity = "on-demand"
    """on-demand, {reservation: cr-...}, {capacity_block: cr-...}, {spot: {}}, {calendar: [...]} or
    {instance_types: [...]}."""
    network: NetworkSpec = NetworkSpec()
    """The VPC."""
    storage: StorageSpec = StorageSpec()
    """Shared storage."""
    training: TrainingSpec | None = None
    """What is trained, from which `trainshed explain` works out what storage it needs; nothing of
    it is deployed."""
    image: Model = Model()
    """The container image."""
    job: JobSpec = JobSpec()
    """Defaults of the jobs."""
    monitoring: Flag = True
    """A dashboard and alarms of CloudWatch, and what nodes send for them."""
    notify: Notify = ()
    """Who is told what happens to the cluster: a list of e-mail addresses, each of which confirms
    its subscription once, or the ARN of an SNS topic that exists; default: nobody."""
    guard: Annotated[GuardSpec, BeforeValidator(refuse_no_fields)] = GuardSpec()
    """What stops the nodes by itself."""
    kms_key: Annotated[str, Field(pattern=forms.KMS_KEY.pattern)] | None = None
    """ARN of the KMS key that encrypts volumes, shared storage, the container repository and logs;
    default: keys of AWS. Choose it at the start: a file system and a repository keep theirs."""
    iam: IamSpec = IamSpec()
    """What every IAM role and instance profile carries."""
    findings: FindingsSpec = FindingsSpec()
    """What is accepted of the findings of `trainshed check`, and how severe others are."""

    def __new__(cls, **fields: Any) -> Self:
        """Make a cluster of the orchestrator that is asked for."""
        return super().__new__(cls.model_for(fields))

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Read a cluster of the orchestrator that is asked for, as pydantic does it."""
        if cls is ClusterSpec and isinstance(obj, Mapping):
            return cls.model_for(obj).model_validate(obj, **options)
        return super().model_validate(obj, **options)

    @classmethod
    def model_for(cls, fields: Mapping[str, Any]) -> type[Self]:
        """Return the model of some fields: that of their orchestrator, or of the default one."""
        asked = fields.get("orchestrator")
        known = Orchestrator(asked) if asked in list(Orchestrator) else Orchestrator.BATCH
        return cast(type[Self], _cluster_model(known)) if cls is ClusterSpec else cls

    @classmethod
    def key_elsewhere(cls, path: Path) -> str | None:
        """Say which orchestrator a key is for that this one does not know."""
        own = cls.model_fields["orchestrator"].default
        for other in Orchestrator:
            if other is not own and _has_key(other, path):
                return (
                    f"is for orchestrator {other}: with {own}, {traits(own).without}; leave it out"
                )
        return None

    def section(self, model: type[_Section]) -> _Section:
        """Return the section that an orchestrator has of its own, by its model."""
        return next(value for _, value in self if isinstance(value, model))

    @property
    def on_spot(self) -> bool:
        """Its nodes are Spot Instances."""
        return isinstance(self.capacity, Market) and self.capacity.spot is not None

    @property
    def short_name(self) -> str:
        """The name that shared stacks have by default: TrainCluster gives `train`."""
        stem = re.sub(r"-?[Cc]luster$", "", self.name)
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", stem if len(stem) > 1 else self.name)
        return words.lower()[:32].strip("-")


def _has_key(orchestrator: Orchestrator, path: Path) -> bool:
    """Return whether a key is one of a section of an orchestrator, or the section itself."""
    section, *inner = path
    model = traits(orchestrator).sections.get(str(section))
    if model is None or len(inner) > 1:
        return False
    return inner[0] in model.model_fields if inner else True


@cache
def _cluster_model(orchestrator: Orchestrator) -> type[ClusterSpec]:
    own: dict[str, Any] = {"orchestrator": (Orchestrator, orchestrator)}
    own |= {name: (model, model()) for name, model in traits(orchestrator).sections.items()}
    for name, (kind, default) in own.items():
        known = ClusterSpec.model_fields.get(name)
        described = known.description if known else inspect.getdoc(kind)
        own[name] = (kind, Field(default=default, description=described))
    return create_model(ClusterSpec.__name__, __base__=ClusterSpec, __module__=__name__, **own)
