"""Repositories in the inventory."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.inventory import Part, lists, row
from embedded_aws.plugins import Row


@lists(Part.IMAGES)
def _repositories(client: Callable[[str], Any]) -> Iterator[Row]:
    for repository in client("ecr").describe_repositories()["repositories"]:
        facts = f"tags {repository['imageTagMutability'].lower()}"
        yield row("repository", repository["repositoryName"], facts)
