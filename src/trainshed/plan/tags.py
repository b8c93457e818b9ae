"""The tags of a resource that clusters share: those of all of them."""

from collections.abc import Iterable, Iterator, Mapping

from trainshed.spec.tags import LONGEST_TAG_VALUE, tags_problem


def resource_tags(of_clusters: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the tags of what clusters use that have these, `owner` among them.

    Where they differ in a value, it is every cluster's, with spaces between.
    """
    values: dict[str, list[str]] = {}
    for tags in of_clusters:
        for key, value in tags.items():
            values.setdefault(key, []).append(value)
    return {key: " ".join(dict.fromkeys(each)) for key, each in values.items()}


def shared_tag_problems(
    stack_name: str, of_clusters: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """Find what the tags of clusters that share a stack cannot be together.

    Args:
        stack_name: the stack.
        of_clusters: the tags of each cluster, by its name.
    """
    tags = resource_tags(of_clusters.values())
    names = ", ".join(of_clusters)
    if problem := tags_problem([key for key in tags if key != "owner"]):
        yield f"the clusters that share {stack_name} ({names}) have tags that clash: {problem}"
    for key, value in tags.items():
        if len(value) > LONGEST_TAG_VALUE:
            yield (
                f"the clusters that share {stack_name} ({names}) give {key} values of "
                f"{len(value)} characters together, more than {LONGEST_TAG_VALUE}; use shorter "
                "ones, or the same"
            )
