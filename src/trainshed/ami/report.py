"""The software report of an AMI: a bill of materials, and a page for people."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trainshed.ami.software import Distribution, Package, bill_of_materials, read_packages
from trainshed.errors import TrainshedError
from trainshed.files import LARGEST_MADE, MissingFile, read_text

SELFTEST, PACKAGES = "selftest.json", "packages.txt"
BILL_OF_MATERIALS, SUMMARY = "sbom.cdx.json", "report.md"

_NAMED = ("accelerator", "orchestrator", "base")
_FACTS = ("base", "distribution", "kernel", "architecture", "disk", "boot", "commit", "build")
_COLUMNS = ("name", "version", "state", "detail")


def write_report(directory: Path) -> tuple[Path, Path]:
    """Write sbom.cdx.json (CycloneDX) and report.md beside what a bake downloaded.

    Args:
        directory: has selftest.json and packages.txt.

    Returns:
        The two files.

    Raises:
        TrainshedError: one of them is missing or cannot be understood, or distro2sbom failed.
    """
    selftest = _selftest(directory / SELFTEST)
    ami = selftest["ami"]
    distribution = Distribution.of_base(ami["base"])
    packages = read_packages(_read(directory / PACKAGES), distribution)
    name = f"trainshed-{ami['accelerator']}-{ami['orchestrator']}"
    document = bill_of_materials(packages, distribution, name)
    bill, summary = directory / BILL_OF_MATERIALS, directory / SUMMARY
    bill.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    summary.write_text("\n".join(_summary(selftest, packages)) + "\n", encoding="utf-8")
    return bill, summary


def _read(path: Path) -> str:
    try:
        return read_text(path, LARGEST_MADE)
    except MissingFile:
        raise TrainshedError(f"{path} is missing; a bake downloads it, so bake again") from None


def _selftest(path: Path) -> dict[str, Any]:
    written = _read(path)
    try:
        selftest = json.loads(written)
        ami = {**selftest["ami"], **{key: str(selftest["ami"][key]) for key in _NAMED}}
        results = [{key: str(each[key]) for key in _COLUMNS} for each in selftest["components"]]
    except (ValueError, KeyError, TypeError) as error:
        raise TrainshedError(f"{path} is not what a self-test writes ({error!r})") from None
    return {"ami": ami, "components": results}


def _summary(selftest: Mapping[str, Any], packages: tuple[Package, ...]) -> Iterator[str]:
    ami, results = selftest["ami"], selftest["components"]
    yield f"# AMI for {ami['accelerator']} on {ami['orchestrator']}"
    yield ""
    rows = [(key, ami[key]) for key in _FACTS if ami.get(key)]
    if ami["accelerator"] == "nvidia":
        rows.append(("driver", ami.get("nvidia_driver", "")))
    yield from _table(("what", "value"), [*rows, ("packages", len(packages))])
    yield ""
    yield from ("## Self-test at the end of the bake", "")
    yield from _table(_COLUMNS, [[each[key] for key in _COLUMNS] for each in results])
    yield ""
    unchecked = [each for each in results if each["state"] == "unchecked"]
    if unchecked:
        yield from ("## Not checked on the build instance", "")
        yield from (f"- {each['name']}: {each['detail']}" for each in unchecked)
        yield ""
    yield (
        f"All packages: [{PACKAGES}]({PACKAGES}); as CycloneDX: "
        f"[{BILL_OF_MATERIALS}]({BILL_OF_MATERIALS}). What is installed without a package manager "
        "is in the table above, and not in the bill of materials."
    )


def _table(head: tuple[str, ...], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(_column(value) for value in row)} |"


def _column(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ") or "-"
