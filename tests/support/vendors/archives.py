"""Stub archives, in the format that the file's name has."""

import io
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from vendors.debian import build_deb
from vendors.package import File, Package
from vendors.redhat import build_rpms


def write_archive(target: Path, files: Mapping[str, File]) -> None:
    """Write relative paths and their files as a tarball, a zip file, or the one file itself."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.name.endswith((".tar.gz", ".tgz")):
        with tarfile.open(target, "w:gz", compresslevel=1) as tar:
            for name, file in files.items():
                content = file.text.encode()
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(content), file.mode
                tar.addfile(entry, io.BytesIO(content))
    elif target.name.endswith(".zip"):
        with zipfile.ZipFile(target, "w") as archive:
            for name, file in files.items():
                member = zipfile.ZipInfo(name)
                member.external_attr = (0o100000 | file.mode) << 16
                archive.writestr(member, file.text)
    else:
        (file,) = files.values()
        target.write_text(file.text)


def write_package(target: Path, package: Package) -> None:
    """Write a package that is downloaded by itself, a deb or an rpm."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.name.endswith(".deb"):
        build_deb(package, target.parent).rename(target)
        return
    with tempfile.TemporaryDirectory() as work:
        (built,) = build_rpms([package], target.parent, Path(work))
    built.rename(target)
