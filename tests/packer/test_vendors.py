"""The stub vendors offer what pins.json asks for, and the baked copy differs in no more."""

import filecmp
import hashlib
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from skips import needs
from vendors.bench import Vendors, serve_vendors
from vendors.faults import Fault

ROOT = Path(__file__).parents[2]
TOOLS = ("dpkg-deb", "apt-ftparchive", "dpkg-scanpackages", "rpmbuild", "createrepo_c", "gpg")
pytestmark = needs(*TOOLS, root="it serves on ports 80 and 443")
EFA = "https://efa-installer.amazonaws.com/aws-efa-installer-{version}.tar.gz"


@pytest.fixture(scope="module")
def vendors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vendors]:
    folder = tmp_path_factory.mktemp("vendors")
    with serve_vendors(ROOT / "packer", folder, region="us-west-2") as served:
        yield served


def test_every_archive_signature_and_key_is_served(vendors: Vendors) -> None:
    pins = vendors.site.pins
    urls = [url for part in pins.archives for url in (part.url, part.signature, part.key) if url]
    urls += [part.key for part in pins.repositories]
    urls = [url for url in urls if url.startswith("https://")]

    assert len(urls) > 10
    assert all(_get(vendors, url) for url in urls)


def test_every_pinned_package_is_in_the_index_of_its_repository(vendors: Vendors) -> None:
    for repository in vendors.site.pins.repositories:
        base = repository.url.rstrip("/")
        if repository.kind == "apt":
            index = f"{base}/dists/{repository.suite}/{repository.section}/binary-amd64/Packages"
            if repository.suite.endswith("/"):
                index = f"{base}{repository.suite}Packages"
            served = _get(vendors, index).decode()
            for name, version in repository.packages.items():
                assert f"Package: {name}\nVersion: {version}\n" in served
        else:
            served = _get(vendors, f"{base}/repodata/repomd.xml").decode()
            assert "primary" in served
            names = {path.name for path in vendors.site.folder.rglob("*.rpm")}
            for name, version in repository.packages.items():
                assert any(
                    each.startswith(f"{name}-{version.rpartition(':')[2]}") for each in names
                )


def test_the_copy_of_the_template_differs_in_keys_fingerprints_and_checksums_only(
    vendors: Vendors,
) -> None:
    compared = filecmp.dircmp(ROOT / "packer", vendors.template)

    assert compared.left_only == compared.right_only == []
    assert [name for name in compared.diff_files if name != "pins.json"] == []
    assert compared.subdirs["recipes"].left_only == compared.subdirs["recipes"].right_only == []
    real, copy = (
        _blank(json.loads((folder / "pins.json").read_text()))
        for folder in (ROOT / "packer", vendors.template)
    )
    assert real == copy


def test_the_copy_has_the_checksums_of_what_is_served(vendors: Vendors) -> None:
    components = json.loads((vendors.template / "pins.json").read_text())["components"]
    source = components["aws-cli"]["sources"]["ubuntu"]

    served = _get(vendors, source["url"].replace("{version}", components["aws-cli"]["version"]))

    assert hashlib.sha256(served).hexdigest() == source["sha256"]


def test_vendors_have_keys_of_their_own(vendors: Vendors) -> None:
    repositories = vendors.site.pins.repositories
    keys = {part.key: _get(vendors, part.key) for part in repositories}

    assert len(keys) > 3
    assert len(set(keys.values())) == len(keys)


def test_a_fault_ends_with_its_context(vendors: Vendors) -> None:
    (efa,) = (part for part in vendors.site.pins.archives if part.component == "efa-installer")
    good = _get(vendors, efa.url)

    with vendors.faulty("efa-installer", Fault.WRONG_BYTES):
        assert _get(vendors, efa.url) != good
    with vendors.faulty("efa-installer", Fault.NOT_FOUND), pytest.raises(urllib.error.HTTPError):
        _get(vendors, efa.url)

    assert _get(vendors, efa.url) == good


def test_what_nobody_asked_for_is_not_there(vendors: Vendors) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        _get(vendors, EFA.format(version="latest"))


def _get(vendors: Vendors, url: str) -> bytes:
    """Fetch from the bench's address what a host is asked for."""
    parts = urlsplit(url)
    context = ssl.create_default_context(cafile=vendors.authority)
    address = url.replace(f"//{parts.hostname}", f"//{vendors.address}", 1)
    request = urllib.request.Request(address, headers={"Host": str(parts.hostname)})
    with urllib.request.urlopen(request, context=context) as answer:
        content: bytes = answer.read()
        return content


def _blank(document: dict[str, Any]) -> dict[str, Any]:
    """The pins without what may differ."""
    sources = [
        source
        for component in document["components"].values()
        for source in component["sources"].values()
    ]
    for entry in (*document["repositories"].values(), *sources):
        for field in ("fingerprint", "sha256"):
            if entry.get(field):
                entry[field] = ""
    return document
