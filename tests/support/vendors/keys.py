"""The GPG keys of the stub vendors: one for each, and one that nobody trusts."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from threading import Lock

STRANGER = "stranger"


class KeyRing:
    """GPG keys made on demand, in a home folder of their own.

    The home is directly below the temporary folder: gpg-agent's socket lies in it, and the path
    of a socket must be shorter than 108 characters.
    """

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="vendor-keys-"))
        self._fingerprints: dict[str, str] = {}
        self._lock = Lock()

    def __enter__(self) -> "KeyRing":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End gpg-agent and remove the keys."""
        subprocess.run(["gpgconf", "--kill", "all"], env=self._environment, check=True)
        # gpg-agent takes its sockets away while it ends.
        shutil.rmtree(self.home, ignore_errors=True)

    @property
    def _environment(self) -> dict[str, str]:
        return os.environ | {"GNUPGHOME": str(self.home)}

    def _gpg(self, *arguments: str | Path, text: bytes = b"") -> bytes:
        command = ["gpg", "--batch", "--yes", "--quiet", "--pinentry-mode", "loopback"]
        command += ["--passphrase", "", *map(str, arguments)]
        done = subprocess.run(
            command, input=text, env=self._environment, capture_output=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.decode()}"
        return done.stdout

    def fingerprint(self, owner: str) -> str:
        """40 hexadecimal digits of the owner's key, which is made when it is first asked for."""
        with self._lock:
            if owner not in self._fingerprints:
                identity = f"{owner} <security@{owner.split('/')[0]}.invalid>"
                # RSA: rpm 4.16 of older bases verifies nothing else.
                self._gpg("--quick-gen-key", identity, "rsa2048", "sign", "never")
                listing = self._gpg("--with-colons", "--list-keys", f"={identity}").decode()
                line = next(line for line in listing.splitlines() if line.startswith("fpr:"))
                self._fingerprints[owner] = line.split(":")[9]
            return self._fingerprints[owner]

    def add_signing_subkey(self, owner: str) -> None:
        """Have the owner sign with a subkey from now on: gpg prefers the newest."""
        self._gpg("--quick-add-key", self.fingerprint(owner), "rsa2048", "sign", "never")

    def public(self, owner: str, *, armored: bool = True) -> bytes:
        """The owner's public key, as vendors publish it."""
        armor = ["--armor"] if armored else []
        return self._gpg(*armor, "--export", self.fingerprint(owner))

    def detached(self, owner: str, content: bytes, *, armored: bool) -> bytes:
        """A signature of the content beside it."""
        armor = ["--armor"] if armored else []
        user = ["--local-user", self.fingerprint(owner)]
        return self._gpg(*armor, *user, "--detach-sign", text=content)

    def clear(self, owner: str, content: bytes) -> bytes:
        """The content with a signature around it."""
        return self._gpg("--local-user", self.fingerprint(owner), "--clear-sign", text=content)

    def sign_rpms(self, owner: str, rpms: list[Path]) -> None:
        """Sign packages in place."""
        macros = {
            "_gpg_name": self.fingerprint(owner),
            "_gpg_path": str(self.home),
            "__gpg": shutil.which("gpg") or "gpg",
            "_gpg_digest_algo": "sha256",
        }
        defines = [part for name in macros for part in ("--define", f"{name} {macros[name]}")]
        done = subprocess.run(
            ["rpmsign", *defines, "--addsign", *map(str, rpms)],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
