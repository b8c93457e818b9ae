"""Does the AMI have the drivers that a container image needs?"""

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from trainshed.findings import Finding, Severity
from trainshed.pins.model import CPU

DRIVER_RULES = ("TS-IMG-001", "TS-IMG-002", "TS-IMG-003", "TS-IMG-004")
ACCELERATOR_LABEL = "trainshed.accelerator"
DRIVER_LABEL = "trainshed.driver."
_ACCELERATOR_TAG = "trainshed:accelerator"
_VERSION_TAG = "trainshed:version:"

_BOUND = re.compile(r"(>=|<=|>|<)\s*([0-9][\w.~+-]*)")


def check_drivers(
    labels: Mapping[str, str] | None, tags: Mapping[str, str] | None, *, image: str, ami: str
) -> tuple[Finding, ...]:
    """Compare what an image needs with what an AMI has.

    Args:
        labels: the image's; None when they cannot be read.
        tags: the AMI's; None when they cannot be read.
        image: the image, for messages.
        ami: the AMI, for messages.

    Returns:
        TS-IMG-001 a driver of the AMI is out of the image's range; TS-IMG-002 the AMI is for
        another accelerator; TS-IMG-003 the image does not say what it needs; TS-IMG-004 the AMI
        does not say what it has.
    """
    if labels is None or ACCELERATOR_LABEL not in labels:
        why = "its labels cannot be read" if labels is None else f"no label {ACCELERATOR_LABEL}"
        return (
            Finding(
                rule="TS-IMG-003",
                message=f"{image} does not say which drivers it needs: {why}",
                remedy="build it with trainshed container build, or on top of such an image",
            ),
        )
    if labels[ACCELERATOR_LABEL] == CPU:
        # It runs on any node.
        return ()
    if tags is None:
        return (
            Finding(
                rule="TS-IMG-004",
                message=f"{ami} cannot be read: it is not in this account and region, "
                "or was deleted",
                remedy="name an AMI of trainshed ami list",
            ),
        )
    return (*_check_accelerator(labels, tags, image, ami), *_check_each(labels, tags, image, ami))


def _check_accelerator(
    labels: Mapping[str, str], tags: Mapping[str, str], image: str, ami: str
) -> Iterator[Finding]:
    wanted, has = labels[ACCELERATOR_LABEL], tags.get(_ACCELERATOR_TAG)
    if has is not None and has != wanted:
        yield Finding(
            rule="TS-IMG-002",
            severity=Severity.ERROR,
            message=f"{image} is for {wanted}, and {ami} is an AMI for {has}",
            remedy=f"take an image for {has}, or an AMI for {wanted}",
        )


def _check_each(
    labels: Mapping[str, str], tags: Mapping[str, str], image: str, ami: str
) -> Iterator[Finding]:
    for label, versions in sorted(labels.items()):
        if not label.startswith(DRIVER_LABEL):
            continue
        component = label.removeprefix(DRIVER_LABEL)
        has = tags.get(f"{_VERSION_TAG}{component}")
        bounds = [_BOUND.fullmatch(part.strip()) for part in versions.split(",")]
        if has is None:
            yield Finding(
                rule="TS-IMG-004",
                message=f"{image} needs {component} {versions}, and {ami} has no tag "
                f"{_VERSION_TAG}{component}",
                remedy="bake the AMI with trainshed ami build, which writes the tags",
            )
        elif not all(bounds):
            yield Finding(
                rule="TS-IMG-003",
                message=f"{image} needs {component} {versions!r}, which is not a range of versions",
                remedy="write it like >=1.21,<1.22",
            )
        elif not all(_holds(has, *bound.groups()) for bound in bounds if bound):
            yield Finding(
                rule="TS-IMG-001",
                severity=Severity.ERROR,
                message=f"{image} needs {component} {versions} on the host, and {ami} has {has}",
                remedy="move image and AMI together: build both from the same packer/pins.json",
            )


def _holds(version: str, sign: str, bound: str) -> bool:
    order = _order(version, bound)
    return {">=": order >= 0, "<=": order <= 0, ">": order > 0, "<": order < 0}[sign]


def _order(left: str, right: str) -> int:
    """Compare by the numbers in two versions; what only one of them has counts as 0."""
    pairs = zip_longest(
        *(map(int, re.findall(r"\d+", text)) for text in (left, right)), fillvalue=0
    )
    return next(((a > b) - (a < b) for a, b in pairs if a != b), 0)
