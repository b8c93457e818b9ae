"""The container image of a cluster's jobs, in its stack."""

import aws_cdk as cdk
from aws_cdk import aws_ecr as ecr

from trainshed.plan import RepositoryPlan
from trainshed.plan.container_image import ImagePlan


def job_image(
    stack: cdk.Stack, image: ImagePlan, repository: RepositoryPlan | None
) -> tuple[str, ecr.IRepository | None]:
    """Return the image's URI, and the ECR repository that nodes need rights to pull it from.

    By its name: an export would tie the images to every cluster that runs them.

    Args:
        stack: of the cluster.
        image: that jobs run.
        repository: the cluster's own, or None.
    """
    if repository:
        own = ecr.Repository.from_repository_name(stack, "Repository", repository.name)
        return own.repository_uri_for_tag_or_digest(image.tag_or_digest), own
    assert image.uri
    if not (other := image.ecr):
        return image.uri, None
    return image.uri, ecr.Repository.from_repository_attributes(
        stack,
        "Repository",
        repository_name=other.name,
        repository_arn=f"arn:{cdk.Aws.PARTITION}:ecr:{other.region}:{other.account}:"
        f"repository/{other.name}",
    )
