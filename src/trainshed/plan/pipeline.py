"""The plan of an AMI pipeline."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainshed.documents.problems import Problem
from trainshed.pins.model import BuildTools, Pins
from trainshed.pins.reader import read_pins
from trainshed.plan.region import region_problem
from trainshed.plan.security import SecurityPlan, security_of, security_problems
from trainshed.spec import AmiPipelineSpec, SpecError, read_ami_pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiPipelinePlan:
    """One AMI pipeline with every default resolved.

    Attributes:
        spec: what was asked.
        account: AWS account, or None to leave it to the deployment.
        region: where AMIs are baked.
        security: the key, and what roles carry.
        tools: what bakes them.
    """

    spec: AmiPipelineSpec
    account: str | None
    region: str
    security: SecurityPlan
    tools: BuildTools

    @property
    def tags(self) -> dict[str, str]:
        """Tags of every resource, `owner` among them."""
        return {"owner": self.spec.owner, **self.spec.tags}


def load_ami_pipeline(
    path: Path, *, pins: Path, account: str | None = None, region: str | None = None
) -> AmiPipelinePlan:
    """Read the file of an AMI pipeline and plan it.

    Args:
        path: the file.
        pins: packer/pins.json.
        account: AWS account of the environment; the file's own wins.
        region: AWS region of the environment; the file's own wins.

    Raises:
        SpecError: with everything that is wrong in the file.
        PinError: the pins are wrong.
    """
    reading = read_ami_pipeline(path)
    spec, problems = reading.spec, reading.problems
    asked = spec.region or region if spec else None
    if spec:
        problems += tuple(_region_problems(spec, asked))
        problems += tuple(
            Problem(where=spec.where, path=field, message=message)
            for field, message in security_problems(spec, asked)
        )
    if problems or not (spec and asked):
        raise SpecError(problems)
    pinned = read_pins(pins)
    if problems := tuple(_cell_problems(spec, pinned)):
        raise SpecError(problems)
    return AmiPipelinePlan(
        spec=spec,
        account=spec.account or account,
        region=asked,
        security=security_of(spec),
        tools=pinned.tools,
    )


def _cell_problems(spec: AmiPipelineSpec, pins: Pins) -> Iterator[Problem]:
    for cell in spec.cells:
        if why := pins.why_none(cell.accelerator, cell.agent):
            message = f"there is no AMI for {cell}: {why}; leave it out"
            yield Problem(where=spec.where, path=("cells",), message=message)


def _region_problems(spec: AmiPipelineSpec, region: str | None) -> Iterator[Problem]:
    for field, name in (("region", region), *(("regions", name) for name in spec.regions)):
        if message := region_problem(name):
            yield Problem(where=spec.where, path=(field,), message=message)
    if region in spec.regions:
        message = f"has {region}, which AMIs are baked in anyway"
        yield Problem(where=spec.where, path=("regions",), message=message)
