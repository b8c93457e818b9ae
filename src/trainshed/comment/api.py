"""The HTTP API of a host of Git repositories: calls, lists in pages, refusals."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import requests

from trainshed import __version__
from trainshed.errors import Failure, TrainshedError, one_line

# The largest page of either host.
_PAGE = 100
_CONNECT_SECONDS, _READ_SECONDS = 10, 30
# GitHub's documents ask for this wait at a secondary rate limit that names none.
_RATE_LIMIT_SECONDS = 60.0
_MESSAGE_CHARACTERS = 300


class Refusal(Failure):
    """The host refuses a call.

    Args:
        message: what it refuses and why.
        status: of HTTP.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Busy(Failure):
    """The host cannot answer now, and may later.

    Args:
        message: why.
        seconds: after which it wants to be asked again; None where it does not say.
    """

    def __init__(self, message: str, seconds: float | None) -> None:
        super().__init__(message)
        self.seconds = seconds


class Api:
    """Calls with one token. Proxies and certificates are those of the environment.

    Args:
        root: address that paths are added to.
        token: sent with every call, and never in a message.
        variable: name of the variable that held the token, for messages.
        headers: of every call.
        remedies: what to do about a refusal, by its status.

    Raises:
        TrainshedError: the token cannot be one.
    """

    def __init__(
        self,
        root: str,
        token: str,
        *,
        variable: str,
        headers: Mapping[str, str],
        remedies: Mapping[int, str],
    ) -> None:
        # HTTP libraries put what cannot stand in a header into their messages.
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            raise TrainshedError(
                f"{variable} is not a token: it has a space, a line break or another character "
                "that tokens do not have; set it again"
            )
        self._root, self._token, self._remedies = root.rstrip("/"), token, remedies
        self._session = requests.Session()
        self._session.headers.update({"User-Agent": f"trainshed/{__version__}", **headers})
        # As `auth`, so that a .netrc does not take its place.
        self._session.auth = self._authorise

    def call(self, method: str, path: str, **json_body: Any) -> Any:
        """Make one call, and return its answer.

        Args:
            method: of HTTP.
            path: below the root, or an address.
            json_body: fields of the body; without any there is none.

        Raises:
            Busy: it may work later.
            Refusal: it will not.
        """
        return self._read(self._send(method, path, json_body or None))

    def pages(self, path: str, **parameters: str) -> Iterator[dict[str, Any]]:
        """Yield the entries of a list, of all its pages."""
        page: int | None = 1
        while page:
            answer = self._send("GET", path, None, parameters | {"page": str(page)})
            yield from self._read(answer)
            # Not the address of the next page: a host behind a proxy may name another host there.
            page = page + 1 if "next" in answer.links else None

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        parameters: Mapping[str, str] | None = None,
    ) -> requests.Response:
        url = path if "://" in path else f"{self._root}/{path}"
        if parameters is not None:
            parameters = {"per_page": str(_PAGE), **parameters}
        try:
            answer = self._session.request(
                method,
                url,
                params=parameters,
                json=body,
                timeout=(_CONNECT_SECONDS, _READ_SECONDS),
                # A redirection would take the token elsewhere, or make a GET of a POST.
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise _unreachable(url, error) from error
        if not 200 <= answer.status_code < 300:
            raise self._refused(method, url, answer)
        return answer

    def _read(self, answer: requests.Response) -> Any:
        try:
            return answer.json()
        except requests.JSONDecodeError as error:
            raise Refusal(
                f"{urlsplit(answer.url).netloc} does not answer in JSON; check that it is an "
                "address of the API, and that no proxy answers instead",
                answer.status_code,
            ) from error

    def _refused(self, method: str, url: str, answer: requests.Response) -> Failure:
        status, said = answer.status_code, self._words(answer)
        what = f"{urlsplit(url).netloc} refuses {method} {urlsplit(url).path}: {status} {said}"
        rate = status == 429 or (
            status == 403
            and (
                answer.headers.get("X-RateLimit-Remaining") == "0"
                or "Retry-After" in answer.headers
                or "rate limit" in said.lower()
            )
        )
        if rate or status >= 500:
            return Busy(f"{what}; run the job again later", _wait(answer, rate=rate))
        remedy = self._remedies.get(status)
        return Refusal(f"{what}; {remedy}" if remedy else what, status)

    def _words(self, answer: requests.Response) -> str:
        try:
            body = answer.json()
        except requests.JSONDecodeError:
            body = None
        if not isinstance(body, dict):
            return answer.reason or ""
        # GitHub: message and errors; GitLab: message, or error and error_description.
        words = [
            value if isinstance(value, str) else json.dumps(value)
            for key in ("message", "errors", "error", "error_description")
            if (value := body.get(key))
        ]
        said = one_line(" ".join(words)).replace(self._token, "***")
        return said[:_MESSAGE_CHARACTERS]

    def _authorise(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _wait(answer: requests.Response, *, rate: bool) -> float | None:
    headers = answer.headers
    # Both hosts give seconds; a date, which HTTP allows too, counts as if it were not there.
    if (given := headers.get("Retry-After", "")).isdecimal():
        return float(given)
    reset = headers.get("X-RateLimit-Reset", "")
    if rate and headers.get("X-RateLimit-Remaining") == "0" and reset.isdecimal():
        return max(0.0, int(reset) - time.time())
    return _RATE_LIMIT_SECONDS if rate else None


def _unreachable(url: str, error: requests.RequestException) -> Failure:
    host = urlsplit(url).netloc
    match error:
        case requests.exceptions.SSLError():
            reason = getattr(error.args[0], "reason", error) if error.args else error
            # It does not go away.
            return Failure(
                f"{host} cannot prove who it is: {one_line(str(reason))}; if its certificate is "
                "from your own authority, name that authority's file in REQUESTS_CA_BUNDLE"
            )
        case requests.exceptions.ProxyError():
            why = "the proxy that the environment names refuses the connection"
        case requests.exceptions.Timeout():
            why = f"no answer within {_READ_SECONDS} s"
        case requests.exceptions.ConnectionError():
            why = "no connection"
        case _:
            # Not its text, which may have the password of a proxy.
            return Failure(f"{host} cannot be asked: {type(error).__name__}")
    return Busy(f"{host} cannot be reached: {why}", None)
