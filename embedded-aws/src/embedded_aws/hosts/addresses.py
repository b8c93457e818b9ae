"""Loopback addresses for hosts and guests, each used once on this machine."""

import secrets
import socket

# All of 127.0.0.0/8 is loopback; they use 127.80.0.0/16.
_PREFIX = "127.80"
# A claim is a bound socket: only one process at a time can hold it, and it is released when that
# process ends. Nothing listens on it.
_CLAIM_PORT = 20080
_TRIES = 200


class Address:
    """A claimed loopback address."""

    def __init__(self) -> None:
        for _ in range(_TRIES):
            self.text = f"{_PREFIX}.{secrets.randbelow(254) + 1}.{secrets.randbelow(254) + 1}"
            self._claim = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            try:
                self._claim.bind((self.text, _CLAIM_PORT))
            except OSError:
                self._claim.close()
                continue
            return
        raise OSError(f"found no free address in {_PREFIX}.0.0/16 ({_TRIES} tries)")

    def release(self) -> None:
        """Release the address."""
        self._claim.close()
