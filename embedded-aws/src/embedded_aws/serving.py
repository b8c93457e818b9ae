"""The process that answers requests: a fork of the pristine one."""

import os
import socket
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler
from werkzeug.serving import make_server

from embedded_aws import services
from embedded_aws.gateway import Gateway
from embedded_aws.hooks import ServingProcess, when_serving, when_stopping
from embedded_aws.pristine import PristineChannel
from embedded_aws.settings import ServerSettings
from embedded_aws.trees import remove_tree
from embedded_aws.unknown_calls import without_unknown


def serve(
    moto: DomainDispatcherApplication,
    settings: ServerSettings,
    sockets: Sequence[socket.socket],
    lock: Path,
    as_of: date | None,
    channel: PristineChannel,
) -> None:
    """Answer requests until the pristine process ends.

    Args:
        moto: the application, with all services.
        settings: of the server, with its port.
        sockets: listen on it.
        lock: a file in the folder for what this process and those it starts write; it is locked,
            shared, by guests and hosts.
        as_of: the day.
        channel: to the pristine process.
    """
    folder = lock.parent
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    served = Gateway(without_unknown(moto), settings, channel.start_over)
    servers = []
    for listening in sockets:
        host, port = listening.getsockname()[:2]
        server = make_server(
            host,
            port,
            served,
            threaded=True,
            request_handler=MotoRequestHandler,
            fd=listening.fileno(),
        )
        servers.append(server)
    services.install(replace(settings, as_of=as_of))
    when_serving.call(
        ServingProcess(
            settings=settings, folder=folder, lock=lock, answer=servers[0].process_request
        )
    )
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    channel.wait_for_end()
    when_stopping.call()
    # The pristine process does not do it when it is killed.
    remove_tree(folder)
