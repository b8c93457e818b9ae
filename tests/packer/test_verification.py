"""What provisioning downloads as one file is used only when its pins confirm it."""

import hashlib
import json
import shlex
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from skips import needs
from vendors.certificates import make_certificates
from vendors.keys import STRANGER, KeyRing
from vendors.server import Handler, Server, Tree

pytestmark = needs("gpg", "gpg-agent")

ROOT = Path(__file__).parents[2]
LIBRARY = shlex.quote(str(ROOT / "packer/scripts/lib/bake.sh"))
HOST = "127.0.0.1"
VENDOR = "vendor"
CONTENT = b"an installer\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """A vendor's server, its keys, and the directory that stands for /opt/trainshed.

    Attributes:
        url: where its files are.
        files: what is there.
        keys: of the vendor, and of a stranger.
        home: the program `pin` with its documents.
        authority: certificate that curl has to trust.
    """

    url: str
    files: Path
    keys: KeyRing
    home: Path
    authority: Path

    def offer(self, content: bytes = CONTENT, *, signed_by: str = VENDOR) -> None:
        """Offer the installer, with a signature of what it should be, and the vendor's key."""
        (self.files / "installer-1.2.3.tar.gz").write_bytes(content)
        signature = self.keys.detached(signed_by, CONTENT, armored=False)
        (self.files / "installer-1.2.3.tar.gz.sig").write_bytes(signature)
        (self.files / "vendor.key").write_bytes(self.keys.public(VENDOR))

    def pin(self, **changes: str | None) -> None:
        """Pin the installer by its signature, but for some changes."""
        source = {
            "kind": "archive",
            "version": "1.2.3",
            "url": f"{self.url}/installer-1.2.3.tar.gz",
            "signature": f"{self.url}/installer-1.2.3.tar.gz.sig",
            "key": f"{self.url}/vendor.key",
            "fingerprint": self.keys.fingerprint(VENDOR),
            **changes,
        }
        here = {"accelerator": "habana", "orchestrator": "ec2", "base": "ubuntu-22.04"}
        recipe = {**here, "components": {"installer": source}}
        (self.home / "recipe.json").write_text(json.dumps(recipe))

    def fetch(self) -> subprocess.CompletedProcess[str]:
        """Have the scripts' own function fetch the installer and print it."""
        script = f"""
            set -- test-job
            source {LIBRARY}
            pin() {{ "{self.home}/pin" "$@"; }}
            sleep() {{ echo "$1" >>"{self.home}/pauses"; }}
            file=$(fetch_archive installer)
            cat "$file"
        """
        environment = {
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "CURL_CA_BUNDLE": str(self.authority),
            "TRAINSHED_BASE": "ubuntu-22.04",
        }
        return subprocess.run(
            ["bash", "-c", script], env=environment, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def keys() -> Iterator[KeyRing]:
    with KeyRing() as ring:
        yield ring


@pytest.fixture
def vendor(tmp_path: Path, keys: KeyRing) -> Iterator[Vendor]:
    home = tmp_path / "home"
    copytree(ROOT / "packer/files/opt/trainshed", home)
    (home / "ami.json").write_text("{}")
    files = tmp_path / "www" / HOST
    files.mkdir(parents=True)
    make_certificates(tmp_path, [], HOST)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    handler = type("BoundHandler", (Handler,), {"tree": Tree(roots=[tmp_path / "www"])})
    with Server((HOST, 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        offered = Vendor(
            url=f"https://{HOST}:{server.server_port}",
            files=files,
            keys=keys,
            home=home,
            authority=tmp_path / "authority.crt",
        )
        offered.offer()
        offered.pin()
        yield offered
        server.shutdown()
        thread.join()


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a fetch that was refused."""
    assert done.returncode == 1, done
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("trainshed: ERROR: installer: "), line
    assert "; " in line
    return line.removeprefix("trainshed: ERROR: installer: ")


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    "pins",
    [
        pytest.param({}, id="signature"),
        pytest.param({"signature": None, "sha256": checksum(CONTENT)}, id="checksum"),
        pytest.param({"sha256": checksum(CONTENT).upper()}, id="both"),
    ],
)
def test_a_file_that_its_pins_confirm_is_used(vendor: Vendor, pins: dict[str, Any]) -> None:
    vendor.pin(**pins)

    done = vendor.fetch()

    assert (done.returncode, done.stdout, done.stderr) == (0, CONTENT.decode(), "")


def test_a_wrong_checksum_is_refused_even_when_the_signature_is_good(vendor: Vendor) -> None:
    vendor.pin(sha256=checksum(b"another installer"))

    assert refusal(vendor.fetch()).startswith("wrong checksum: installer-1.2.3.tar.gz has sha256")


def test_a_changed_file_is_refused_by_its_signature(vendor: Vendor) -> None:
    vendor.offer(b"malware\n")

    assert refusal(vendor.fetch()).startswith(
        "bad signature: installer-1.2.3.tar.gz is not what was signed; do not install it"
    )


def test_a_signature_by_a_subkey_of_the_pinned_key_is_good(vendor: Vendor) -> None:
    owner = "vendor-with-subkey"
    vendor.keys.add_signing_subkey(owner)
    vendor.offer(signed_by=owner)
    (vendor.files / "vendor.key").write_bytes(vendor.keys.public(owner))
    vendor.pin(fingerprint=vendor.keys.fingerprint(owner))

    done = vendor.fetch()

    assert (done.returncode, done.stdout, done.stderr) == (0, CONTENT.decode(), "")


def test_a_strangers_signature_is_refused(vendor: Vendor) -> None:
    vendor.offer(signed_by=STRANGER)

    assert "is signed by a key other than" in refusal(vendor.fetch())


def test_a_strangers_signature_is_refused_when_the_key_file_holds_his_key_too(
    vendor: Vendor,
) -> None:
    vendor.offer(signed_by=STRANGER)
    both = vendor.keys.public(VENDOR) + vendor.keys.public(STRANGER)
    (vendor.files / "vendor.key").write_bytes(both)

    assert "is signed by a key other than" in refusal(vendor.fetch())


def test_a_key_file_without_the_pinned_key_is_refused(vendor: Vendor) -> None:
    vendor.offer(signed_by=STRANGER)
    (vendor.files / "vendor.key").write_bytes(vendor.keys.public(STRANGER))

    assert refusal(vendor.fetch()).startswith(f"unknown key: {vendor.url}/vendor.key holds ")


def test_a_key_that_has_expired_is_refused(vendor: Vendor) -> None:
    vendor.pin(fingerprint=_sign_with_an_expired_key(vendor))

    assert "is signed by a key that has expired" in refusal(vendor.fetch())


def test_a_key_that_has_expired_confirms_a_file_whose_checksum_is_pinned_as_well(
    vendor: Vendor,
) -> None:
    fingerprint = _sign_with_an_expired_key(vendor)
    vendor.pin(fingerprint=fingerprint, sha256=checksum(CONTENT))

    done = vendor.fetch()

    assert (done.returncode, done.stdout, done.stderr) == (0, CONTENT.decode(), "")


def test_a_key_may_come_with_the_scripts_and_counts_by_its_fingerprint(vendor: Vendor) -> None:
    # The AWS CLI's, which signed nothing of this vendor's.
    vendor.pin(key="keys/aws-cli.asc")
    other = vendor.fetch()
    vendor.pin(key="keys/aws-cli.asc", fingerprint="FB5DB77FD5C118B80511ADA8A6310ACC4672475C")
    own = vendor.fetch()

    assert refusal(other).startswith("unknown key: keys/aws-cli.asc holds FB5DB77F")
    assert "is signed by a key other than FB5DB77F" in refusal(own)


def test_every_key_of_the_scripts_is_the_one_that_is_pinned(tmp_path: Path) -> None:
    document = json.loads((ROOT / "packer/pins.json").read_text())
    sources = [s for c in document["components"].values() for s in c["sources"].values()]
    pinned = {
        source["key"]: source["fingerprint"]
        for source in (*sources, *document["repositories"].values())
        if source.get("key", "").startswith("keys/")
    }
    library = ROOT / "packer/scripts/lib"

    assert {str(path.relative_to(library)) for path in library.glob("keys/*")} == set(pinned)
    for key, fingerprint in pinned.items():
        shown = subprocess.run(
            ["gpg", "--homedir", tmp_path, "--with-colons", "--show-keys", library / key],
            capture_output=True,
            text=True,
            check=True,
        )
        fields = [line.split(":") for line in shown.stdout.splitlines()]
        assert [field[9] for field in fields if field[0] == "fpr"] == [fingerprint]


def test_what_is_no_key_is_refused(vendor: Vendor) -> None:
    (vendor.files / "vendor.key").write_text("<html>moved</html>")

    assert "vendor.key holds no OpenPGP key" in refusal(vendor.fetch())


def test_a_signature_without_a_pinned_key_is_refused(vendor: Vendor) -> None:
    vendor.pin(fingerprint=None)

    assert refusal(vendor.fetch()) == "has no key or no fingerprint; add both to pins.json"


def test_a_file_that_nothing_confirms_is_not_even_downloaded(vendor: Vendor) -> None:
    vendor.pin(signature=None, url=f"{vendor.url}/missing")

    assert refusal(vendor.fetch()).startswith("has neither sha256 nor signature; ")


@pytest.mark.parametrize("name", ["installer-1.2.3.tar.gz", "installer-1.2.3.tar.gz.sig"])
def test_a_file_that_is_gone_is_reported_with_its_address(vendor: Vendor, name: str) -> None:
    (vendor.files / name).unlink()

    assert refusal(vendor.fetch()) == (
        f"{vendor.url}/{name} answered 404; check url and version in pins.json"
    )
    assert not (vendor.home / "pauses").exists()


def test_plain_http_is_refused(vendor: Vendor) -> None:
    vendor.pin(url="http://127.0.0.1:1/installer-1.2.3.tar.gz")

    assert "was not fetched" in refusal(vendor.fetch())


def test_a_connection_that_cannot_be_made_is_tried_again(vendor: Vendor) -> None:
    vendor.pin(url="https://127.0.0.1:1/installer-1.2.3.tar.gz")

    assert "cannot be reached" in refusal(vendor.fetch())
    assert (vendor.home / "pauses").read_text().split() == ["1", "2", "3", "4"]


def test_an_unexpected_failure_is_reported_in_one_line_too(vendor: Vendor) -> None:
    script = f"set -- test-job; source {LIBRARY}; ls /no/such/directory 2>/dev/null"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith('trainshed: ERROR: test-job: "ls /no/such/directory')


def test_what_a_package_manager_says_stays_in_the_one_line() -> None:
    script = (
        f"set -- test-job; source {LIBRARY}; die driver $'dpkg: error:\\r\\n  driver\\r' 'look'"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)

    assert done.returncode == 1
    assert done.stderr == b"trainshed: ERROR: driver: dpkg: error:  driver; look\n"


def _sign_with_an_expired_key(vendor: Vendor) -> str:
    """Offer a signature and a key that has expired since; return its fingerprint."""
    name = f"expired-{vendor.files.parent.parent.name}"
    unlocked = ["gpg", "--homedir", str(vendor.keys.home), "--batch", "--passphrase", ""]
    unlocked += ["--pinentry-mode", "loopback", "--faked-system-time"]
    made, signed = [*unlocked, "20200101T000000"], [*unlocked, "20200101T010000"]
    subprocess.run([*made, "--quick-gen-key", name, "rsa2048", "sign", "1d"], check=True)
    # Later: each gpg counts from the time that it is told, and making a key may take seconds. None
    # signs with a key of the future.
    sign = [*signed, "--local-user", name, "--detach-sign"]
    signature = subprocess.run(sign, input=CONTENT, stdout=subprocess.PIPE, check=True).stdout
    (vendor.files / "installer-1.2.3.tar.gz.sig").write_bytes(signature)
    listing = subprocess.run(
        [*signed, "--with-colons", "--list-keys", name], stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    fingerprint = listing.partition("\nfpr:::::::::")[2].partition(":")[0]
    public = subprocess.run([*signed, "--export", name], stdout=subprocess.PIPE, check=True)
    (vendor.files / "vendor.key").write_bytes(public.stdout)
    return fingerprint
