"""A client of the API server of a cluster, and what may go wrong when it is asked."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep
from urllib.request import getproxies, proxy_bypass

import httpx2
from lightkube import ApiError, Client, SingleConfig
from lightkube.config.models import Cluster, Context, User

from trainshed.errors import Failure, one_line
from trainshed.kubernetes.cluster import EksCluster
from trainshed.kubernetes.token import Token, make_token

# Who owns the fields that trainshed sets, for server-side apply.
FIELD_MANAGER = "trainshed"
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _TOO_MANY_REQUESTS = 401, 403, 404, 429
_CONNECTION_RETRIES, _RETRIES = 2, 10


class ApiRefusal(Failure):
    """The API server refuses a request.

    Args:
        code: HTTP status.
        message: the whole of it, in words.
    """

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(message)


class Unreachable(Failure):
    """The API server gives no answer."""


def connect(cluster: EksCluster, renew: Callable[[], Token] | None = None) -> Client:
    """Return a client that asks in the name of the environment's AWS credentials.

    Its token is renewed before it expires, and once more when the server no longer takes it.

    Args:
        cluster: whose API server is asked.
        renew: makes a token; by default by the environment's credentials.
    """
    context = ssl.create_default_context(cadata=cluster.authority_pem)
    transport = _TokenTransport(
        renew or (lambda: make_token(cluster.region, cluster.name)),
        context=context,
        proxy=_proxy(cluster.endpoint),
    )
    config = SingleConfig(
        context_name=cluster.name,
        context=Context(cluster=cluster.name),
        cluster=Cluster(server=cluster.endpoint, certificate_auth_data=cluster.authority),
        user=User(),
    )
    return Client(config, field_manager=FIELD_MANAGER, transport=transport)


@contextmanager
def asking(cluster: EksCluster) -> Iterator[None]:
    """Turn what goes wrong with a request in the block into words.

    Raises:
        ApiRefusal: the server refuses.
        Unreachable: it does not answer.
    """
    try:
        yield
    except ApiError as error:
        raise ApiRefusal(error.status.code or 0, _words(error, cluster)) from error
    except httpx2.HTTPStatusError as error:
        # Not in the words of Kubernetes: no such API is there, or a proxy answers.
        said = (
            f"{error.response.status_code} {error.response.reason_phrase} for {error.request.url}"
        )
        raise ApiRefusal(
            error.response.status_code, f"the API server of {cluster.name} refuses: {said}"
        ) from error
    except httpx2.TransportError as error:
        raise Unreachable(
            f"the API server of {cluster.name} cannot be reached at {cluster.endpoint}: "
            f"{one_line(str(error)) or type(error).__name__}; it is reached from its VPC, and over "
            "the internet from kubernetes.public_cidrs of the cluster file alone"
        ) from error


@contextmanager
def accepting_absence() -> Iterator[None]:
    """End the block where what is asked for is not there, or nothing of its kind can be."""
    try:
        yield
    except ApiRefusal as error:
        if error.code != _NOT_FOUND:
            raise


def _words(error: ApiError, cluster: EksCluster) -> str:
    said = one_line(error.status.message or "no reason is given")
    if error.status.code == _UNAUTHORIZED:
        return (
            f"the API server of {cluster.name} does not know the AWS credentials: no access entry "
            "names their role; add it to kubernetes.access of the cluster file, or use another role"
        )
    causes = (error.status.details and error.status.details.causes) or []
    if any(each.reason == "NamespaceTerminating" for each in causes):
        return (
            f"the API server of {cluster.name} refuses: {said}; wait until the namespace is gone, "
            "and run the command again"
        )
    if error.status.code == _FORBIDDEN:
        return (
            f"the API server of {cluster.name} refuses: {said}; give the role another policy in "
            "kubernetes.access of the cluster file, for instance cluster-admin; the others know no "
            "jobs and no nodes before somebody has run: trainshed kube apply"
        )
    return f"the API server of {cluster.name} refuses: {said}"


class RetryingTransport(httpx2.HTTPTransport):
    """Sends a request again where the API server asks to, as its own clients do.

    client-go, `rest/with_retry.go`: after the seconds of `Retry-After`, ten times at most. The API
    server answers so while it takes a new definition of a resource, and when it has too much to do.
    """

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer to a request."""
        for _ in range(_RETRIES):
            response = super().handle_request(request)
            after = response.headers.get("Retry-After", "")
            if response.status_code != _TOO_MANY_REQUESTS or not after.isdecimal():
                return response
            response.read()
            response.close()
            sleep(int(after))
        return super().handle_request(request)


class _TokenTransport(RetryingTransport):
    """Sends requests with a token: lightkube's own ways to do that know no renewal in time."""

    def __init__(
        self, renew: Callable[[], Token], *, context: ssl.SSLContext, proxy: str | None
    ) -> None:
        super().__init__(verify=context, proxy=proxy, retries=_CONNECTION_RETRIES)
        self._renew = renew
        self._token: Token | None = None

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._token is None or self._token.is_stale:
            self._token = self._renew()
        response = self._send(request, self._token)
        if response.status_code != _UNAUTHORIZED:
            return response
        # The clock here may be wrong, or the machine slept.
        response.read()
        response.close()
        self._token = self._renew()
        return self._send(request, self._token)

    def _send(self, request: httpx2.Request, token: Token) -> httpx2.Response:
        request.headers["Authorization"] = f"Bearer {token.text}"
        return super().handle_request(request)


def _proxy(endpoint: str) -> str | None:
    """Return the proxy of the environment: httpx takes none beside a transport of one's own."""
    host = httpx2.URL(endpoint).host
    return None if proxy_bypass(host) else getproxies().get("https")
