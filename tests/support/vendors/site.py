"""Everything the vendors' hosts offer, generated from pins.json."""

import hashlib
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from vendors.archives import write_archive, write_package
from vendors.contents import archive_files, package_contents, packaged_archive
from vendors.debian import make_apt_repository
from vendors.distribution import tools
from vendors.keys import STRANGER, KeyRing
from vendors.package import Package
from vendors.pins import Archive, Pins, Repository
from vendors.redhat import make_dnf_repository

# Whose keys sign the distributions.
UBUNTU = "ubuntu"
AMAZON_LINUX = "amazon-linux-2023"


def owner_of(key: str) -> str:
    """Whose key is at a URL, or in a file of the template: a name without the scheme."""
    return key.partition("://")[2] or key


def place_of(url: str) -> str:
    """Where a URL's answer lies below the folder that is served."""
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path}" + (f"?{parts.query}" if parts.query else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The folder to serve, and what it was made with.

    Attributes:
        folder: the root, with one folder for each host.
        pins: what was asked for.
        keys: who signed it.
        region: the AWS Region whose mirror of Amazon Linux it has.
    """

    folder: Path
    pins: Pins
    keys: KeyRing
    region: str
    checksums: dict[str, str] = field(default_factory=dict)

    def build(self) -> None:
        """Generate everything; the parts are independent of each other."""
        keys = [part.key for part in self.pins.repositories]
        keys += [part.key for part in self.pins.archives if part.key]
        # All at once: gpg finds no key while it writes down another.
        for owner in (UBUNTU, AMAZON_LINUX, STRANGER, *map(owner_of, keys)):
            self.keys.fingerprint(owner)
        with ThreadPoolExecutor(max_workers=2) as pool:
            parts = [pool.submit(self.write_repository, part) for part in self.pins.repositories]
            parts += [pool.submit(self.write_archive, part) for part in self.pins.archives]
            parts += [pool.submit(self._write_ubuntu), pool.submit(self._write_amazon_linux)]
            for part in parts:
                part.result()

    @property
    def hosts(self) -> set[str]:
        """Every host that must lead here."""
        return {path.name for path in self.folder.iterdir()}

    def write_repository(
        self,
        repository: Repository,
        *,
        into: Path | None = None,
        versions: Mapping[str, str] | None = None,
        signer: str | None = None,
    ) -> None:
        """Write a repository and its key.

        Args:
            repository: which.
            into: the root to write below, by default the folder that is served.
            versions: the packages to offer instead of the pinned ones.
            signer: who signs instead of the vendor.
        """
        root = into or self.folder
        owner = owner_of(repository.key)
        packages = [
            Package(name=name, version=version, contents=package_contents(name, version))
            for name, version in (versions or repository.packages).items()
        ]
        target = root / place_of(repository.url)
        target.mkdir(parents=True, exist_ok=True)
        if repository.kind == "apt":
            make_apt_repository(
                target,
                suites=[repository.suite],
                sections=[repository.section],
                packages=packages,
                keys=self.keys,
                owner=signer or owner,
            )
        else:
            self._write_dnf(target, packages, signer or owner)
        self.write_key(repository.key, owner, into=root)

    def write_archive(self, archive: Archive) -> None:
        """Write an archive, its signature and the key of that."""
        target = self.folder / place_of(archive.url)
        if target.name.endswith((".deb", ".rpm")):
            write_package(target, packaged_archive(archive.component, archive.version))
        else:
            write_archive(target, archive_files(archive.component, archive.version))
        content = target.read_bytes()
        self.checksums[archive.url] = hashlib.sha256(content).hexdigest()
        if archive.signature and archive.key:
            owner = owner_of(archive.key)
            self.write_signature(archive, content, owner)
            if archive.key.startswith("https://"):
                self.write_key(archive.key, owner)

    def write_signature(
        self, archive: Archive, content: bytes, owner: str, *, into: Path | None = None
    ) -> None:
        """Write the signature of an archive, whoever made it and of whatever."""
        assert archive.signature is not None
        target = (into or self.folder) / place_of(archive.signature)
        target.parent.mkdir(parents=True, exist_ok=True)
        armored = target.suffix == ".asc"
        target.write_bytes(self.keys.detached(owner, content, armored=armored))

    def write_key(self, url: str, owner: str, *, into: Path | None = None) -> None:
        """Write an owner's key to where a vendor publishes one."""
        target = (into or self.folder) / place_of(url)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self.keys.public(owner))

    def _write_dnf(self, target: Path, packages: list[Package], owner: str) -> None:
        with tempfile.TemporaryDirectory() as work:
            make_dnf_repository(
                target, packages=packages, keys=self.keys, owner=owner, work=Path(work)
            )

    def _write_ubuntu(self) -> None:
        """Ubuntu's snapshots of the pinned days, and the archive as it is now: they are alike.

        Of a release that several bases are of, each has the packages of all.
        """
        bases: dict[tuple[str, str], list[str]] = {}
        for base, facts in self.pins.document["bases"].items():
            if "suite" in facts:
                bases.setdefault((facts["release"], facts["suite"]), []).append(base)
        for (release, suite), alike in bases.items():
            snapshot = self.folder / "snapshot.ubuntu.com" / "ubuntu" / release
            suites = [suite + pocket for pocket in ("", "-updates", "-security")]
            make_apt_repository(
                snapshot,
                suites=suites,
                sections=["main", "universe"],
                packages=self._of_distribution(*alike),
                keys=self.keys,
                owner=UBUNTU,
            )
            for host in ("archive.ubuntu.com", "security.ubuntu.com"):
                for part in (f"pool/{suites[0]}", *(f"dists/{suite}" for suite in suites)):
                    link = self.folder / host / "ubuntu" / part
                    link.parent.mkdir(parents=True, exist_ok=True)
                    link.symlink_to(snapshot / part)

    def _write_amazon_linux(self) -> None:
        """Amazon Linux's repository of the pinned release, behind its list of mirrors."""
        facts = self.pins.base(AMAZON_LINUX)
        host = f"al2023-repos-{self.region}-de612dc2.s3.dualstack.{self.region}.amazonaws.com"
        target = self.folder / host / "core"
        self._write_dnf(target / "packages", self._of_distribution(AMAZON_LINUX), AMAZON_LINUX)
        mirrors = target / "mirrors" / facts["release"] / "x86_64"
        mirrors.mkdir(parents=True)
        (mirrors / "mirror.list").write_text(f"https://{host}/core/packages/\n")

    def _of_distribution(self, *bases: str) -> list[Package]:
        pinned: dict[str, str] = {}
        for base in bases:
            pinned |= self.pins.of_the_distribution(base)
        return tools() + [
            Package(name=name, version=version, contents=package_contents(name, version))
            for name, version in pinned.items()
        ]
