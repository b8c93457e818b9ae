"""The cluster description: the fields of `clusters/*.yaml`, and of the same from Python."""

import re
from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.config import JsonDict

from trainshed.documents.forms import ACCOUNT, IMAGE_DIGEST
from trainshed.documents.messages import shown
from trainshed.documents.model import Document, Flag, Model, Whole
from trainshed.errors import did_you_mean
from trainshed.interfaces import InterfaceProfile
from trainshed.spec import forms
from trainshed.spec.findings import FindingsSpec
from trainshed.spec.iam import IamSpec
from trainshed.spec.mount import REFUSED, mount_problem
from trainshed.spec.tags import Tags

ShareName = Annotated[str, Field(pattern=forms.SHARE_NAME.pattern)]
ReservationId = Annotated[str, Field(pattern=forms.RESERVATION.pattern)]
BlockOrGroup = Annotated[str, Field(pattern=forms.BLOCK.pattern)]


class Orchestrator(StrEnum):
    """What starts the jobs: AWS Batch, or `trainshed job` on instances that are always there."""

    BATCH = "batch"
    EC2 = "ec2"


class DeploymentType(StrEnum):
    """Life of a Lustre file system: for one campaign, or replicated and self-healing."""

    SCRATCH_2 = "scratch-2"
    PERSISTENT_2 = "persistent-2"


class Compression(StrEnum):
    """Compression of Lustre data."""

    LZ4 = "lz4"
    NONE = "none"


class BucketAccess(StrEnum):
    """What a job may do in a bucket."""

    READ = "read"
    READ_WRITE = "read-write"
    READ_WRITE_DELETE = "read-write-delete"


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


def _capacity_tag(value: object) -> str | None:
    """Name the member of `Capacity` that a value is meant to be; None when there is none."""
    match value:
        case "on-demand":
            return "market"
        case CapacityBlock() | {"capacity_block": _}:
            return "block"
        case Reservation() | {"reservation": _}:
            return "reservation"
    return None


def _check_capacity(value: object) -> object:
    if _capacity_tag(value) is not None:
        return value
    match value:
        case "spot":
            wrong = "'spot' is not allowed: AWS Batch does not run multi-node parallel jobs on Spot"
        case dict() if value:
            kind = ", ".join(map(str, value))
            near = did_you_mean(kind, ("reservation", "capacity_block"))
            wrong = f"{{{kind}: ...}} is not allowed{near}"
        case _:
            near = did_you_mean(value if isinstance(value, str) else "", ("on-demand",))
            wrong = f"{shown(value)} is not allowed{near}"
    raise ValueError(
        f"{wrong} (allowed: on-demand, {{reservation: cr-...}}, {{capacity_block: cr-...}})"
    )


