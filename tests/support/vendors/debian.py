"""Stub packages in Debian's format, and apt repositories of them."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from vendors.keys import KeyRing
from vendors.package import Package


def build_deb(package: Package, pool: Path) -> Path:
    """Build one package into a folder; returns its file."""
    # apt downloads by the path in the index, so the epoch may be left out, as archives do.
    stem = f"{package.name}_{package.version.partition(':')[2] or package.version}_amd64"
    tree = pool / f".{stem}"
    contents = package.contents
    contents.unpack(tree)
    control = tree / "DEBIAN"
    control.mkdir(parents=True)
    fields = {
        "Package": package.name,
        "Version": package.version,
        "Architecture": "amd64",
        "Maintainer": "Stub Vendors <stubs@example.invalid>",
        "Depends": ", ".join(contents.requires),
        "Provides": ", ".join(contents.provides),
        "Description": f"stub of {package.name}",
    }
    lines = [f"{name}: {value}\n" for name, value in fields.items() if value]
    (control / "control").write_text("".join(lines))
    for script, text in (
        ("postinst", contents.after_install),
        ("prerm", contents.before_removal),
    ):
        if text:
            (control / script).write_text(f"#!/bin/sh\nset -e\n{text}\n")
            (control / script).chmod(0o755)
    target = pool / f"{stem}.deb"
    _run("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, target, cwd=pool)
    shutil.rmtree(tree)
    return target


def make_apt_repository(
    folder: Path,
    *,
    suites: Iterable[str],
    sections: Sequence[str],
    packages: Iterable[Package],
    keys: KeyRing,
    owner: str,
) -> None:
    """Write a signed repository; every suite offers all packages, in its first section.

    A suite that ends in a slash is a flat repository, as apt understands it.
    """
    suites = list(suites)
    # Several repositories may share an address, each with suites of its own.
    pool = folder / "pool" / suites[0].strip("/")
    pool.mkdir(parents=True)
    for package in packages:
        build_deb(package, pool)
    index = _run("dpkg-scanpackages", "--multiversion", pool.relative_to(folder), cwd=folder)
    for suite in suites:
        flat = suite.endswith("/")
        top = folder / suite.strip("/") if flat else folder / "dists" / suite
        places = [top] if flat else [top / section / "binary-amd64" for section in sections]
        for position, place in enumerate(places):
            place.mkdir(parents=True, exist_ok=True)
            (place / "Packages").write_bytes(b"" if position else index)
        release = {
            "Suite": suite.strip("/") or "stable",
            "Codename": suite.strip("/") or "stable",
            "Components": " ".join(sections),
            "Architectures": "amd64",
        }
        options = [
            part
            for name in release
            for part in ("-o", f"APT::FTPArchive::Release::{name}={release[name]}")
        ]
        text = _run("apt-ftparchive", *options, "release", ".", cwd=top)
        (top / "Release").write_bytes(text)
        (top / "InRelease").write_bytes(keys.clear(owner, text))
        (top / "Release.gpg").write_bytes(keys.detached(owner, text, armored=True))


def _run(*command: str | Path, cwd: Path) -> bytes:
    environment = os.environ | {"LC_ALL": "C"}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, f"{command[0]}: {done.stderr.decode()}"
    return done.stdout
