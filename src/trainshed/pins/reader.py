"""Reading pins.json, and refusing what must not get into an image.

Nothing is installed as "latest", and nothing without a checksum or the fingerprint of the key that
signs it. That is checked here, before Packer or a script sees a pin.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from trainshed.cells import ACCELERATORS, ORCHESTRATORS
from trainshed.pins.agreement import require_agreement
from trainshed.pins.fields import Fields, PinError
from trainshed.pins.forms import DIGEST, RANGE, SHA256, URL, VERSION
from trainshed.pins.model import (
    ANY,
    CONTAINER,
    CPU,
    Base,
    Component,
    ContainerBase,
    Pins,
    Repository,
    SourceAmi,
    Tool,
    family_of,
)
from trainshed.pins.sources import read_basis, read_repository, read_source


def read_pins(path: Path) -> Pins:
    """Read pins.json.

    Raises:
        PinError: it is not there, no JSON, or says what cannot be.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PinError(
            f"{path} cannot be read ({error.strerror}); it is pins.json of the folder packer/"
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
    exact = (*bases, *(container.base for container in containers.values()))
    known = tuple(dict.fromkeys((*exact, *map(family_of, exact), ANY)))
    repositories = {
        name: read_repository(Fields(entry, f"repository {name}"))
        for name, entry in top.objects("repositories", "a repository by name").items()
    }
    components = {
        name: _component(name, Fields(entry, f"component {name}"), known, repositories)
        for name, entry in top.objects("components", "a component by name").items()
    }
    tools = {
        name: _tool(Fields(entry, f"tool {name}"))
        for name, entry in top.objects("tools", "a tool by name").items()
    }
    top.end()
    pins = Pins(
        bases=MappingProxyType(bases),
        repositories=MappingProxyType(repositories),
        components=MappingProxyType(components),
        tools=MappingProxyType(tools),
        containers=MappingProxyType(containers),
    )
    require_agreement(pins)
    return pins


def _base(name: str, fields: Fields) -> Base:
    amis = fields.objects("source_amis", "an AMI by orchestrator")
    refused = fields.texts("refused", r".+", "why there is none")
    if sorted((*amis, *refused)) != sorted(ORCHESTRATORS):
        raise fields.error(
            f"source_amis has to name one for each of {', '.join(ORCHESTRATORS)}, or refused the "
            "reason why there is none"
        )
    base = Base(
        name=name,
        accelerators=fields.names("accelerators", ACCELERATORS),
        suite=fields.optional("suite", r"[a-z]+", "a release of Ubuntu such as jammy"),
        ssh_user=fields.text("ssh_user"),
        root_device=fields.text("root_device", r"/dev/\w+", "a device such as /dev/xvda"),
        release=fields.text("release", *VERSION),
        kernel=fields.text("kernel", *VERSION),
        source_amis=MappingProxyType(
            {
                key: _ami(Fields(amis[key], f"{fields.where}: AMI of {key}"))
                for key in ORCHESTRATORS
                if key in amis
            }
        ),
        refused=MappingProxyType(refused),
        basis=read_basis(fields),
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


def _component(
    name: str, fields: Fields, known: Sequence[str], repositories: Mapping[str, Repository]
) -> Component:
    version = fields.text("version", *VERSION)
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
                base: read_source(Fields(entry, f"{fields.where} on {base}"), version, repositories)
                for base, entry in sources.items()
            }
        ),
        basis=read_basis(fields),
    )
    fields.end()
    return component


def _container(fields: Fields) -> ContainerBase:
    container = ContainerBase(
        image=fields.text("image", r"[a-z0-9.-]+\.[a-z]+/\S+[^\s:@]", "a repository of a registry"),
        tag=fields.text("tag", *VERSION),
        digest=fields.optional("digest", *DIGEST),
        base=fields.text("base"),
        drivers=MappingProxyType(fields.texts("drivers", *RANGE)),
        basis=read_basis(fields),
    )
    fields.end()
    return container


def _tool(fields: Fields) -> Tool:
    version = fields.text("version", *VERSION)
    url = fields.optional("url", *URL)
    image = fields.optional("image", r"\S+:\{version\}")
    tool = Tool(
        version=version,
        url=None if url is None else url.replace("{version}", version),
        sha256=fields.optional("sha256", *SHA256),
        image=None if image is None else image.replace("{version}", version),
        basis=read_basis(fields),
    )
    fields.end()
    if (tool.image is None) == (tool.url is None):
        raise fields.error("needs either url or image")
    if tool.url is not None and tool.sha256 is None:
        raise fields.error("sha256 is missing: nothing confirms the file")
    return tool
