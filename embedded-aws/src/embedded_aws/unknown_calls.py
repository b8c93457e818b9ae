"""Calls that moto does not know: of services that it does not have, or at paths without a route."""

from collections.abc import Iterable

from moto.backends import list_of_moto_modules
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from werkzeug.exceptions import HTTPException

from embedded_aws.wsgi import Application, Environ, StartResponse


def without_unknown(moto: DomainDispatcherApplication) -> Application:
    """Return moto's application, in which a call that moto does not know is not implemented.

    By itself, moto answers a page in HTML, or prints to a pipe that nobody reads and never answers.
    """

    def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}"
        host = moto.infer_service_region_host(environ, environ["PATH_INFO"])
        if host and not _has(moto, host):
            raise NotImplementedError(f"there is no service for {path}")
        routes = moto.get_application(environ).url_map.bind_to_environ(environ)
        try:
            routes.match()
        except HTTPException as error:
            # A redirect has an answer of its own.
            if error.code in (404, 405):
                raise NotImplementedError(f"there is nothing at {path}") from error
        answered: Iterable[bytes] = moto(environ, start_response)
        return answered

    return answer


def _has(moto: DomainDispatcherApplication, host: str) -> bool:
    """Whether moto has the service of a host: `get_backend_for_host` prints if it has not."""
    urls = (pattern for _, pattern in moto.backend_url_patterns)
    return host in list_of_moto_modules() or any(url.match(f"http://{host}") for url in urls)
