"""What pins have to have in common: a driver with its kernel, a manager with its driver."""

import re
from collections.abc import Iterator

from trainshed.pins.fields import PinError
from trainshed.pins.model import Base, Pins, Source, family_of

# Intel's support matrices list first-generation Gaudi up to 1.21; the one of 1.22 names Gaudi 2
# and 3 only. https://docs.habana.ai/en/latest/Support_Matrix/Support_Matrix_v1.22.0.html
_LAST_FOR_GAUDI_1 = (1, 21)
# R590 and later have no modules for Volta, which is what the proprietary ones are for.
# https://docs.nvidia.com/datacenter/tesla/drivers/
_LAST_FOR_VOLTA = 580
_PROPRIETARY = re.compile(r"kmod-nvidia-latest-dkms|nvidia-dkms-\d+")


def require_agreement(pins: Pins) -> None:
    """Refuse pins that are sound one by one and do not work together.

    Raises:
        PinError: the first disagreement.
    """
    for message in _disagreements(pins):
        raise PinError(message)


def _disagreements(pins: Pins) -> Iterator[str]:
    for base in pins.bases.values():
        yield from _kernel(base, _source(pins, "kernel", base))
        yield from _lustre(base, _source(pins, "lustre-client", base))
        yield from _habana(_source(pins, "habana-driver", base))
        yield from _nvidia(
            _source(pins, "nvidia-driver", base), _source(pins, "nvidia-fabric-manager", base)
        )
    yield from _default_bases(pins)
    yield from _suites(pins)
    yield from _repositories(pins)


def _source(pins: Pins, component: str, base: Base) -> Source | None:
    known = pins.components.get(component)
    return known.source_on(base.name) if known else None


def _kernel(base: Base, source: Source | None) -> Iterator[str]:
    """Drivers are built for the kernel that is installed, and tested against the one named."""
    if source is None:
        yield f"base {base.name}: kernel {base.kernel} has no source; add it to component kernel"
    elif not any(_boots(base.kernel, name, version) for name, version in source.packages.items()):
        yield (
            f"base {base.name}: kernel is {base.kernel}, and no package of component kernel on "
            f"{base.name} brings that one; change both together"
        )


def _boots(kernel: str, name: str, version: str) -> bool:
    # Ubuntu has the release in the package's name, Amazon Linux in its version.
    return name == f"linux-image-{kernel}" or kernel == f"{version}.x86_64"


def _lustre(base: Base, source: Source | None) -> Iterator[str]:
    """Ubuntu's client has modules for one kernel; Amazon Linux ships them with its kernel."""
    for name in source.packages if source else ():
        modules = name.removeprefix("lustre-client-modules-")
        if modules not in (name, base.kernel):
            yield (
                f"component lustre-client on {base.name}: {name} is for another kernel than "
                f"{base.kernel}; change both together"
            )


def _habana(driver: Source | None) -> Iterator[str]:
    if driver and _numbers(driver.version)[:2] > _LAST_FOR_GAUDI_1:
        yield (
            f"component habana-driver: {driver.version} does not drive first-generation Gaudi, the "
            "only one on EC2; its support ended with 1.21, so pin a 1.21"
        )


def _nvidia(driver: Source | None, manager: Source | None) -> Iterator[str]:
    if driver is None:
        return
    for name, version in driver.packages.items():
        if _PROPRIETARY.fullmatch(name) and _numbers(version)[:1] > (_LAST_FOR_VOLTA,):
            yield (
                f"component nvidia-driver: {name} {version} has no modules for V100, which "
                "nvidia_driver=proprietary is for; pin a 580, or leave it out to bake open modules "
                "only"
            )
    if manager is None or manager.version != driver.version:
        yield (
            f"component nvidia-fabric-manager: is {manager.version if manager else 'missing'}, and "
            f"has to be {driver.version} as nvidia-driver is, or it refuses to start"
        )


def _default_bases(pins: Pins) -> Iterator[str]:
    """The first base of an accelerator is baked when nobody names one, for any orchestrator."""
    defaults: dict[str, Base] = {}
    for base in pins.bases.values():
        for accelerator in sorted(base.accelerators):
            defaults.setdefault(accelerator, base)
    for accelerator, base in defaults.items():
        for orchestrator in base.refused:
            yield (
                f"base {base.name}: is the first of {accelerator} and refuses {orchestrator}; put "
                "one that takes every orchestrator before it"
            )


def _suites(pins: Pins) -> Iterator[str]:
    """A repository that has a suite for each release needs a base that says which it is."""
    for component in pins.components.values():
        for place, source in component.sources.items():
            repository = pins.repositories.get(source.repository or "")
            if repository is None or repository.suite is None or "{" not in repository.suite:
                continue
            for base in pins.bases.values():
                if place in (base.name, family_of(base.name)) and base.suite is None:
                    yield (
                        f"base {base.name}: suite is missing, and repository {source.repository} "
                        f"of component {component.name} has one for each release"
                    )


def _repositories(pins: Pins) -> Iterator[str]:
    """Each is written once, and somebody takes something from it."""
    used = {
        source.repository
        for component in pins.components.values()
        for source in component.sources.values()
    }
    places: dict[tuple[str, str | None, str | None], str] = {}
    for name, repository in pins.repositories.items():
        place = (repository.url, repository.suite, repository.section)
        if place in places:
            yield f"repository {name}: is {places[place]} once more; let sources name that one"
        places[place] = name
        if name not in used:
            yield f"repository {name}: no component comes from it; remove it"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())
