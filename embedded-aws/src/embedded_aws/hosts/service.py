"""The hosts of the process that answers requests; others run no processes."""

import fcntl
import json
import os
from http import HTTPStatus

from werkzeug import Request, Response

from embedded_aws.hooks import ServingProcess, when_instance_ended, when_serving
from embedded_aws.hosts.credentials import CREDENTIALS_PATH
from embedded_aws.hosts.hosts import Hosts
from embedded_aws.unsigned import answers_unsigned
from embedded_aws.wsgi import Application

_hosts: Hosts | None = None


def hosts() -> Hosts | None:
    """Return the hosts; None for an AWS whose instances run no processes."""
    return _hosts


@when_serving
def _start(process: ServingProcess) -> None:
    global _hosts
    settings = process.settings
    lock = os.open(process.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    # Until this process and all that inherit the file have ended.
    fcntl.flock(lock, fcntl.LOCK_SH)
    _hosts = Hosts(
        # Instances on other machines have addresses of loopback.
        apart=not (settings.jobs.loopback or settings.machines),
        folder=process.folder,
        lock=lock,
        endpoint=settings.endpoint,
        port=settings.port,
        answer=process.answer,
    )


@when_instance_ended
def _end(instance: object) -> None:
    if _hosts:
        _hosts.end(instance)


@answers_unsigned
def _give_credentials(request: Request, _: Application) -> Application | None:
    """Answer a process, which asks as the SDKs do, with credentials of its role."""
    if request.method != "GET" or not request.path.startswith(CREDENTIALS_PATH):
        return None
    session = request.path.removeprefix(CREDENTIALS_PATH)
    token = request.headers.get("Authorization", "")
    answer = _hosts.credentials.answer(session, token) if _hosts else None
    if answer is None:
        return Response(
            json.dumps({"code": "AccessDenied", "message": "no process has this token"}),
            HTTPStatus.FORBIDDEN,
            mimetype="application/json",
        )
    return Response(json.dumps(answer), mimetype="application/json")
