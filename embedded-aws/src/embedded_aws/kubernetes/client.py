"""A client of one API server: what the embedded AWS itself needs, and no more."""

import http.client
import json
import ssl
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embedded_aws.errors import EmbeddedAwsError

_SECONDS = 20
# Of a connection that the server has closed meanwhile.
_CLOSED = (
    http.client.RemoteDisconnected,
    BrokenPipeError,
    ConnectionResetError,
    ssl.SSLEOFError,
)


class ApiRefusal(EmbeddedAwsError):
    """The API server refuses a request.

    Attributes:
        code: HTTP status.
    """

    exit_code = 1

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class ApiClient:
    """Speaks to an API server as one user, by one connection for each thread.

    Attributes:
        authority: file of the certificate that the server's is signed by.
        certificate: file of the user's certificate.
        key: file of its key.
        port: of the server, on 127.0.0.1.

    Args:
        port: on 127.0.0.1.
        authority: file of the certificate that the server's is signed by.
        certificate: file of the user's certificate.
        key: file of its key.
    """

    def __init__(self, *, port: int, authority: Path, certificate: Path, key: Path) -> None:
        self.authority, self.certificate, self.key = authority, certificate, key
        self.port = port
        self._context = ssl.create_default_context(cafile=str(authority))
        self._context.load_cert_chain(certificate, key)
        self._of_thread = threading.local()

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
        user: str = "",
        group: str = "",
    ) -> Any:
        """Make a request, and return its JSON, or its text.

        Args:
            method: of HTTP.
            path: with its query.
            body: what is sent, as JSON.
            content_type: of the body.
            user: as whom the request is made; by default as the client's own user.
            group: of that user.

        Raises:
            ApiRefusal: with what the server says.
            OSError: the server does not answer.
        """
        headers = {"Content-Type": content_type}
        if user:
            headers |= {"Impersonate-User": user, "Impersonate-Group": group}
        sent = None if body is None else json.dumps(body)
        try:
            status, is_json, text = self._ask(method, path, sent, headers)
        except _CLOSED:
            status, is_json, text = self._ask(method, path, sent, headers)
        found: Any = json.loads(text) if is_json else text
        if status >= http.client.BAD_REQUEST:
            said = found.get("message", text) if isinstance(found, Mapping) else text
            raise ApiRefusal(status, f"{method} {path}: {said}")
        return found

    def _ask(
        self, method: str, path: str, sent: str | None, headers: Mapping[str, str]
    ) -> tuple[int, bool, str]:
        connection = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = self._of_thread.connection = http.client.HTTPSConnection(
                "127.0.0.1", self.port, context=self._context, timeout=_SECONDS
            )
        try:
            connection.request(method, path, sent, headers)
            answer = connection.getresponse()
            is_json = answer.headers.get_content_type() == "application/json"
            return answer.status, is_json, answer.read().decode()
        except OSError:
            self._of_thread.connection = None
            raise
        except http.client.HTTPException as error:
            # A server that ends breaks its answers off.
            self._of_thread.connection = None
            raise OSError(f"{method} {path}: {error!r}") from error
