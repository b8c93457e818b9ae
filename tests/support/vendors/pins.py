"""What pins.json asks of the vendors: archives, and repositories with their packages."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """One file to download, verified by its checksum, its signature, or both."""

    component: str
    version: str
    url: str
    signature: str | None
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One apt or dnf repository, with what all components want from it.

    Attributes:
        components: who pins packages of it.
        kind: apt or dnf.
        url: where it is.
        suite: apt's suite, "" with dnf.
        section: apt's section, "" with dnf.
        key: URL of the key that signs it.
        packages: name to exact version.
    """

    components: list[str] = field(default_factory=list)
    kind: str
    url: str
    suite: str
    section: str
    key: str
    packages: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """pins.json, as far as vendors are concerned.

    Attributes:
        document: the whole of it.
    """

    document: dict[str, Any]

    @classmethod
    def read(cls, packer: Path) -> "Pins":
        """The pins of a template's folder."""
        return cls(document=json.loads((packer / "pins.json").read_text()))

    def sources(self) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """Component, its version, base (or any) and source with its repository, for each source."""
        for name, component in self.document["components"].items():
            for base, own in component["sources"].items():
                repository = {}
                if "repository" in own:
                    repository = self.document["repositories"][own["repository"]]
                source = repository | own
                if "suite" in source:
                    suite = self.document["bases"].get(base, {}).get("suite", "")
                    source["suite"] = source["suite"].replace("{suite}", suite)
                yield name, own.get("version", component["version"]), base, source

    @property
    def archives(self) -> list[Archive]:
        """Every file to serve, once."""
        found = {}
        for name, version, _, source in self.sources():
            if source["kind"] == "archive":
                url = expand(source["url"], version)
                found[url] = Archive(
                    component=name,
                    version=version,
                    url=url,
                    signature=expand(source.get("signature") or "", version) or None,
                    key=source.get("key"),
                )
        return list(found.values())

    @property
    def repositories(self) -> list[Repository]:
        """Every repository to serve, with the packages of all components that share it."""
        found: dict[tuple[str, ...], Repository] = {}
        for name, _, _, source in self.sources():
            if source["kind"] not in {"apt", "dnf"}:
                continue
            place = (source["url"], source.get("suite", ""), source.get("section", ""))
            repository = found.setdefault(
                place,
                Repository(
                    kind=source["kind"],
                    url=place[0],
                    suite=place[1],
                    section=place[2],
                    key=source["key"],
                ),
            )
            repository.components.append(name)
            repository.packages.update(source["packages"])
        return list(found.values())

    def of_the_distribution(self, base: str) -> dict[str, str]:
        """The packages pinned from the distribution itself, name to exact version."""
        found: dict[str, str] = {}
        for _, _, where, source in self.sources():
            if source["kind"] == "distribution" and where in {base, "any"}:
                found.update(source["packages"])
        return found

    def base(self, name: str) -> dict[str, Any]:
        """The facts of a base."""
        facts: dict[str, Any] = self.document["bases"][name]
        return facts

    @property
    def hosts(self) -> set[str]:
        """The hosts of all URLs."""
        urls = [url for archive in self.archives for url in (archive.url, archive.signature)]
        urls += [archive.key for archive in self.archives]
        urls += [url for place in self.repositories for url in (place.url, place.key)]
        return {host for url in urls if url and (host := urlsplit(url).hostname)}


def expand(text: str, version: str) -> str:
    """A URL of pins.json with the version in it."""
    return text.replace("{version}", version)
