"""The services that pods reach by their addresses: that of the API server.

Kubernetes, "Accessing the Kubernetes API from a Pod": it is the service `kubernetes` of the
namespace `default`, at the first address of the services' range. On EKS kube-proxy leads there, on
nodes. Here each pod that has a network of its own has the address itself.
"""

import socket
from contextlib import suppress
from ipaddress import ip_network
from threading import Thread

from embedded_aws.actions import Row
from embedded_aws.eks.vpc_access import join
from embedded_aws.hosts.host import Answer
from embedded_aws.kubernetes.client import ApiClient

_PORT = 443


def services_of(cluster: Row, client: ApiClient) -> dict[tuple[str, int], Answer]:
    """Return what serves addresses and ports of services.

    Args:
        cluster: whose services they are.
        client: of its API server.
    """
    address = next(ip_network(cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"]).hosts())

    def answer(asking: socket.socket, _: object) -> None:
        Thread(target=_lead, args=[asking, client.port], daemon=True).start()

    return {(str(address), _PORT): answer}


def _lead(asking: socket.socket, port: int) -> None:
    with asking, suppress(OSError):
        join(asking, socket.create_connection(("127.0.0.1", port)))
