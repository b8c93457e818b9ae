"""Stub packages in RPM's format, and dnf repositories of them."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from vendors.keys import KeyRing
from vendors.package import Package

_HEAD = """\
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global _binary_payload w1.gzdio
Name: stub-vendors
Version: 1
Release: 1
Summary: stubs
License: none
AutoReqProv: no
%description
Stubs.
%install
cp -a %{_topdir}/tree/. %{buildroot}
"""


def build_rpms(packages: Iterable[Package], folder: Path, work: Path) -> list[Path]:
    """Build packages into a folder; returns their files."""
    batches = _without_conflicts(packages)
    return [
        rpm
        for position, batch in enumerate(batches)
        for rpm in _build(batch, folder, work / str(position))
    ]


def _without_conflicts(packages: Iterable[Package]) -> list[list[Package]]:
    """The packages in as few parts as it takes for no two of a part to own one path."""
    batches: list[tuple[set[str], list[Package]]] = []
    for package in packages:
        paths = set(package.contents.paths)
        for owned, batch in batches:
            if owned.isdisjoint(paths):
                owned |= paths
                batch.append(package)
                break
        else:
            batches.append((paths, [package]))
    return [batch for _, batch in batches]


def _build(packages: list[Package], folder: Path, work: Path) -> list[Path]:
    """Build packages of which no two own one path.

    All come from one spec file, because rpmbuild takes its time whatever it builds.
    """
    tree = work / "tree"
    tree.mkdir(parents=True)
    spec = [_HEAD]
    for package in packages:
        package.contents.unpack(tree)
        spec.append(_section(package))
    (work / "stubs.spec").write_text("\n".join(spec))
    macros = {"_topdir": work, "_rpmdir": work / "rpms"}
    defines = [part for name in macros for part in ("--define", f"{name} {macros[name]}")]
    done = subprocess.run(
        ["rpmbuild", *defines, "-bb", "--quiet", "--target", "x86_64", work / "stubs.spec"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    folder.mkdir(parents=True, exist_ok=True)
    return [
        Path(shutil.move(rpm, folder / rpm.name)) for rpm in sorted((work / "rpms").glob("*/*.rpm"))
    ]


def make_dnf_repository(
    folder: Path,
    *,
    packages: Iterable[Package],
    keys: KeyRing,
    owner: str,
    work: Path,
) -> None:
    """Write a repository whose packages and index are signed."""
    rpms = build_rpms(packages, folder / "Packages", work)
    keys.sign_rpms(owner, rpms)
    subprocess.run(
        ["createrepo_c", "--quiet", "--no-database", "--general-compress-type", "gz", folder],
        check=True,
        capture_output=True,
    )
    index = folder / "repodata" / "repomd.xml"
    (folder / "repodata" / "repomd.xml.asc").write_bytes(
        keys.detached(owner, index.read_bytes(), armored=True)
    )


def _section(package: Package) -> str:
    """The part of the spec file that makes one package."""
    epoch, _, rest = package.version.rpartition(":")
    version, _, release = rest.partition("-")
    contents = package.contents
    name = package.name
    lines = [
        f"%package -n {name}",
        f"Version: {version}",
        f"Release: {release or '1'}",
        f"Summary: stub of {name}",
        "AutoReqProv: no",
    ]
    if epoch:
        lines.append(f"Epoch: {epoch}")
    lines += [f"Requires: {required}" for required in contents.requires]
    lines += [f"Provides: {provided}" for provided in contents.provides]
    lines += [f"%description -n {name}", "Stub."]
    for when, text in (("post", contents.after_install), ("preun", contents.before_removal)):
        if text:
            lines += [f"%{when} -n {name}", text]
    lines.append(f"%files -n {name}")
    lines += [f"%dir {path}" for path in contents.folders]
    lines += [f'"{path}"' for path in (*contents.files, *contents.links)]
    return "\n".join(lines) + "\n"
