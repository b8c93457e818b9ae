"""A registry for container images on loopback: Debian's docker-registry, storing into a folder."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server
from threading import Thread

_SETTINGS = """\
version: 0.1
log: {{level: info}}
storage: {{filesystem: {{rootdirectory: {folder}}}}}
http: {{addr: "{address}"}}
"""
_TRIES = 5


@contextmanager
def serving_registry(folder: Path) -> Iterator[str]:
    """Serve an empty registry; yields its `HOST:PORT`.

    Args:
        folder: for its storage.
    """
    process, address = _started(folder)
    try:
        yield address
    finally:
        process.terminate()
        process.wait()


def _started(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    for _ in range(_TRIES):
        with create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        settings = folder / "registry.yml"
        settings.write_text(_SETTINGS.format(folder=folder / "registry", address=address))
        process = subprocess.Popen(
            ["docker-registry", "serve", str(settings)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr
        said = []
        for line in process.stderr:
            said.append(line)
            if b"listening on" in line:
                # It stops when nobody reads what it says.
                Thread(target=process.stderr.read, daemon=True).start()
                return process, address
        process.wait()
    raise AssertionError(f"docker-registry does not start: {b''.join(said).decode()}")
