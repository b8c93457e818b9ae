"""The container image of the jobs, and where it is."""

from trainshed.parts.model import Charge, Fact, PartResources, PlannedPart
from trainshed.plan import RepositoryPlan
from trainshed.plan.container_image import ImagePlan
from trainshed.prices import ECR_STORED


def shown_image(image: ImagePlan, own: RepositoryPlan | None) -> str:
    """Return an image for people.

    Args:
        image: the image.
        own: the cluster's own repository, if the image is from it.
    """
    if own is None:
        return str(image.uri)
    return f"{own.name}{'@' if image.digest else ':'}{image.tag_or_digest}"


def image_part(own: RepositoryPlan | None) -> PlannedPart:
    """Return the repository of the image: the cluster's own, or somebody else's."""
    if own is None:
        return PlannedPart(kind="registry", facts=(Fact(name="repository of somebody else"),))
    name = own.name + (", existing" if own.existing else "")
    return PlannedPart(
        kind="repository",
        facts=(Fact(name="ECR repository", value=name),),
        charges=(Charge(component="container images in ECR", item=ECR_STORED),),
        resources=PartResources(stack=own.stack_name, types=("AWS::ECR::Repository",)),
    )
