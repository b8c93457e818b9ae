"""Building an image: a context of what its Dockerfile needs, and the arguments it declares."""

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from trainshed.containers.engine import ContainerEngine
from trainshed.containers.pins import ContainerPins, read_container
from trainshed.errors import TrainshedError, UnknownName
from trainshed.files import read_text
from trainshed.pins.recipe import recipe_text

_ARGUMENT = re.compile(r"^ARG +([A-Z_]+)", re.MULTILINE)
# Of what is in an AMI: how pins are read, and what jobs start. Tests and caches stay behind.
_PROGRAMS = ("pin", "trainshed-launch", "lib")


def build_arguments(
    dockerfile: str, pins: ContainerPins, given: Mapping[str, str]
) -> dict[str, str]:
    """Return the value of every argument that a Dockerfile declares, by name.

    Args:
        dockerfile: its text.
        pins: where values come from.
        given: values instead of these.

    Raises:
        UnknownName: an argument was given that the Dockerfile does not declare.
        TrainshedError: the Dockerfile declares one that the pins have no value for.
    """
    known = {"BASE": pins.reference, "TRAINSHED_BASE": pins.recipe.base}
    for component, pin in pins.recipe.components.items():
        known[_argument(component, "VERSION")] = pin.version
    for component, versions in pins.drivers.items():
        known[_argument(component, "DRIVER")] = versions
    names = tuple(dict.fromkeys(_ARGUMENT.findall(dockerfile)))
    for name in given:
        if name not in names:
            raise UnknownName("build argument", name, names)
    for name in names:
        if name not in known:
            raise TrainshedError(
                f"packer/pins.json has nothing for {name} of the image {pins.name}"
            )
    return {name: given.get(name, known[name]) for name in names}


def build(
    engine: ContainerEngine,
    name: str,
    *,
    packer: Path,
    containers: Path,
    image: str,
    architecture: str,
    given: Mapping[str, str],
) -> dict[str, str]:
    """Build an image with an engine, whose output goes to standard error.

    Args:
        engine: what builds.
        name: `habana`, `neuron`, `nvidia` or `cpu`.
        packer: folder of the Packer template, which has the pins and the programs that read them.
        containers: folder of the container sources.
        image: name and tag of the result.
        architecture: of the nodes, `x86_64` or `arm64`.
        given: build arguments instead of the pins.

    Returns:
        The arguments that it was built with.

    Raises:
        Failure: the build failed.
        TrainshedError: a source or an argument is wrong.
    """
    pins = read_container(packer / "pins.json", name)
    dockerfile = containers / name / "Dockerfile"
    arguments = build_arguments(read_text(dockerfile), pins, given)
    components = pins.recipe.components
    taken = [name for name in components if _argument(name, "VERSION") in arguments]
    with build_context(packer, containers, pins, taken) as context:
        engine.build(context, image=image, architecture=architecture, arguments=arguments)
    return arguments


@contextmanager
def build_context(
    packer: Path, containers: Path, pins: ContainerPins, components: Iterable[str]
) -> Iterator[Path]:
    """Gather, in a temporary folder, what the Dockerfile may copy, and nothing else.

    Of the pins too: one that the image does not take must not rebuild its layers.
    """
    programs = packer / "files" / "opt" / "trainshed"
    with TemporaryDirectory(prefix="trainshed-image-") as folder:
        context = Path(folder)
        home = context / "trainshed"
        home.mkdir()
        shutil.copy(containers / pins.name / "Dockerfile", context)
        for name in _PROGRAMS:
            _copy(programs / name, home / name)
        _copy_all((packer / "scripts" / "lib").glob("*.sh"), home / "lib")
        shared = containers / "shared"
        _copy_all(shared.glob("*.sh"), home / "lib")
        _copy_all((shared / "install", shared / "entrypoint"), home)
        taken = {name: pins.recipe.components[name] for name in components}
        recipe = pins.recipe.model_copy(update={"components": taken})
        (home / "recipe.json").write_text(recipe_text(recipe))
        yield context


def parse_arguments(pairs: Iterable[str]) -> dict[str, str]:
    """Read `NAME=VALUE` pairs.

    Raises:
        TrainshedError: a pair is not `NAME=VALUE`.
    """
    parsed = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise TrainshedError(f"build argument {pair!r} is not NAME=VALUE")
        parsed[name] = value
    return parsed


def _argument(component: str, what: str) -> str:
    return f"{component.upper().replace('-', '_')}_{what}"


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def _copy_all(sources: Iterable[Path], folder: Path) -> None:
    for source in sources:
        shutil.copy(source, folder)
