"""The network interface that processes on CPUs reach each other by.

Without GLOO_SOCKET_IFNAME, gloo takes the address that the host's own name stands for. On nodes
that share a machine, in a rehearsal, that is no address of theirs.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct

_VARIABLE = "GLOO_SOCKET_IFNAME"
# From linux/sockios.h.
_SIOCGIFADDR = 0x8915


def use_interface_of(main: str) -> None:
    """Have gloo use the interface by which this node reaches the main one, unless it is told.

    Args:
        main: address or name of the main node.
    """
    if _VARIABLE in os.environ:
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Sends nothing; the kernel only chooses a route.
        probe.connect((main, 9))
        here = probe.getsockname()[0]
        for _, name in socket.if_nameindex():
            if (here.startswith("127.") and name == "lo") or _address(probe, name) == here:
                os.environ[_VARIABLE] = name


def _address(any_socket: socket.socket, interface: str) -> str | None:
    request = struct.pack("256s", interface.encode())
    try:
        answer = fcntl.ioctl(any_socket.fileno(), _SIOCGIFADDR, request)
    except OSError:
        return None
    return socket.inet_ntoa(answer[20:24])
