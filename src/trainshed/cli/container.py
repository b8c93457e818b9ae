"""`trainshed container`: build container images, push them to a cluster's repository, list them."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from trainshed.ami.ami import find_ami
from trainshed.app.sources import containers_folder, packer_folder
from trainshed.aws import Region
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    load_cluster,
)
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, print_records, say
from trainshed.containers.building import build as build_image
from trainshed.containers.building import parse_arguments
from trainshed.containers.drivers import ACCELERATOR_LABEL, DRIVER_LABEL, check_drivers
from trainshed.containers.engine import find_engine
from trainshed.containers.pushing import push as push_image
from trainshed.containers.pushing import refuse_overwriting
from trainshed.containers.repository import ContainerRepository
from trainshed.errors import Failure, TrainshedError
from trainshed.findings import Finding, Severity
from trainshed.findings.acceptance import accept
from trainshed.pins.model import CPU
from trainshed.plan import ClusterPlan, ImagePlan
from trainshed.spec.forms import IMAGE_TAG

app = typer.Typer(add_completion=False)

EngineOption = Annotated[
    str | None,
    typer.Option(
        help="docker, podman or buildah.",
        show_default="the first of them that answers",
        metavar="NAME",
    ),
]
TagOption = Annotated[
    str | None, typer.Option(help="Tag.", show_default="image.tag of the cluster", metavar="TAG")
]
CpuOption = Annotated[
    bool,
    typer.Option("--cpu", help="The small image for rehearsals; its tag ends with -cpu."),
]
AmiOption = Annotated[
    str | None,
    typer.Option(
        help="AMI id whose drivers to compare with what the image needs.",
        show_default="no comparison",
        metavar="AMI",
    ),
]


@app.command()
def build(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    engine: EngineOption = None,
    tag: TagOption = None,
    cpu: CpuOption = False,
    build_arg: Annotated[
        list[str] | None,
        typer.Option(
            help="Argument of the Dockerfile, for instance BASE=...; give it again for more.",
            show_default="from packer/pins.json",
            metavar="NAME=VALUE",
        ),
    ] = None,
) -> None:
    """Build the image for a cluster's accelerator.

    The sources are containers/ and packer/ of this directory, or else those that trainshed ships.
    The result is on this machine, under the name of the cluster's repository.
    """
    plan = load_cluster(cluster, clusters, region)
    given = parse_arguments(build_arg or ())
    image = f"{_repository_name(plan)}:{_tag(plan, tag, cpu)}"
    name = CPU if cpu else plan.instance.accelerator.family.value
    found = find_engine(engine)
    containers = containers_folder()
    say(f"building {image} from {containers / name} with {found.name}", err=True)
    arguments = build_image(
        found,
        name,
        packer=packer_folder(),
        containers=containers,
        image=image,
        architecture=plan.instance.architecture,
        given=given,
    )
    say(f"built {image} on {arguments['BASE']}")
    say(f"push it: trainshed container push {cluster}" + (" --cpu" if cpu else ""), err=True)


@app.command()
def push(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    engine: EngineOption = None,
    tag: TagOption = None,
    cpu: CpuOption = False,
    ami: AmiOption = None,
) -> None:
    """Push the image that was built for a cluster to its ECR repository.

    Prints the digest, and the line of the cluster file that names exactly this image. Exits with
    1, before anything is sent, when the tag is taken or the AMI lacks a driver. Needs
    ecr:GetAuthorizationToken, ecr:DescribeRepositories, ecr:DescribeImages and the rights to push.
    """
    plan = load_cluster(cluster, clusters, region)
    name = _repository_name(plan)
    wanted = _tag(plan, tag, cpu)
    image = f"{name}:{wanted}"
    found = find_engine(engine)
    labels = found.labels(image)
    if labels is None:
        raise Failure(
            f"{found.name} has no image {image}; "
            f"build it first: trainshed container build {cluster}"
        )
    repository = _repository(plan)
    refuse_overwriting(repository, wanted)
    if ami:
        differences = check_drivers(labels, _tags(plan, ami), image=image, ami=ami)
        _print_findings(_with_acceptance(plan, differences))
    pushed = push_image(found, image, repository, tag=wanted)
    say(f"pushed {repository.uri}:{wanted}")
    say(f"digest {pushed.digest}")
    existing = "existing: true, " if plan.own_repository.existing else ""
    say(f'image: {{repository: {repository.name}, {existing}digest: "{pushed.digest}"}}')


@app.command(name="list")
def list_images(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    ami: AmiOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the images of a cluster's repository, newest first, with the drivers they need.

    With --ami, exits with 1 when there are findings that nobody accepts. Needs
    ecr:DescribeRepositories, ecr:DescribeImages, ecr:BatchGetImage and ecr:GetDownloadUrlForLayer.
    """
    plan = load_cluster(cluster, clusters, region)
    repository = _repository(plan)
    tags = _tags(plan, ami) if ami else None
    records: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for image in repository.images():
        labels = repository.labels(image)
        name = f"{repository.name}:{image.tags[0]}" if image.tags else image.digest
        records.append(
            {
                "tags": image.tags,
                "digest": image.digest,
                "size_mib": None if image.size_bytes is None else round(image.size_bytes / 2**20),
                "pushed": image.pushed.isoformat(timespec="minutes"),
                "accelerator": (labels or {}).get(ACCELERATOR_LABEL),
                "drivers": _drivers(labels or {}),
            }
        )
        if ami:
            findings += check_drivers(labels, tags, image=name, ami=ami)
    if as_json:
        print_json(records)
    else:
        print_records(
            [record | {"drivers": _shown(record["drivers"])} for record in records],
            columns=("tags", "digest", "size_mib", "pushed", "accelerator", "drivers"),
            headings={"size_mib": "MiB", "drivers": "needs on the host"},
        )
    judged = _with_acceptance(plan, findings) if ami else ()
    for finding in judged:
        say(str(finding), err=as_json)
    if any(finding.fails for finding in judged):
        raise typer.Exit(1)


