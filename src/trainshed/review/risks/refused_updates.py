"""Updates of one resource that AWS, or a guard of trainshed, refuses."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from trainshed.catalogue.lustre import included_metadata_iops
from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.resource_types import keeps_its_name
from trainshed.review.risks.affected import Affected, at, whole_number

_FILES, _LINK = "AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation"
_METADATA = "LustreConfiguration.MetadataConfiguration"
_VERSION = re.compile(r"\d+(\.\d+)*")


def refused_updates(affected: Affected) -> Iterator[Risk]:
    """Yield the updates that are refused, so that the stack stays as it is."""
    change = affected.change
    if not affected.old or not affected.new:
        return
    if change.effect is Effect.CHANGED:
        yield from _shrinks(affected)
        if change.resource_type == _FILES:
            yield from _fewer_metadata_iops(affected)
    elif change.effect is Effect.REPLACED:
        if change.resource_type == _LINK:
            yield from _same_folder(affected)
        elif keeps_its_name(affected.old, affected.new, affected.region):
            yield _refusal(
                affected,
                f"CloudFormation refuses to replace what has a name of its own (because of "
                f"{affected.forcing}): the new one cannot have the name of the old one",
                "give it another name, or let AWS choose one",
            )


def _shrinks(affected: Affected) -> Iterator[Risk]:
    for entry in _only_grow():
        path = entry["property"]
        if entry["type"] != affected.change.resource_type or any(
            at(affected.new, name) == value for name, value in entry.get("unless", {}).items()
        ):
            continue
        before, after = at(affected.old, path), at(affected.new, path)
        if _is_less(after, before):
            yield _refusal(
                affected,
                f"{entry['because']}: {path.rpartition('.')[2]} goes from {before} to {after}",
                "leave it as it is; for a smaller one, make another beside it, and move what is "
                "needed",
            )


def _is_less(after: Any, before: Any) -> bool:
    """Return whether a size or version is less than it was, as far as both go: `16` and `16.4`."""
    numbers = [_numbers(side) for side in (after, before)]
    known = min(map(len, numbers))
    return numbers[0][:known] < numbers[1][:known]


def _numbers(value: Any) -> tuple[int, ...]:
    """Return the numbers of a size or version; none of what is neither, such as a reference."""
    found = _VERSION.match(str(value)) if isinstance(value, str | int) else None
    return tuple(map(int, found[0].split("."))) if found else ()


def _fewer_metadata_iops(affected: Affected) -> Iterator[Risk]:
    """Yield fewer metadata IOPS of a Lustre file system.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/switch-provisioning-mode.html
    """
    before, after = (_metadata_iops(side) for side in (affected.old, affected.new))
    if before and after and after < before:
        yield _refusal(
            affected,
            f"FSx cannot take metadata IOPS away: they go from {before} to {after}",
            "leave them as they are (storage.lustre.metadata_iops)",
        )


def _metadata_iops(file_system: Mapping[str, Any]) -> int | None:
    if at(file_system, f"{_METADATA}.Mode") != "AUTOMATIC":
        return whole_number(at(file_system, f"{_METADATA}.Iops"))
    capacity = whole_number(at(file_system, "StorageCapacity"))
    return included_metadata_iops(capacity) if capacity else None


def _same_folder(affected: Affected) -> Iterator[Risk]:
    """Yield a link that is replaced: the new one comes while the old one has the folder.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    """
    if all(
        at(affected.old, name) == at(affected.new, name)
        for name in ("FileSystemId", "FileSystemPath")
    ):
        yield _refusal(
            affected,
            "FSx takes one link for each folder, and the new one (because of "
            f"{affected.forcing}) is made before the old one is removed",
            "deploy once without the link, then with the new one",
        )


def _refusal(affected: Affected, message: str, remedy: str) -> Risk:
    return affected.risk(RiskKind.DEPLOYMENT_FAILS, Level.MEDIUM, message, remedy)


@cache
def _only_grow() -> tuple[Mapping[str, Any], ...]:
    text = files(__package__).joinpath("refused_updates.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["only_grows"])
