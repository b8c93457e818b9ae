"""Git repositories of the stub vendors, and the pins of their commits."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from vendors.bench import Vendors
from vendors.package import File
from vendors.sources import hccl_demo, hccl_ofi_wrapper

_AUTHOR = ("-c", "user.name=vendor", "-c", "user.email=vendor@example.invalid")


def commit_sources(vendors: Vendors) -> None:
    """Serve Habana's sources as git repositories, and pin their commits in the copy of packer/.

    A commit's id is the checksum of what it holds, so it differs from the real one's as the
    checksum of an archive does.
    """
    pins = vendors.template / "pins.json"
    document = json.loads(pins.read_text())
    sources = {"hccl-demo": hccl_demo("1.0"), "hccl-ofi-wrapper": hccl_ofi_wrapper()}
    for name, files in sources.items():
        component = document["components"][name]
        url = component["sources"]["any"]["url"]
        component["version"] = _write(files, vendors.site.folder / url.partition("://")[2])
    pins.write_text(json.dumps(document))


def _write(files: Mapping[str, File], bare: Path) -> str:
    """Make a repository that can be cloned from plain files; returns its commit."""
    with tempfile.TemporaryDirectory() as work:
        for name, file in files.items():
            (Path(work) / name).write_text(file.text)
        for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Stub")):
            subprocess.run(["git", *_AUTHOR, *words], cwd=work, check=True)
        subprocess.run(["git", "clone", "-q", "--bare", work, str(bare)], check=True)
    subprocess.run(["git", "update-server-info"], cwd=bare, check=True)
    # What git asks for first; plain files are what it then makes do with.
    shutil.copy(bare / "info/refs", bare / "info/refs?service=git-upload-pack")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=bare, capture_output=True, check=True)
    return head.stdout.decode().strip()
