"""The kinds of files that can be judged: how each is recognised, and what reads it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from trainshed.documents.yaml import Value
from trainshed.lint.cloudformation import is_cloudformation, read_cloudformation
from trainshed.lint.eksctl import is_eksctl, read_eksctl
from trainshed.lint.model import FileKind, LintedFile
from trainshed.lint.parallelcluster import is_parallelcluster, read_parallelcluster
from trainshed.lint.reading import Content, UnreadableFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """What reads one kind of file.

    Attributes:
        recognises: says whether a value is the content of such a file.
        read: returns what the file asks of AWS: one document, or one for each case.
    """

    recognises: Callable[[dict[str, Value]], bool]
    read: Callable[[Content], Iterable[LintedFile]]


READERS = {
    FileKind.CLOUDFORMATION: Reader(recognises=is_cloudformation, read=read_cloudformation),
    FileKind.EKSCTL: Reader(recognises=is_eksctl, read=read_eksctl),
    FileKind.PARALLELCLUSTER: Reader(recognises=is_parallelcluster, read=read_parallelcluster),
}


def read_documents(content: Content) -> tuple[LintedFile, ...]:
    """Return what a file asks of AWS: one document, or one for each case.

    Raises:
        UnreadableFile: the file is of none of the kinds.
    """
    for reader in READERS.values():
        if reader.recognises(content.value):
            return tuple(reader.read(content))
    raise UnreadableFile(f"{content.where.file}: {_what_it_is(content.value)}")


def _what_it_is(value: dict[str, Value]) -> str:
    """Say why a file is not judged."""
    kinds = f"it is no {', and no '.join(READERS)}"
    if isinstance(value.get("instance"), dict) and "name" in value:
        return f"{kinds}; it looks like a cluster file of trainshed: use trainshed check"
    if {"resource", "provider", "terraform", "resource_changes", "planned_values"} & value.keys():
        return f"{kinds}; it looks like a file of Terraform, which trainshed does not judge"
    if "apiVersion" in value and "kind" in value:
        return f"{kinds}; it is a Kubernetes object (kind {value['kind']!r})"
    return kinds
