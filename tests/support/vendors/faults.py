"""What can be wrong with a vendor's files: each fault is written over the good ones."""

import shutil
from enum import StrEnum
from pathlib import Path

from vendors.keys import STRANGER
from vendors.pins import Archive, Repository
from vendors.site import Site, owner_of, place_of


class Fault(StrEnum):
    """One way in which a component cannot be trusted or had."""

    WRONG_BYTES = "wrong-bytes"
    BAD_SIGNATURE = "bad-signature"
    UNKNOWN_KEY = "unknown-key"
    UNKNOWN_SIGNER = "unknown-signer"
    NOT_FOUND = "not-found"
    MISSING_VERSION = "missing-version"


_OF_SIGNATURES = {Fault.BAD_SIGNATURE, Fault.UNKNOWN_KEY, Fault.UNKNOWN_SIGNER}


def write_fault(site: Site, component: str, fault: Fault, into: Path) -> set[str]:
    """Write the files that make a component faulty; returns what is gone besides.

    Args:
        site: the good ones.
        component: whose source is to be faulty; with a repository that is everybody's who uses it.
        fault: what is wrong.
        into: the root to write below.
    """
    archives = [archive for archive in site.pins.archives if archive.component == component]
    for archive in archives:
        _archive(site, archive, fault, into)
    repositories = [place for place in site.pins.repositories if component in place.components]
    for repository in repositories:
        _repository(site, repository, fault, into)
    assert archives or repositories, f"{component} is neither an archive nor in a repository"
    if fault is Fault.MISSING_VERSION:
        # The version is in an archive's name; a repository has other ones instead.
        return {place_of(archive.url) for archive in archives}
    if fault is not Fault.NOT_FOUND:
        return set()
    urls = [archive.url for archive in archives] + [place.url for place in repositories]
    # The key stays where it is, even within the repository: what is missing are the files.
    return {place_of(url).rstrip("/") + tail for url in urls for tail in _tails(url, archives)}


def _tails(url: str, archives: list[Archive]) -> list[str]:
    if any(archive.url == url for archive in archives):
        return [""]
    return ["/dists/", "/pool/", "/InRelease", "/Release", "/Packages", "/repodata/"]


def _archive(site: Site, archive: Archive, fault: Fault, into: Path) -> None:
    place = place_of(archive.url)
    content = (site.folder / place).read_bytes()
    if fault is Fault.WRONG_BYTES:
        target = into / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content + b"\n")
    if archive.key is None:
        assert fault not in _OF_SIGNATURES, f"{archive.component} is not signed"
        return
    owner = owner_of(archive.key)
    if fault is Fault.BAD_SIGNATURE:
        site.write_signature(archive, content + b"something else", owner, into=into)
    elif fault in {Fault.UNKNOWN_KEY, Fault.UNKNOWN_SIGNER}:
        site.write_signature(archive, content, STRANGER, into=into)
        if fault is Fault.UNKNOWN_KEY:
            site.write_key(archive.key, STRANGER, into=into)


def _repository(site: Site, repository: Repository, fault: Fault, into: Path) -> None:
    place = place_of(repository.url)
    if fault is Fault.MISSING_VERSION:
        offered = dict.fromkeys(repository.packages, "0.0.1-1")
        site.write_repository(repository, into=into, versions=offered)
    elif fault in {Fault.UNKNOWN_KEY, Fault.UNKNOWN_SIGNER}:
        site.write_repository(repository, into=into, signer=STRANGER)
        if fault is Fault.UNKNOWN_KEY:
            site.write_key(repository.key, STRANGER, into=into)
    elif fault is Fault.WRONG_BYTES:
        for package in _packages(site.folder / place):
            target = into / package.relative_to(site.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            content = bytearray(package.read_bytes())
            content[-1] ^= 0xFF
            target.write_bytes(content)
    elif fault is Fault.BAD_SIGNATURE:
        for index in _indexes(site.folder / place):
            target = into / index.relative_to(site.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(index, target)
            # Something that changes what was signed, and not what it means.
            text = target.read_bytes()
            changed = text.replace(b"Date: ", b"Date:  ", 1).replace(b"</repomd>", b"</repomd >", 1)
            assert changed != text
            target.write_bytes(changed)


def _packages(folder: Path) -> list[Path]:
    return [path for kind in ("deb", "rpm") for path in folder.rglob(f"*.{kind}")]


def _indexes(folder: Path) -> list[Path]:
    return [path for name in ("InRelease", "Release", "repomd.xml") for path in folder.rglob(name)]
