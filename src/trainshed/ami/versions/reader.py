"""Reading versions.json, and refusing what must not get into an image.

Nothing is installed as "latest", and nothing without a checksum or the fingerprint of the key that
signs it. That is checked here, before Packer or a script sees a pin.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from trainshed.ami.versions.agreement import require_agreement
from trainshed.ami.versions.fields import Fields, PinError
from trainshed.ami.versions.model import (
    ACCELERATORS,
    ANY,
    CONTAINER,
    CPU,
    ORCHESTRATORS,
    Base,
    Component,
    ContainerBase,
    Pins,
    Source,
    SourceAmi,
    SourceKind,
    Tool,
)

_SURE = ("documented", "inferred", "unverified")
# No space, no pattern, no word for "whatever there is".
_VERSION = r"(?!(?i:latest|stable|current|newest)$)[0-9A-Za-z][0-9A-Za-z.+:~_-]*"
_EXACT = "an exact version, without spaces and wildcards, and not latest"
_URL = r"https://(?!.*(?i:latest))(?:[^\s{}]|\{version\})+"
_SECURE = "an https address without spaces that does not lead to a latest version"
_FINGERPRINT, _FORTY = r"[0-9A-F]{40}", "40 upper-case hexadecimal digits without spaces"
_SHA256, _SIXTY_FOUR = r"[0-9a-f]{64}", "64 lower-case hexadecimal digits"


def read_pins(path: Path) -> Pins:
    """Read versions.json.

    Raises:
        PinError: it is not there, no JSON, or says what cannot be.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PinError(
            f"{path} cannot be read ({error.strerror}); it is packer/versions.json of the checkout"
        ) from error
    except ValueError as error:
        raise PinError(f"{path} is not JSON: {error}") from error
    try:
        return parse_pins(document)
    except PinError as error:
        raise PinError(f"{path}: {error}") from error


def parse_pins(document: Any) -> Pins:
    """Turn what JSON gave into pins.

    Raises:
        PinError: it says what cannot be; the message says which component and field.
    """
    top = Fields(document, "the pins")
    bases = {
        name: _base(name, Fields(entry, f"base {name}"))
        for name, entry in top.objects("bases", "a base by name").items()
    }
    containers = {
        name: _container(Fields(entry, f"container base {name}"))
        for name, entry in top.objects("containers", "a base image by accelerator").items()
    }
    known = (*bases, *(container.base for container in containers.values()), ANY)
    components = {
        name: _component(name, Fields(entry, f"component {name}"), known)
        for name, entry in top.objects("components", "a component by name").items()
    }
    tools = {
        name: _tool(Fields(entry, f"tool {name}"))
        for name, entry in top.objects("tools", "a tool by name").items()
    }
    top.end()
    pins = Pins(
        bases=MappingProxyType(bases),
        components=MappingProxyType(components),
        tools=MappingProxyType(tools),
        containers=MappingProxyType(containers),
    )
    require_agreement(pins)
    return pins


def _base(name: str, fields: Fields) -> Base:
    amis = fields.objects("source_amis", f"an AMI for each of {', '.join(ORCHESTRATORS)}")
    if set(amis) != set(ORCHESTRATORS):
        raise fields.error(f"source_amis has to name one for each of {', '.join(ORCHESTRATORS)}")
    base = Base(
        name=name,
        accelerators=fields.names("accelerators", ACCELERATORS),
        ssh_user=fields.text("ssh_user"),
        root_device=fields.text("root_device", r"/dev/\w+", "a device such as /dev/xvda"),
        release=fields.text("release", _VERSION, _EXACT),
        kernel=fields.text("kernel", _VERSION, _EXACT),
        source_amis=MappingProxyType(
            {key: _ami(Fields(amis[key], f"{fields.where}: AMI of {key}")) for key in ORCHESTRATORS}
        ),
        basis=_basis(fields),
    )
    fields.end()
    return base


