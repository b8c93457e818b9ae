"""Git repositories of the stub vendors, and the pins of their commits."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from vendors.bench import Vendors
from vendors.sources import hccl_demo

_AUTHOR = ("-c", "user.name=vendor", "-c", "user.email=vendor@example.invalid")


def commit_sources(vendors: Vendors) -> None:
    """Serve hccl_demo as a git repository, and pin its commit in the copy of packer/.

    A commit's id is the checksum of what it holds, so it differs from the real one's as the
    checksum of an archive does.
    """
    pins = vendors.template / "versions.json"
    document = json.loads(pins.read_text())
    component = document["components"]["hccl-demo"]
    url = component["sources"]["any"]["url"]
    component["version"] = _write(vendors.site.folder / url.partition("://")[2])
    pins.write_text(json.dumps(document))


def _write(bare: Path) -> str:
    """Make a repository that can be cloned from plain files; returns its commit."""
    with tempfile.TemporaryDirectory() as work:
        for name, file in hccl_demo("1.0").items():
            (Path(work) / name).write_text(file.text)
        for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Stub")):
            subprocess.run(["git", *_AUTHOR, *words], cwd=work, check=True)
        subprocess.run(["git", "clone", "-q", "--bare", work, str(bare)], check=True)
    subprocess.run(["git", "update-server-info"], cwd=bare, check=True)
    # What git asks for first; plain files are what it then makes do with.
    shutil.copy(bare / "info/refs", bare / "info/refs?service=git-upload-pack")
    told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=bare, capture_output=True, check=True)
    return told.stdout.decode().strip()