def _tag(plan: ClusterPlan, asked: str | None, cpu: bool) -> str:
    if asked:
        if not re.fullmatch(IMAGE_TAG.pattern, asked):
            raise TrainshedError(f"--tag {asked!r} is not a tag ({IMAGE_TAG.words})")
        return asked
    tag = _image(plan).tag
    if tag is None:
        raise TrainshedError(
            f"{plan.where.place(('image', 'digest'))}: image.digest names an image that "
            "exists; give the tag of the new one with --tag"
        )
    return f"{tag}-{CPU}" if cpu else tag


def _repository(plan: ClusterPlan) -> ContainerRepository:
    return ContainerRepository(Region(plan.region), _repository_name(plan), account=plan.account)


def _repository_name(plan: ClusterPlan) -> str:
    _image(plan)
    repository = plan.repository
    if repository is None:
        raise TrainshedError(
            f"{plan.where.place(('image', 'uri'))}: image.uri names an image that is made "
            f"elsewhere, so {plan.name} has no repository of its own; give image.repository "
            "and image.tag instead to build and push one"
        )
    return repository.name


def _image(plan: ClusterPlan) -> ImagePlan:
    if plan.jobs.image is None:
        raise TrainshedError(
            f"{plan.where.place(('orchestrator',))}: {plan.name} has no container image: "
            f"its jobs run on the nodes themselves, as orchestrator is {plan.orchestrator}"
        )
    return plan.jobs.image


def _tags(plan: ClusterPlan, ami: str) -> Mapping[str, str] | None:
    found = find_ami(Region(plan.region), ami)
    return found.tags if found else None


def _with_acceptance(plan: ClusterPlan, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return accept(plan.findings, plan.where, findings, applied=frozenset())


def _print_findings(findings: tuple[Finding, ...]) -> None:
    """Print findings, and stop at an error that nobody accepts."""
    for finding in findings:
        say(str(finding), err=True)
    if any(finding.fails and finding.severity is Severity.ERROR for finding in findings):
        raise typer.Exit(1)


def _drivers(labels: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(DRIVER_LABEL): versions
        for name, versions in sorted(labels.items())
        if name.startswith(DRIVER_LABEL)
    }


def _shown(drivers: dict[str, str]) -> list[str]:
    return [f"{component} {versions}" for component, versions in drivers.items()]
