"""The AMI pipeline: the fields of `ami-pipeline.yaml`, and of the same from Python."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from trainshed.documents.forms import ACCOUNT
from trainshed.documents.model import Document, Flag, Whole
from trainshed.nodes.cells import Cell
from trainshed.spec import forms
from trainshed.spec.iam import IamSpec
from trainshed.spec.notify import Email
from trainshed.spec.tags import Tags

# After which a build is stopped, unless another time is asked for; and what it may take at most:
# AWS CodeBuild API reference, CreateProject, timeoutInMinutes.
BUILD_MINUTES, MOST_BUILD_MINUTES = 180, 2160

SubnetId = Annotated[str, Field(pattern=forms.SUBNET.pattern)]


class AmiPipelineSpec(Document):
    """Baking AMIs on AWS, on a schedule, on a commit, or both."""

    name: Annotated[str, Field(pattern=forms.CLUSTER_NAME.pattern)] = "AmiPipeline"
    """Name of the stack."""
    account: Annotated[str, Field(pattern=ACCOUNT.pattern)] | None = None
    """AWS account, 12 digits; default: from the environment."""
    region: str | None = None
    """AWS region to bake in; default: from the environment."""
    owner: Annotated[str, Field(pattern=forms.TAG.pattern, max_length=256)] = "unassigned"
    """Value of the `owner` tag on every resource."""
    tags: Tags = Field(default_factory=dict)
    """Further tags on every resource, for instance {team: speech}."""
    repository: Annotated[str, Field(pattern=forms.GITHUB.pattern)]
    """GitHub repository with your copy of this one."""
    connection: Annotated[str, Field(pattern=forms.CONNECTION.pattern)]
    """ARN of the connection to GitHub, made and authorised in the console before."""
    branch: Annotated[str, Field(pattern=forms.BRANCH.pattern)] = "main"
    """Branch that is baked."""
    cells: Annotated[tuple[Cell, ...], Field(json_schema_extra={"minItems": 1})]
    """What to bake for, for instance [neuron/ecs, nvidia/ecs]."""
    channel: Annotated[str, Field(pattern=forms.CHANNEL.pattern)] = "candidate"
    """Channel that a new AMI is published to; promote it to stable when it has proven itself."""
    schedule: Annotated[str, Field(pattern=forms.SCHEDULE.pattern)] | None = None
    """When to bake: cron(...) of six fields, in UTC, or rate(...)."""
    on_commit: Flag = False
    """Bake when a commit on the branch changes packer/."""
    notify: tuple[Email, ...] = ()
    """Addresses that get the result of each build; each confirms its subscription once."""
    regions: tuple[str, ...] = ()
    """Further regions to copy and publish to."""
    subnets: tuple[SubnetId, ...] = ()
    """Subnets of the build instance, tried in turn; default: those of the default VPC."""
    kms_key: Annotated[str, Field(pattern=forms.KMS_KEY.pattern)] | None = None
    """ARN of the KMS key that encrypts the AMIs, and the logs, reports and messages of builds;
    default: the account's own for EBS, which cannot be shared, and a new key for the rest."""
    iam: IamSpec = IamSpec()
    """What every IAM role and instance profile carries."""
    timeout_minutes: Whole = Field(default=BUILD_MINUTES, ge=30, le=MOST_BUILD_MINUTES)
    """A build that takes longer is stopped."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not (self.schedule or self.on_commit):
            raise ValueError("nothing starts it: give schedule, on_commit: true, or both")
        if not self.cells or len(set(self.cells)) < len(self.cells):
            raise ValueError("name at least one cell, and none twice")
        if self.kms_key and self.regions:
            raise ValueError("kms_key is a key of one region; leave it out with regions")
        return self
