"""Pushing an image to a cluster's repository: refused before a byte is sent, or kept for ever."""

from dataclasses import dataclass

from trainshed.containers.engine import ContainerEngine
from trainshed.containers.repository import ContainerRepository
from trainshed.errors import Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What is in the repository now.

    Attributes:
        uri: repository URI and tag.
        digest: of the image, as ECR has it.
    """

    uri: str
    digest: str


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
) -> Pushed:
    """Push an image of this machine.

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
    return Pushed(uri=target, digest=there.digest)