Capacity = Annotated[
    Annotated[Literal["on-demand"], Tag("market")]
    | Annotated[Reservation, Tag("reservation")]
    | Annotated[CapacityBlock, Tag("block")],
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


class S3Link(Model):
    """An S3 bucket that the file system shows as a folder and exports to."""

    bucket: Annotated[str, Field(pattern=forms.BUCKET.pattern)]
    """Name of an existing bucket in the same region."""
    prefix: str = ""
    """Only objects under this prefix, for instance datasets/."""


class LustreSpec(Model):
    """An FSx for Lustre file system."""

    name: ShareName | None = None
    """Clusters share it by this name; fixed once deployed; default: from the cluster's name."""
    existing: Annotated[str, Field(pattern=forms.FILE_SYSTEM.pattern)] | None = None
    """Id of a file system to use instead of a new one, for instance one that was kept."""
    deployment: DeploymentType = DeploymentType.PERSISTENT_2
    """scratch-2 or persistent-2."""
    capacity_gib: Whole = Field(default=1200, ge=1200, le=2**31 - 1)
    """Storage in GiB: 1200, 2400, then steps of 2400; larger steps with efa."""
    throughput: Whole | None = None
    """MB/s per TiB of a persistent-2 file system: 125, 250, 500 or 1000; default 250."""
    metadata_iops: Whole | None = None
    """Metadata IOPS of persistent-2: 1500, 3000, 6000, 12000, then steps of 12000 to 192000."""
    efa: Flag = False
    """Reach the file system over EFA; needs persistent-2 and a Nitro v4 or later type."""
    compression: Compression = Compression.LZ4
    """lz4 or none."""
    s3: S3Link | None = None
    """S3 bucket linked to the file system's root."""
    mount: Annotated[
        str,
        Field(pattern=forms.MOUNT.pattern, json_schema_extra={"not": {"pattern": REFUSED}}),
    ] = "/fsx"
    """Where nodes and containers see it; not in a folder that they need themselves, like /var."""
    allow_replacement: Flag = False
    """Let a new, empty file system be made beside, or in place of, the one that is there."""

    @model_validator(mode="after")
    def _new_or_existing(self) -> Self:
        for_new = self.model_fields_set - {"name", "existing", "efa", "mount"}
        if self.existing and for_new:
            raise ValueError(
                f"{', '.join(sorted(for_new))}: for a new file system; leave out with existing"
            )
        return self

    @field_validator("mount")
    @classmethod
    def _mount_is_free(cls, mount: str) -> str:
        if problem := mount_problem(mount):
            raise ValueError(problem)
        return mount


class StorageSpec(Model):
    """Shared storage."""

    lustre: LustreSpec | None = None
    """An FSx for Lustre file system; default: none."""


def _both(first: str, second: str) -> JsonDict:
    """Return the JSON Schema of a mapping that has both fields."""
    return {"required": [first, second]}


# Fields of `image` that say a part of what `uri` says.
_PARTS_OF_URI = ("repository", "existing", "tag", "digest")


class ImageSpec(Model):
    """The container image of the job definition: of the cluster's own ECR repository, or any."""

    model_config = ConfigDict(
        json_schema_extra={
            "not": {
                "anyOf": [
                    _both("tag", "digest"),
                    *(_both("uri", field) for field in _PARTS_OF_URI),
                ]
            }
        }
    )

    repository: Annotated[str, Field(pattern=forms.REPOSITORY.pattern)] | None = None
    """Clusters that name the same repository share it; default: from the cluster's name."""
    existing: Flag = False
    """Use a repository of that name that is there already, for instance one that was kept."""
    tag: Annotated[str, Field(pattern=forms.IMAGE_TAG.pattern)] | None = None
    """Tag of the image; tags are immutable; default: v1, unless there is a digest."""
    digest: Annotated[str, Field(pattern=IMAGE_DIGEST.pattern)] | None = None
    """Digest of the image, instead of a tag."""
    uri: Annotated[str, Field(pattern=forms.IMAGE_URI.pattern, max_length=255)] | None = None
    """An image of another repository, account or registry, instead of the fields above. The
    cluster then gets no repository of its own. Nodes log in to ECR only; the owner of a repository
    in another account must let this one pull. From any other registry the image is pulled without
    credentials, so it must be public: copy a private one to ECR."""

    @field_validator("digest")
    @classmethod
    def _tag_or_digest(cls, digest: str | None, read: ValidationInfo) -> str | None:
        if digest and read.data.get("tag"):
            raise ValueError(
                f"names an image, and so does tag, {read.data['tag']!r}; leave one out"
            )
        return digest

    @field_validator("uri")
    @classmethod
    def _uri_or_own_repository(cls, uri: str | None, read: ValidationInfo) -> str | None:
        others = [field for field in _PARTS_OF_URI if read.data.get(field)]
        if uri and others:
            raise ValueError(
                "names the whole image, registry and tag or digest with it; leave out "
                f"{' and '.join(others)}, or uri"
            )
        return uri


class BucketGrant(Model):
    """An S3 bucket that jobs may use."""

    bucket: Annotated[str, Field(pattern=forms.BUCKET.pattern)]
    """Name of an existing bucket. One of another account must allow the job's role in its own
    policy too. For a bucket that is encrypted with your own KMS key, give jobs kms:Decrypt, and
    to write kms:GenerateDataKey, on that key by job.policies or the key's policy."""
    prefix: Annotated[str, Field(pattern=forms.PREFIX.pattern, max_length=512)] = ""
    """Only objects under this prefix, for instance runs/; default: the whole bucket."""
    access: BucketAccess = BucketAccess.READ
    """read, read-write, or read-write-delete. A job that removes its old checkpoints needs the
    last; versions of objects are never deleted. Writing may replace an object: turn on the bucket's
    versioning where that matters."""


class JobSpec(Model):
    """Defaults of the job definition."""

    shared_memory_gib: Whole | None = Field(default=None, ge=1)
    """Size of /dev/shm in GiB; default: an eighth of the node's memory."""
    environment: dict[Annotated[str, Field(pattern=forms.VARIABLE.pattern)], str] = Field(
        default_factory=dict, json_schema_extra={"additionalProperties": False}
    )
    """Variables of the container; they win over the accelerator's defaults."""
    buckets: tuple[BucketGrant, ...] = Field(default=(), max_length=20)
    """S3 buckets that jobs may read or write, for instance [{bucket: my-runs, access: read-write}];
    default: none."""
    policies: tuple[Annotated[str, Field(pattern=forms.POLICY.pattern)], ...] = Field(
        default=(), max_length=10
    )
    """ARNs of managed policies for what else jobs may do; default: none."""
    attempts: Whole = Field(default=3, ge=1, le=10)
    """Tries of a job that lost a node: its main node failed or could not start, or the main node's
    container ended with exit code 197, which says that a node was lost or lacks a device. AWS Batch
    notices only the main node by itself. A job that ends with any other code is not tried again."""
    timeout_hours: Whole = Field(default=72, ge=1, le=8760)
    """A job that runs longer is stopped."""
    capacity_wait_hours: Whole = Field(default=2, ge=1, le=24)
    """A job that waits longer for instances that EC2 lacks is cancelled by its queue, because those
    that it has got already run, and are billed, without doing anything. Jobs of a Capacity Block
    wait for its start."""


class ClusterSpec(Document):
    """One training cluster."""

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
    """on-demand, {reservation: cr-...} or {capacity_block: cr-...}."""
    network: NetworkSpec = NetworkSpec()
    """The VPC."""
    storage: StorageSpec = StorageSpec()
    """Shared storage."""
    image: ImageSpec = ImageSpec()
    """The container image."""
    job: JobSpec = JobSpec()
    """Defaults of the job definition."""
    kms_key: Annotated[str, Field(pattern=forms.KMS_KEY.pattern)] | None = None
    """ARN of the KMS key that encrypts root volumes, Lustre, the container repository and logs;
    default: keys of AWS. Choose it at the start: a file system and a repository keep theirs."""
    iam: IamSpec = IamSpec()
    """What every IAM role and instance profile carries."""
    findings: FindingsSpec = FindingsSpec()
    """What is accepted of the findings of `trainshed check`, and how severe others are."""

    @property
    def short_name(self) -> str:
        """The name that shared stacks have by default: TrainCluster gives `train`."""
        stem = re.sub(r"-?[Cc]luster$", "", self.name)
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", stem if len(stem) > 1 else self.name)
        return words.lower()[:32].strip("-")
