"""The tools that bake on AWS: Packer, its plugin and their like, pinned in versions.json."""

import json
from dataclasses import dataclass
from pathlib import Path

from trainshed.ami.fields import Fields, PinError

_VERSION = r"[0-9][0-9A-Za-z.-]*"
_URL = r"https://(?!.*latest)[^\s{}]*(\{version\}[^\s{}]*)+"
_IMAGE = r"[a-z0-9./-]+:\{version\}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """One file of a tool.

    Attributes:
        name: for instance `packer`.
        url: its address.
        sha256: what its bytes have to hash to, in hex digits.
    """

    name: str
    url: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildTools:
    """What a build on AWS runs with.

    Attributes:
        packer: a zip with the program.
        plugin: a zip with Packer's plugin for EC2.
        session_manager: a Debian package with the program that Packer reaches instances by.
        image: of AWS CodeBuild, at a version.
    """

    packer: Download
    plugin: Download
    session_manager: Download
    image: str


def read_tools(path: Path) -> BuildTools:
    """Read the tools of versions.json.

    Raises:
        PinError: it is not there, no JSON, or a tool is not pinned.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PinError(f"{path} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise PinError(f"{path} is not JSON: {error}") from error
    try:
        tools = Fields(Fields(document, "the pins").take("tools"), "tools")
        found = BuildTools(
            packer=_download(tools, "packer"),
            plugin=_download(tools, "packer-plugin-amazon"),
            session_manager=_download(tools, "session-manager-plugin"),
            image=_image(tools),
        )
        tools.end()
    except PinError as error:
        raise PinError(f"{path}: {error}") from error
    return found


def _download(tools: Fields, name: str) -> Download:
    fields = Fields(tools.take(name), f"tool {name}")
    version = fields.text("version", _VERSION, "an exact version")
    url = fields.text("url", _URL, "an https address with {version} in it, and not latest")
    sha256 = fields.text("sha256", r"[0-9a-f]{64}", "64 lower-case hexadecimal digits")
    fields.text("basis")
    fields.end()
    return Download(name=name, url=url.replace("{version}", version), sha256=sha256)


def _image(tools: Fields) -> str:
    fields = Fields(tools.take("codebuild-image"), "tool codebuild-image")
    version = fields.text("version", _VERSION, "an exact version")
    image = fields.text("image", _IMAGE, "an image with {version} as its tag")
    fields.text("basis")
    fields.end()
    return image.replace("{version}", version)
