"""Pushing an image to a cluster's repository: refused before a byte is sent, or kept forever."""

from trainshed.containers.engine import ContainerEngine
from trainshed.containers.repository import ContainerRepository, PushedImage
from trainshed.errors import Failure


def refuse_overwriting(repository: ContainerRepository, tag: str) -> None:
    """Refuse a tag that exists and can never mean another image.

    ECR refuses it too, but only after every layer has been sent.

    Raises:
        Failure: with what has the tag, and what to do.
    """
    there = repository.tagged(tag)
    if there and repository.keeps(tag):
        raise Failure(
            f"{repository.name}:{tag} exists since {there.pushed:%Y-%m-%d %H:%M} "
            f"({there.digest}) and tags of this repository are immutable, so that a job that is "
            "tried again gets the same image; push under another tag"
        )


def push(
    engine: ContainerEngine, image: str, repository: ContainerRepository, *, tag: str
) -> PushedImage:
    """Push an image of this machine, and return it as ECR has it.

    Args:
        engine: what has it.
        image: its name and tag on this machine.
        repository: where to.
        tag: its tag there.

    Raises:
        Failure: the tag is taken.
        Failure: login or push failed.
    """
    refuse_overwriting(repository, tag)
    target = f"{repository.uri}:{tag}"
    engine.push(image, target=target, password=repository.password())
    there = repository.tagged(tag)
    if there is None:
        raise Failure(f"ECR has no image {target} although it was pushed; push it again")
    return there
