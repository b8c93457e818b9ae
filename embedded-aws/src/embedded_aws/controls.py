"""The controls of an embedded AWS, whose paths begin with `/_embedded-aws/`, and their client."""

import json
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from embedded_aws.errors import ServerError, program
from embedded_aws.signing import signed_headers

CONTROLS = "/_embedded-aws/"
CAPACITY_BLOCKS_PATH = f"{CONTROLS}capacity-blocks"
CLOCK_PATH = f"{CONTROLS}clock"
RESET_PATH = f"{CONTROLS}reset"
SPOT_NOTICES_PATH = f"{CONTROLS}spot-notices"
SPOT_PRICES_PATH = f"{CONTROLS}spot-prices"
STATUS_PATH = f"{CONTROLS}status"
STORAGE_PATH = f"{CONTROLS}storage"
# For which requests to the controls are signed; any region will do.
_SERVICE, _REGION = "embedded-aws", "us-east-1"
_REFUSED = (401, 403)


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """The controls of an embedded AWS, as its owner uses them.

    Attributes:
        endpoint: its URL.
        key: an access key id of one of its accounts; those of a role may only `check`.
        secret: the secret.
        token: the session token of a role's credentials; empty for others.
    """

    endpoint: str
    key: str
    secret: str
    token: str = ""

    def get(self, path: str) -> Any:
        """Return what a control tells."""
        return json.loads(self.ask("GET", path, b""))

    def post(self, path: str, value: object) -> None:
        """Have a control do something."""
        self.ask("POST", path, json.dumps(value).encode())

    def check(self) -> None:
        """Check that an embedded AWS answers that takes these credentials.

        Raises:
            ServerError: something else answers, or nothing.
        """
        try:
            self.get(STATUS_PATH)
        except (HTTPError, ValueError) as error:
            if isinstance(error, HTTPError) and error.code in _REFUSED:
                raise ServerError(
                    f"what answers at {self.endpoint}, which AWS_ENDPOINT_URL names, does not "
                    f'take the credentials of the environment; run eval "$({program.get()} env)" '
                    "in the directory of the embedded AWS, or unset AWS_ENDPOINT_URL"
                ) from error
            raise ServerError(
                f"no embedded AWS is at {self.endpoint}, which AWS_ENDPOINT_URL names; unset it"
            ) from error
        except URLError as error:
            raise ServerError(
                f"the embedded AWS does not answer: {self.endpoint}: {error.reason}"
            ) from error
        except (HTTPException, OSError) as error:
            raise ServerError(
                f"what answers at {self.endpoint}, which AWS_ENDPOINT_URL names, is no embedded "
                "AWS; unset it"
            ) from error

    def ask(self, method: str, path: str, body: bytes) -> bytes:
        """Return what a control answers to a signed request."""
        url = self.endpoint + path
        signed = signed_headers(
            method,
            url,
            body,
            key=self.key,
            secret=self.secret,
            region=_REGION,
            service=_SERVICE,
        )
        token = {"X-Amz-Security-Token": self.token} if self.token else {}
        headers = signed | token | {"Content-Type": "application/json"}
        with urlopen(Request(url, body or None, headers, method=method)) as answer:
            text: bytes = answer.read()
        return text
