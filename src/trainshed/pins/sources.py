"""Where a component comes from: read, and refused when something unsigned could come from it."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from trainshed.errors import did_you_mean
from trainshed.pins.fields import Fields
from trainshed.pins.forms import FINGERPRINT, KEY, SHA256, URL, VERSION
from trainshed.pins.model import Repository, Source, SourceKind

_SURE = ("documented", "inferred", "unverified")
_OF_REPOSITORIES = (SourceKind.APT, SourceKind.DNF)


def read_repository(fields: Fields) -> Repository:
    """Read a vendor's package repository.

    Raises:
        PinError: a field is missing or cannot be.
    """
    kind = SourceKind(fields.text("kind", "|".join(_OF_REPOSITORIES), "apt or dnf"))
    repository = Repository(
        kind=kind,
        url=fields.text("url", *URL),
        suite=fields.text("suite", r"\S+", "a suite") if kind is SourceKind.APT else None,
        section=fields.optional("section", r"\S+", "a section") if kind is SourceKind.APT else None,
        key=fields.text("key", *KEY),
        fingerprint=fields.text("fingerprint", *FINGERPRINT),
        basis=read_basis(fields),
    )
    fields.end()
    return repository


def read_source(fields: Fields, version: str, repositories: Mapping[str, Repository]) -> Source:
    """Read where a component comes from on one base.

    Args:
        fields: of the source.
        version: the component's; a source may have another one.
        repositories: by name.

    Raises:
        PinError: something unsigned or unknown could come from it, or a field cannot be.
    """
    name = fields.optional("repository")
    version = fields.optional("version", *VERSION) or version
    if name is None:
        return _own(fields, version)
    if name not in repositories:
        hint = did_you_mean(name, tuple(repositories))
        raise fields.error(f"repository {name!r} is not in repositories{hint}")
    return _of_repository(fields, version, name, repositories[name])


def read_basis(fields: Fields) -> str:
    """Read where something was learned.

    Raises:
        PinError: it does not say how sure that is.
    """
    basis = fields.text("basis")
    if not any(word in basis for word in _SURE):
        raise fields.error(f"basis has to say how sure it is: {', '.join(_SURE)}")
    return basis


def _of_repository(fields: Fields, version: str, name: str, repository: Repository) -> Source:
    source = Source(
        kind=repository.kind,
        version=version,
        repository=name,
        url=repository.url,
        sha256=None,
        signature=None,
        key=repository.key,
        fingerprint=repository.fingerprint,
        packages=MappingProxyType(fields.texts("packages", *VERSION)),
    )
    fields.end()
    if not source.packages:
        raise fields.error("packages is missing; a source from a repository needs it")
    return source


def _own(fields: Fields, version: str) -> Source:
    kinds = [kind for kind in SourceKind if kind not in _OF_REPOSITORIES]
    kind = SourceKind(
        fields.text("kind", "|".join(kinds), f"one of {', '.join(kinds)}, unless it has repository")
    )

    def address(name: str, form: tuple[str, str]) -> str | None:
        url = fields.optional(name, *form)
        return None if url is None else url.replace("{version}", version)

    unexpanded = fields.optional("url", *URL)
    source = Source(
        kind=kind,
        version=version,
        repository=None,
        url=None if unexpanded is None else unexpanded.replace("{version}", version),
        sha256=fields.optional("sha256", *SHA256),
        signature=address("signature", URL),
        key=address("key", KEY),
        fingerprint=fields.optional("fingerprint", *FINGERPRINT),
        packages=MappingProxyType(fields.texts("packages", *VERSION)),
    )
    fields.end()
    _require_trust(fields, source)
    if kind is SourceKind.ARCHIVE and "{version}" not in (unexpanded or ""):
        raise fields.error("url needs {version} in it, or it stays behind when the pin is rotated")
    return source


def _require_trust(fields: Fields, source: Source) -> None:
    """Refuse a source that something unsigned or unknown could come from."""
    needed = "packages" if source.kind is SourceKind.DISTRIBUTION else "url"
    if not getattr(source, needed):
        raise fields.error(f"{needed} is missing; a source of kind {source.kind} needs it")
    allowed = {needed, "kind", "version"}
    if source.kind is SourceKind.ARCHIVE:
        signed = (source.signature, source.key, source.fingerprint)
        if any(signed) and not all(signed):
            raise fields.error("signature, key and fingerprint belong together; give all or none")
        if not source.sha256 and not all(signed):
            raise fields.error(
                "sha256 is missing, and so is a signature: nothing confirms the file"
            )
        allowed |= {"sha256", "signature", "key", "fingerprint"}
    elif source.kind is SourceKind.GIT and not re.fullmatch(r"[0-9a-f]{40}", source.version):
        raise fields.error("version of a git source has to be a commit: a branch or tag can move")
    for name in Source.__dataclass_fields__:
        if name not in allowed and getattr(source, name):
            raise fields.error(f"{name} means nothing to a source of kind {source.kind}")
