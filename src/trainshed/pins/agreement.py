"""What pins must have in common: a driver with its kernel, a manager with its driver."""

import re
from collections.abc import Iterator

from trainshed.documents.problems import Path
from trainshed.errors import did_you_mean
from trainshed.pins.model import ANY, Component, GitSource, Pins, RepositorySource, family_of
from trainshed.pins.recipe import ComponentPin, component_pin

# Intel's support matrices list first-generation Gaudi up to 1.21; the one of 1.22 names Gaudi 2
# and 3 only. Seen 2026-11. https://docs.habana.ai/en/latest/Support_Matrix/Support_Matrix_v1.22.0.html
LAST_FOR_GAUDI_1 = (1, 21)
# R590 and later have no modules for Volta, which is what the proprietary ones are for.
# https://docs.nvidia.com/datacenter/tesla/drivers/
_LAST_FOR_VOLTA = 580
_PROPRIETARY = re.compile(r"kmod-nvidia-latest-dkms|nvidia-dkms-\d+")

Disagreement = tuple[Path, str]


def disagreements(pins: Pins) -> Iterator[Disagreement]:
    """Yield what is wrong with pins that are valid one by one: the field, and why."""
    wrong = [each for item in pins.components.items() for each in _sources(pins, *item)]
    if wrong:
        yield from wrong
        return
    for base in pins.bases:
        yield from _kernel(pins, base)
        yield from _lustre(pins, base)
        yield from _habana(pins, base)
        yield from _nvidia(pins, base)
    yield from _repositories(pins)


def _sources(pins: Pins, name: str, component: Component) -> Iterator[Disagreement]:
    """A source is for a base that exists, from a repository that exists; a commit is one."""
    exact = (*pins.bases, *(container.base for container in pins.containers.values()))
    known = tuple(dict.fromkeys((*exact, *map(family_of, exact), ANY)))
    for place, source in component.sources.items():
        path = ("components", name, "sources", place)
        if place not in known:
            yield path, f"{place!r} is not a base (allowed: {', '.join(known)})"
        if isinstance(source, GitSource):
            version = source.version or component.version
            if not re.fullmatch(r"[0-9a-f]{40}", version):
                yield (*path, "version"), f"{version!r} is not a commit: a branch or tag can move"
        if isinstance(source, RepositorySource):
            yield from _repository(pins, source.repository, path)


def _repository(pins: Pins, name: str, path: Path) -> Iterator[Disagreement]:
    repository, place = pins.repositories.get(name), str(path[-1])
    if repository is None:
        near = did_you_mean(name, tuple(pins.repositories))
        yield (*path, "repository"), f"{name!r} is not in repositories{near}"
    elif "{suite}" in (repository.suite or ""):
        for base, system in pins.bases.items():
            if place in (base, family_of(base)) and system.suite is None:
                yield (
                    ("bases", base),
                    f"suite is missing, and repository {name} of component {path[1]} has one for "
                    "each release",
                )


def _pin(pins: Pins, name: str, base: str) -> ComponentPin | None:
    component = pins.components.get(name)
    place = component.place_on(base) if component else None
    return component_pin(pins, component, place, base) if component and place else None


def _kernel(pins: Pins, base: str) -> Iterator[Disagreement]:
    """Drivers are built for the kernel that is installed, and tested against the one named."""
    kernel, pin = pins.bases[base].kernel, _pin(pins, "kernel", base)
    # Ubuntu has the release in the package's name, Amazon Linux in its version.
    if not pin or not any(
        name == f"linux-image-{kernel}" or kernel == f"{version}.x86_64"
        for name, version in pin.packages.items()
    ):
        yield (
            ("bases", base, "kernel"),
            f"is {kernel}, and no package of component kernel on {base} installs that one; change "
            "both together",
        )


def _lustre(pins: Pins, base: str) -> Iterator[Disagreement]:
    """Ubuntu's client has modules for one kernel; Amazon Linux ships them with its kernel."""
    kernel, pin = pins.bases[base].kernel, _pin(pins, "lustre-client", base)
    for name in pin.packages if pin else ():
        if name.removeprefix("lustre-client-modules-") not in (name, kernel):
            yield (
                ("components", "lustre-client", "sources", base),
                f"{name} is for another kernel than {kernel}; change both together",
            )


def _habana(pins: Pins, base: str) -> Iterator[Disagreement]:
    driver, last = _pin(pins, "habana-driver", base), ".".join(map(str, LAST_FOR_GAUDI_1))
    if driver and _numbers(driver.version)[:2] > LAST_FOR_GAUDI_1:
        yield (
            ("components", "habana-driver", "version"),
            f"{driver.version} does not drive first-generation Gaudi, the only one on EC2; its "
            f"support ended with {last}, so pin a {last}",
        )


def _nvidia(pins: Pins, base: str) -> Iterator[Disagreement]:
    driver = _pin(pins, "nvidia-driver", base)
    if driver is None:
        return
    for name, version in driver.packages.items():
        if _PROPRIETARY.fullmatch(name) and _numbers(version)[:1] > (_LAST_FOR_VOLTA,):
            yield (
                ("components", "nvidia-driver", "sources", base, "packages", name),
                f"{name} {version} has no modules for V100, which nvidia_driver=proprietary is "
                "for; pin a 580, or leave it out to bake open modules only",
            )
    manager = _pin(pins, "nvidia-fabric-manager", base)
    if manager is None or manager.version != driver.version:
        yield (
            ("components", "nvidia-fabric-manager"),
            f"is {manager.version if manager else 'missing'}, and must be {driver.version} as "
            "nvidia-driver is, or it refuses to start",
        )


def _repositories(pins: Pins) -> Iterator[Disagreement]:
    """Each is written once, and a component comes from it."""
    used = {
        source.repository
        for component in pins.components.values()
        for source in component.sources.values()
        if isinstance(source, RepositorySource)
    }
    places: dict[tuple[str, str | None, str | None], str] = {}
    for name, repository in pins.repositories.items():
        first = places.setdefault((repository.url, repository.suite, repository.section), name)
        if first != name:
            yield (
                ("repositories", name),
                f"is the same as {first}; remove it, and name that one in sources",
            )
        elif name not in used:
            yield ("repositories", name), "no component comes from it; remove it"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())
