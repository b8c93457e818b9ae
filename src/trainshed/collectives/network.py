"""What a log says about the network that carried the traffic between nodes."""

import re
from collections.abc import Iterable

from trainshed.collectives.model import LogLine, Network

# aws-ofi-nccl up to 1.13 writes "Provider", later ones "provider", the fabric and the count.
_PROVIDER = re.compile(r"NET/OFI Selected provider is ([\w;-]+)", re.IGNORECASE)
_FOUND = re.compile(r"\(found (\d+) nics\)")
# NCCL's own lines when it has no plugin: "NET/Socket : Using", "Using network Socket".
_SOCKET = re.compile(r"Using network Socket|via NET/Socket")
# As `env` and `mpirun -x` show them, and NCCL: "NCCL_X set by environment to Y".
_SETTING = re.compile(r"\b((?:HCCL|FI|RDMAV)_[A-Z_]+)(?:=| set by environment to )(\S+)")

SOCKET = "socket"


def read_network(lines: Iterable[LogLine]) -> Network:
    """Return what the lines say about the network."""
    providers: dict[str, LogLine] = {}
    interfaces: tuple[int, LogLine] | None = None
    settings: dict[str, str] = {}
    logged = False
    for line in lines:
        logged = logged or "NCCL INFO" in line.text
        if provider := _PROVIDER.search(line.text):
            providers.setdefault(provider[1].casefold(), line)
            found = _FOUND.search(line.text)
            if found and (interfaces is None or int(found[1]) < interfaces[0]):
                interfaces = int(found[1]), line
        elif _SOCKET.search(line.text):
            providers.setdefault(SOCKET, line)
        settings.update(_SETTING.findall(line.text))
    return Network(providers=providers, interfaces=interfaces, settings=settings, logged=logged)
