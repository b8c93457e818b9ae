"""One source of a component: read, and refused when something unsigned could come from it."""

import re
from types import MappingProxyType

from trainshed.ami.versions.fields import Fields
from trainshed.ami.versions.forms import FINGERPRINT, SHA256, URL, VERSION
from trainshed.ami.versions.model import Source, SourceKind


def read_source(fields: Fields, version: str) -> Source:
    """Read where a component comes from on one base.

    Args:
        fields: of the source.
        version: the component's; a source may have another one.

    Raises:
        PinError: something unsigned or unknown could come from it, or a field cannot be.
    """
    kind = SourceKind(fields.text("kind", "|".join(SourceKind), f"one of {', '.join(SourceKind)}"))
    version = fields.optional("version", *VERSION) or version

    def address(name: str) -> str | None:
        url = fields.optional(name, *URL)
        return None if url is None else url.replace("{version}", version)

    unexpanded = fields.optional("url", *URL)
    source = Source(
        kind=kind,
        version=version,
        url=None if unexpanded is None else unexpanded.replace("{version}", version),
        sha256=fields.optional("sha256", *SHA256),
        signature=address("signature"),
        key=address("key"),
        fingerprint=fields.optional("fingerprint", *FINGERPRINT),
        suite=fields.optional("suite", r"\S+", "a suite"),
        section=fields.optional("section", r"\S+", "a section"),
        packages=MappingProxyType(fields.texts("packages", *VERSION)),
    )
    fields.end()
    _require_trust(fields, source)
    if kind is SourceKind.ARCHIVE and "{version}" not in (unexpanded or ""):
        raise fields.error("url needs {version} in it, or it stays behind when the pin is rotated")
    return source


def _require_trust(fields: Fields, source: Source) -> None:
    """Refuse a source that something unsigned or unknown could come from."""
    needed = {
        SourceKind.ARCHIVE: ("url",),
        SourceKind.APT: ("url", "suite", "key", "fingerprint", "packages"),
        SourceKind.DNF: ("url", "key", "fingerprint", "packages"),
        SourceKind.DISTRIBUTION: ("packages",),
        SourceKind.GIT: ("url",),
    }[source.kind]
    for name in needed:
        if not getattr(source, name):
            raise fields.error(f"{name} is missing; a source of kind {source.kind} needs it")
    allowed = {*needed, "kind", "version"}
    if source.kind is SourceKind.ARCHIVE:
        signed = (source.signature, source.key, source.fingerprint)
        if any(signed) and not all(signed):
            raise fields.error("signature, key and fingerprint belong together; give all or none")
        if not source.sha256 and not all(signed):
            raise fields.error(
                "sha256 is missing, and so is a signature: nothing confirms the file"
            )
        allowed |= {"sha256", "signature", "key", "fingerprint"}
    elif source.kind is SourceKind.APT:
        allowed.add("section")
    elif source.kind is SourceKind.GIT and not re.fullmatch(r"[0-9a-f]{40}", source.version):
        raise fields.error("version of a git source has to be a commit: a branch or tag can move")
    for name in Source.__dataclass_fields__:
        if name not in allowed and getattr(source, name):
            raise fields.error(f"{name} means nothing to a source of kind {source.kind}")
