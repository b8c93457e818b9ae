"""A client of one API server: what the control plane itself needs, and no more."""

import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedded_aws.errors import EmbeddedAwsError

_SECONDS = 20


class ApiRefusal(EmbeddedAwsError):
    """The API server refuses a request.

    Attributes:
        code: HTTP status.
    """

    exit_code = 1

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiClient:
    """Speaks to an API server as one user.

    Attributes:
        port: on 127.0.0.1.
        authority: file of the certificate that the server's is signed by.
        certificate: file of the user's certificate.
        key: file of its key.
    """

    port: int
    authority: Path
    certificate: Path
    key: Path

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
    ) -> Any:
        """Make a request, and return its JSON, or its text.

        Args:
            method: of HTTP.
            path: with its query.
            body: what is sent, as JSON.
            content_type: of the body.

        Raises:
            ApiRefusal: with what the server says.
            OSError: the server does not answer.
        """
        context = ssl.create_default_context(cafile=str(self.authority))
        context.load_cert_chain(self.certificate, self.key)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=context, timeout=_SECONDS
        )
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, sent, {"Content-Type": content_type})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        is_json = answer.headers.get_content_type() == "application/json"
        found: Any = json.loads(text) if is_json else text
        if answer.status >= http.client.BAD_REQUEST:
            said = found.get("message", text) if isinstance(found, Mapping) else text
            raise ApiRefusal(answer.status, f"{method} {path}: {said}")
        return found