def _ami(fields: Fields) -> SourceAmi:
    ami = SourceAmi(
        name=fields.text("name", r"[\w()\[\] ./'@-]{3,128}", "an AMI's exact name, no wildcard"),
        owner=fields.text("owner", r"\d{12}", "an account id of 12 digits"),
    )
    fields.end()
    return ami


def _component(name: str, fields: Fields, known: Sequence[str]) -> Component:
    version = fields.text("version", _VERSION, _EXACT)
    sources = fields.objects("sources", "where it comes from by base")
    for base in sources:
        if base not in known:
            raise fields.error(f"sources has {base!r}, which is none of: {', '.join(known)}")
    component = Component(
        name=name,
        accelerators=fields.names("accelerators", (*ACCELERATORS, CPU)),
        orchestrators=fields.names("orchestrators", (*ORCHESTRATORS, CONTAINER)),
        sources=MappingProxyType(
            {
                base: _source(Fields(entry, f"{fields.where} on {base}"), version)
                for base, entry in sources.items()
            }
        ),
        basis=_basis(fields),
    )
    fields.end()
    return component


def _source(fields: Fields, version: str) -> Source:
    kind = SourceKind(fields.text("kind", "|".join(SourceKind), f"one of {', '.join(SourceKind)}"))
    version = fields.optional("version", _VERSION, _EXACT) or version

    def address(name: str) -> str | None:
        url = fields.optional(name, _URL, _SECURE)
        return None if url is None else url.replace("{version}", version)

    unexpanded = fields.optional("url", _URL, _SECURE)
    source = Source(
        kind=kind,
        version=version,
        url=None if unexpanded is None else unexpanded.replace("{version}", version),
        sha256=fields.optional("sha256", _SHA256, _SIXTY_FOUR),
        signature=address("signature"),
        key=address("key"),
        fingerprint=fields.optional("fingerprint", _FINGERPRINT, _FORTY),
        suite=fields.optional("suite", r"\S+", "a suite"),
        section=fields.optional("section", r"\S+", "a section"),
        packages=MappingProxyType(_texts(fields, "packages", _VERSION, _EXACT)),
    )
    fields.end()
    _require_trust(fields, source)
    if kind is SourceKind.ARCHIVE and "{version}" not in (unexpanded or ""):
        raise fields.error("url needs {version} in it, or it stays behind when the pin is rotated")
    return source


def _texts(fields: Fields, name: str, pattern: str, what: str) -> dict[str, str]:
    value = fields.take(name)
    if value is None:
        return {}
    texts = Fields(value, f"{fields.where}: {name}")
    return {key: texts.text(key, pattern, what) for key in value}


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


def _container(fields: Fields) -> ContainerBase:
    container = ContainerBase(
        image=fields.text("image", r"[a-z0-9.-]+\.[a-z]+/\S+[^\s:@]", "a repository of a registry"),
        tag=fields.text("tag", _VERSION, _EXACT),
        digest=fields.optional("digest", "sha256:" + _SHA256, f"sha256: and {_SIXTY_FOUR}"),
        base=fields.text("base"),
        drivers=MappingProxyType(_texts(fields, "drivers", r"[<>=!~]=?\S+", "a range of versions")),
        basis=_basis(fields),
    )
    fields.end()
    return container


def _tool(fields: Fields) -> Tool:
    version = fields.text("version", _VERSION, _EXACT)
    url, image = fields.optional("url", _URL, _SECURE), fields.optional("image", r"\S+:\{version\}")
    tool = Tool(
        version=version,
        url=None if url is None else url.replace("{version}", version),
        sha256=fields.optional("sha256", _SHA256, _SIXTY_FOUR),
        image=None if image is None else image.replace("{version}", version),
        basis=_basis(fields),
    )
    fields.end()
    if (tool.image is None) == (tool.url is None):
        raise fields.error("needs either url or image")
    if tool.url is not None and tool.sha256 is None:
        raise fields.error("sha256 is missing: nothing confirms the file")
    return tool


def _basis(fields: Fields) -> str:
    basis = fields.text("basis")
    if not any(word in basis for word in _SURE):
        raise fields.error(f"basis has to say how sure it is: {', '.join(_SURE)}")
    return basis
