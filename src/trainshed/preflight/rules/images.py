"""Whether the container image is there, and its drivers are those of the AMI."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainshed.account.deployed_stacks import find_stack
from trainshed.aws import AwsRefusal
from trainshed.containers.drivers import check_drivers
from trainshed.containers.repository import find_manifest, labels_of
from trainshed.findings import Basis, Finding, Place, Severity, Violation, rule
from trainshed.preflight.rules.amis import ami_id, ami_of
from trainshed.preflight.subject import Subject, accounts

_PATH = ("image",)
_WHEN = "jobs run in containers of an image in ECR, in the cluster's region"
_BATCH_GET = "https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_BatchGetImage.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Image:
    """An image of ECR.

    Attributes:
        repository: name of its repository.
        key: its `imageTag` or `imageDigest`.
        registry: `registryId` when it is of another account.
        stack: name of the stack that makes the repository; None for one that must be there.
    """

    repository: str
    key: Mapping[str, str]
    registry: Mapping[str, str]
    stack: str | None

    def __str__(self) -> str:
        """Return `repository:tag`, or with the digest."""
        return f"{self.repository}:{next(iter(self.key.values()))}"


def image_of(subject: Subject) -> _Image | None:
    """Return the image of the jobs, when it is in ECR in the cluster's region."""
    image, own = subject.plan.jobs.image, subject.plan.repository
    if image is None:
        return None
    if own:
        key = {"imageDigest": image.digest} if image.digest else {"imageTag": image.tag or ""}
        stack = None if own.existing else own.stack_name
        return _Image(repository=own.name, key=key, registry={}, stack=stack)
    if not (image.ecr and image.uri) or image.ecr.region != subject.plan.region:
        return None
    name, at, digest = image.uri.partition("@")
    key = {"imageDigest": digest} if at else {"imageTag": name.rpartition(":")[2]}
    registry = {"registryId": image.ecr.account}
    return _Image(repository=image.ecr.name, key=key, registry=registry, stack=None)


def _manifest(subject: Subject, image: _Image) -> dict[str, Any] | None:
    """Return the manifest of an image, or None when the repository has none.

    Raises:
        AwsRefusal: RepositoryNotFoundException among others.
    """
    return find_manifest(subject.aws, image.repository, image.key, **image.registry)


@rule(
    "TS-ACC-050",
    over=accounts,
    title="The container image does not exist",
    when=_WHEN,
    why="""
A job whose image cannot be pulled gets its nodes, which are billed, and fails on each of them.
""",
    actions=(
        "ecr:BatchGetImage",
        "cloudformation:DescribeStacks",
        "cloudformation:ListStackResources",
    ),
    sources=(_BATCH_GET,),
    severity=Severity.ERROR,
)
def image_is_there(subject: Subject) -> Iterator[Violation]:
    """The repository has the image, unless the repository is still to be deployed."""
    image = image_of(subject)
    if image is None:
        return
    try:
        found = _manifest(subject, image)
    except AwsRefusal as error:
        if error.code != "RepositoryNotFoundException":
            raise
        if image.stack is None or find_stack(subject.aws, image.stack):
            yield Violation(
                path=_PATH,
                message=f"there is no repository {image.repository} in {subject.plan.region}",
                remedy="create it and push the image, or name another",
            )
        return
    if found is None:
        yield Violation(
            path=_PATH,
            message=f"{image} is not in ECR in {subject.plan.region}",
            remedy=f"push it: trainshed container push {subject.plan.name} IMAGE",
        )


@rule(
    "TS-ACC-051",
    over=accounts,
    title="The container image is still to be pushed",
    when="the cluster's own repository is not deployed yet",
    why="The repository is made by the first deployment; before the first job it needs the image.",
    actions=(
        "ecr:BatchGetImage",
        "cloudformation:DescribeStacks",
        "cloudformation:ListStackResources",
    ),
    sources=(_BATCH_GET,),
    severity=Severity.INFO,
)
def image_is_to_be_pushed(subject: Subject) -> Iterator[Violation]:
    """The repository comes with the first deployment."""
    image = image_of(subject)
    if image is None or image.stack is None:
        return
    try:
        _manifest(subject, image)
    except AwsRefusal as error:
        if error.code != "RepositoryNotFoundException":
            raise
        if not find_stack(subject.aws, image.stack):
            yield Violation(
                path=_PATH,
                message=f"the repository {image.repository} comes with the stack {image.stack}, "
                "and is empty then",
                remedy=f"deploy {image.stack}, then: trainshed container push "
                f"{subject.plan.name} IMAGE",
            )


@rule(
    "TS-ACC-052",
    over=accounts,
    title="Container image and AMI may not fit together",
    when="image and AMI are there; the findings are TS-IMG-001 to 004",
    why="""
The driver on the host and the libraries in the image must be of versions that fit together. Images
that `trainshed container build` makes say by labels what they need, and AMIs of `trainshed ami
build` by tags what they have.
""",
    actions=(
        "ecr:BatchGetImage",
        "ecr:GetDownloadUrlForLayer",
        "ssm:GetParameter",
        "ec2:DescribeImages",
    ),
    sources=(_BATCH_GET,),
    severity=Severity.WARNING,
    basis=Basis.INFERRED,
)
def drivers_fit(subject: Subject) -> Iterator[Finding]:
    """The labels of the image and the tags of the AMI agree."""
    image = image_of(subject)
    if image is None:
        return
    try:
        manifest = _manifest(subject, image)
    except AwsRefusal as error:
        if error.code != "RepositoryNotFoundException":
            raise
        return
    if manifest is None:
        return
    labels = labels_of(subject.aws, image.repository, manifest, **image.registry)
    ami = ami_of(subject)
    if ami is None:
        return
    for found in check_drivers(labels, ami.tags, image=str(image), ami=ami_id(subject) or ""):
        yield Finding(
            rule=found.rule,
            severity=found.severity,
            message=found.message,
            remedy=found.remedy,
            place=Place.of(subject.plan.where, _PATH),
        )
