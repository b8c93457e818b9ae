"""The plan of an AMI pipeline."""

from dataclasses import dataclass
from pathlib import Path

from trainshed import catalogue
from trainshed.documents.problems import Problem
from trainshed.errors import did_you_mean
from trainshed.pins.model import BuildTools
from trainshed.pins.reader import read_pins
from trainshed.plan.security import security_problems
from trainshed.region import REGION_ADVICE
from trainshed.spec import AmiPipelineSpec, SpecError, read_ami_pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiPipelinePlan:
    """One AMI pipeline with every default resolved.

    Attributes:
        spec: what was asked.
        account: AWS account, or None to leave it to the deployment.
        region: where AMIs are baked.
        tools: what bakes them.
    """

    spec: AmiPipelineSpec
    account: str | None
    region: str
    tools: BuildTools


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
        problems += _region_problems(spec, asked)
        problems += tuple(
            Problem(where=spec.where, path=field, message=message)
            for field, message in security_problems(spec, asked)
        )
    if problems or not (spec and asked):
        raise SpecError(problems)
    return AmiPipelinePlan(
        spec=spec,
        account=spec.account or account,
        region=asked,
        tools=read_pins(pins).tools,
    )


def _region_problems(spec: AmiPipelineSpec, region: str | None) -> tuple[Problem, ...]:
    known = catalogue.all_regions()

    def problem(field: str, message: str) -> Problem:
        return Problem(where=spec.where, path=(field,), message=message)

    def unknown(field: str, name: str) -> Problem:
        near = did_you_mean(name, known) or f" (its regions: {', '.join(known)})"
        return problem(field, f"{name!r} is not a region of the catalogue{near}")

    if region is None:
        found = [problem("region", f"is not given; give it here, or {REGION_ADVICE}")]
    else:
        found = [unknown("region", region)] if region not in known else []
    found += [unknown("regions", name) for name in spec.regions if name not in known]
    if region in spec.regions:
        found.append(problem("regions", f"has {region}, which AMIs are baked in anyway"))
    return tuple(found)
