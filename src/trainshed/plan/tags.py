"""The tags of a resource that clusters share: those of all of them."""

from collections.abc import Iterable, Iterator, Sequence

from trainshed.spec import ClusterSpec
from trainshed.spec.tags import LONGEST_TAG_VALUE, tags_problem


def resource_tags(specs: Iterable[ClusterSpec]) -> dict[str, str]:
    """Return the tags of what these clusters use, `owner` among them.

    Where they differ in a value, it is every cluster's, with spaces between.
    """
    values: dict[str, list[str]] = {}
    for spec in specs:
        for key, value in {"owner": spec.owner, **spec.tags}.items():
            values.setdefault(key, []).append(value)
    return {key: " ".join(dict.fromkeys(each)) for key, each in values.items()}


def shared_tag_problems(stack_name: str, specs: Sequence[ClusterSpec]) -> Iterator[str]:
    """Find what the tags of clusters that share a stack cannot be together."""
    tags = resource_tags(specs)
    names = ", ".join(spec.name for spec in specs)
    if problem := tags_problem([key for key in tags if key != "owner"]):
        yield f"the clusters that share {stack_name} ({names}) have tags that clash: {problem}"
    for key, value in tags.items():
        if len(value) > LONGEST_TAG_VALUE:
            yield (
                f"the clusters that share {stack_name} ({names}) give {key} values of "
                f"{len(value)} characters together, more than {LONGEST_TAG_VALUE}; use shorter "
                "ones, or the same"
            )
