"""What FSx refuses about the network of an OpenZFS file system.

FSx for OpenZFS user guide, "File system access control with Amazon VPC": NFS comes in on TCP 2049;
nothing has to go out. AWS's recipes for Slurm clusters: the creation fails while the security group
does not let NFS in from itself. Inferred: the exact words, and that a range does which holds the
subnet.
"""

from embedded_aws.actions import Call
from embedded_aws.fsx.networks import Network, invalid_network, network_of

_NFS_PORT = 2049


def openzfs_network(call: Call) -> Network:
    """Return the network of a new OpenZFS file system in one zone.

    Raises:
        Refusal: InvalidNetworkSettings.
    """
    network = network_of(call, "Single-AZ OpenZFS")
    if not network.permits(network.ingress, _NFS_PORT):
        raise invalid_network(
            "The file system cannot be created because the default security group in the subnet "
            "provided or the provided security groups do not permit NFS network traffic on port "
            f"{_NFS_PORT}"
        )
    return network
