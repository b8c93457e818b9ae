"""Loopback addresses for guests, none of them claimed twice on this machine."""

import secrets
import socket

# All of 127.0.0.0/8 is this machine's; 127.80.0.0/16 is what we take of it.
_PREFIX = "127.80"
# A claim is a bound socket that nobody talks to: the system lets one process at a time have it,
# and takes it back when that process ends. Nothing listens at this port of such an address.
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
        raise OSError(f"no free address found in {_PREFIX}.0.0/16 ({_TRIES} tries)")

    def release(self) -> None:
        """Give the address back."""
        self._claim.close()
