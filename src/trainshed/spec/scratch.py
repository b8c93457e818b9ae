"""Scratch space of nodes whose type has no instance store: volumes of EBS."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from trainshed.documents.model import Model, Whole


class VolumeType(StrEnum):
    """Type of EBS volumes."""

    GP3 = "gp3"
    IO2 = "io2"


class EbsScratchSpec(Model):
    """EBS volumes of each node, deleted with it."""

    type: VolumeType = VolumeType.GP3
    """gp3 or io2."""
    gib: Whole = Field(ge=1)
    """Their size together, in GiB."""
    iops: Whole | None = Field(default=None, ge=100)
    """IOPS that they have together; default: what gp3 has, and what the throughput needs; io2 needs
    it."""
    throughput: Whole | None = Field(default=None, ge=125)
    """MiB/s that they have together; default: what gp3 has, 125 each; that of io2 follows from
    iops."""

    @model_validator(mode="before")
    @classmethod
    def _is_not_shared(cls, value: object) -> object:
        # EBS user guide, "Attach an EBS volume to multiple EC2 instances".
        if isinstance(value, Mapping) and "multi_attach" in value:
            raise ValueError(
                "multi_attach is not allowed: XFS and ext4 on a volume that several nodes mount "
                "lose data, as each node writes without knowing of the others; storage.lustre is "
                "shared"
            )
        return value

    @model_validator(mode="after")
    def _of_its_type(self) -> Self:
        if self.type is VolumeType.IO2 and self.iops is None:
            raise ValueError("io2 has as many IOPS as are asked for: give iops")
        if self.type is VolumeType.IO2 and self.throughput is not None:
            raise ValueError(
                "throughput is for gp3: that of io2 follows from iops; leave it out, or take gp3"
            )
        return self


class ScratchSpec(Model):
    """Scratch space of nodes whose type has no instance store."""

    ebs: EbsScratchSpec
    """EBS volumes of each node, striped."""
