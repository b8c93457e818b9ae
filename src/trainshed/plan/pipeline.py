"""The plan of an AMI pipeline."""

from dataclasses import dataclass
from pathlib import Path

from trainshed import catalogue
from trainshed.errors import did_you_mean
from trainshed.pins import PinError, Tool, read_pins
from trainshed.plan.security import SecurityPlan, security, security_problems
from trainshed.region import REGION_ADVICE
from trainshed.spec import AmiPipelineSpec, Problem, SpecError, read_ami_pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildTools:
    """What a build on AWS runs with.

    Attributes:
        packer: a zip with the program.
        plugin: a zip with Packer's plugin for EC2.
        session_manager: a Debian package with the program that Packer reaches instances by.
        image: of AWS CodeBuild, at a version.
    """

    packer: Tool
    plugin: Tool
    session_manager: Tool
    image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiPipelinePlan:
    """One AMI pipeline with every default resolved.

    Attributes:
        spec: what was asked.
        account: AWS account, or None to leave it to the deployment.
        region: where AMIs are baked.
        security: the key that encrypts, and what every IAM role carries.
        tools: what bakes them.
    """

    spec: AmiPipelineSpec
    account: str | None
    region: str
    security: SecurityPlan
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
        PinError: a tool is not pinned.
    """
    reading = read_ami_pipeline(path)
    spec, problems = reading.spec, reading.problems
    asked = spec.region or region if spec else None
    if spec:
        problems += _region_problems(spec, asked)
        problems += tuple(
            Problem(where=spec.where, path=field, message=message)
            for field, message in security_problems(spec.kms_key, spec.iam, spec.account, asked)
        )
    if problems or not (spec and asked):
        raise SpecError(problems)
    return AmiPipelinePlan(
        spec=spec,
        account=spec.account or account,
        region=asked,
        security=security(spec.kms_key, spec.iam),
        tools=read_build_tools(pins),
    )


def read_build_tools(pins: Path) -> BuildTools:
    """Read what a build on AWS runs with.

    Args:
        pins: packer/pins.json.

    Raises:
        PinError: it cannot be read, or a tool is missing.
    """
    tools = read_pins(pins).tools

    def tool(name: str) -> Tool:
        if name not in tools:
            raise PinError(f"{pins}: tools has no {name}, which an AMI pipeline needs")
        return tools[name]

    image = tool("codebuild-image").image
    if image is None:
        raise PinError(f"{pins}: tool codebuild-image has no image")
    return BuildTools(
        packer=tool("packer"),
        plugin=tool("packer-plugin-amazon"),
        session_manager=tool("session-manager-plugin"),
        image=image,
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
