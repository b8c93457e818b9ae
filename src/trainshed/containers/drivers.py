"""Does the AMI have the drivers that a container image needs?"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from trainshed.findings import Finding, Over, Severity, Violation, rule
from trainshed.findings.run import found
from trainshed.pins.model import CPU

ACCELERATOR_LABEL = "trainshed.accelerator"
DRIVER_LABEL = "trainshed.driver."
_ACCELERATOR_TAG = "trainshed:accelerator"
_VERSION_TAG = "trainshed:version:"

_BOUND = re.compile(r"(>=|<=|>|<)\s*([0-9][\w.~+-]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePair:
    """A container image, and the AMI that it is to run on.

    Attributes:
        labels: the image's; None when they cannot be read.
        tags: the AMI's; None when they cannot be read.
        image: the image, for messages.
        ami: the AMI, for messages.
    """

    labels: Mapping[str, str] | None
    tags: Mapping[str, str] | None
    image: str
    ami: str

    @property
    def needs(self) -> Mapping[str, str]:
        """Ranges of versions by component; none where image or AMI do not say enough."""
        if not self.labels or self.tags is None or self.wanted in (None, CPU):
            return {}
        return {
            label.removeprefix(DRIVER_LABEL): versions
            for label, versions in sorted(self.labels.items())
            if label.startswith(DRIVER_LABEL)
        }

    @property
    def wanted(self) -> str | None:
        """The accelerator that the image is for; `cpu` runs on any node."""
        return (self.labels or {}).get(ACCELERATOR_LABEL)

    def has(self, component: str) -> str | None:
        """Return the AMI's version of a component."""
        return (self.tags or {}).get(f"{_VERSION_TAG}{component}")


image_pairs: Over[ImagePair, ImagePair] = Over(
    command="container push, container list, preflight", parts=lambda pair: (pair,)
)


def check_drivers(
    labels: Mapping[str, str] | None, tags: Mapping[str, str] | None, *, image: str, ami: str
) -> tuple[Finding, ...]:
    """Compare what an image needs with what an AMI has; the arguments are those of `ImagePair`."""
    pair = ImagePair(labels=labels, tags=tags, image=image, ami=ami)
    return tuple(found(image_pairs.command, pair))


@rule(
    "TS-IMG-003",
    over=image_pairs,
    title="The container image does not say what it needs",
    why="""
Images that `trainshed container build` makes say by labels which accelerator and which drivers they
need. An image without labels, an index of several images, or a range of versions that cannot be
read says nothing, so nothing can be compared.
""",
    remedy="Build it with `trainshed container build`, or on top of such an image",
)
def image_is_silent(pair: ImagePair) -> Iterator[Violation]:
    """An image without labels may need anything."""
    if pair.wanted is None:
        why = (
            "its labels cannot be read" if pair.labels is None else f"no label {ACCELERATOR_LABEL}"
        )
        yield Violation(
            message=f"{pair.image} does not say which drivers it needs: {why}",
            remedy="build it with trainshed container build, or on top of such an image",
        )
    for component, versions in pair.needs.items():
        if pair.has(component) is not None and not all(_bounds(versions)):
            yield Violation(
                message=f"{pair.image} needs {component} {versions!r}, which is not a range of "
                "versions",
                remedy="write it like >=1.21,<1.22",
            )


@rule(
    "TS-IMG-002",
    over=image_pairs,
    title="The AMI is for another accelerator than the container image",
    severity=Severity.ERROR,
    why="""
The host has the driver of its own accelerator only. A container for another one finds no device.
""",
    remedy="Take an image and an AMI for the same accelerator",
)
def another_accelerator(pair: ImagePair) -> Iterator[Violation]:
    """Image and AMI are for one accelerator."""
    has = (pair.tags or {}).get(_ACCELERATOR_TAG)
    if pair.wanted not in (None, CPU) and has is not None and has != pair.wanted:
        yield Violation(
            message=f"{pair.image} is for {pair.wanted}, and {pair.ami} is an AMI for {has}",
            remedy=f"take an image for {has}, or an AMI for {pair.wanted}",
        )


@rule(
    "TS-IMG-004",
    over=image_pairs,
    title="The AMI does not say what it has",
    why="""
AMIs of `trainshed ami build` say by tags which accelerator and which versions they have. One that
is not in this account and region, or has no such tag, says nothing, so nothing can be compared.
""",
    remedy="Name an AMI that `trainshed ami list` shows, or bake it with `trainshed ami build`",
)
def ami_is_silent(pair: ImagePair) -> Iterator[Violation]:
    """An AMI without tags may have anything."""
    if pair.tags is None and pair.wanted not in (None, CPU):
        yield Violation(
            message=f"{pair.ami} cannot be read: it is not in this account and region, "
            "or was deleted",
            remedy="name an AMI that trainshed ami list shows",
        )
    for component, versions in pair.needs.items():
        if pair.has(component) is None:
            yield Violation(
                message=f"{pair.image} needs {component} {versions}, and {pair.ami} has no tag "
                f"{_VERSION_TAG}{component}",
                remedy="bake the AMI with trainshed ami build, which writes the tags",
            )


@rule(
    "TS-IMG-001",
    over=image_pairs,
    title="A driver of the AMI is out of the container image's range",
    severity=Severity.ERROR,
    why="""
The driver on the host and the libraries in the image must be of versions that fit together.
""",
    remedy="Move image and AMI together: build both from the same `packer/pins.json`",
)
def driver_out_of_range(pair: ImagePair) -> Iterator[Violation]:
    """The host's driver is one that the image's libraries know."""
    for component, versions in pair.needs.items():
        has, bounds = pair.has(component), _bounds(versions)
        if has is None or not all(bounds):
            continue
        if not all(_holds(has, *bound.groups()) for bound in bounds if bound):
            yield Violation(
                message=f"{pair.image} needs {component} {versions} on the host, and {pair.ami} "
                f"has {has}",
                remedy="move image and AMI together: build both from the same packer/pins.json",
            )


def _bounds(versions: str) -> list[re.Match[str] | None]:
    return [_BOUND.fullmatch(part.strip()) for part in versions.split(",")]


def _holds(version: str, sign: str, bound: str) -> bool:
    order = _order(version, bound)
    return {">=": order >= 0, "<=": order <= 0, ">": order > 0, "<": order < 0}[sign]


def _order(left: str, right: str) -> int:
    """Compare by the numbers in two versions; what only one of them has counts as 0."""
    pairs = zip_longest(
        *(map(int, re.findall(r"\d+", text)) for text in (left, right)), fillvalue=0
    )
    return next(((a > b) - (a < b) for a, b in pairs if a != b), 0)
