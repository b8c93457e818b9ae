"""A cluster of Amazon EKS as its API server is reached."""

from base64 import b64decode
from dataclasses import dataclass

from trainshed.aws import Region, accepting
from trainshed.errors import Failure


class NoApiServer(Failure):
    """There is no such cluster, or it has no API server yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EksCluster:
    """Where the API server of a cluster is, and how it proves who it is.

    Attributes:
        name: of the cluster, as EKS has it.
        region: that it is in.
        endpoint: URL of the API server.
        authority: certificates that its certificate is signed by, as base64 of PEM.
    """

    name: str
    region: Region
    endpoint: str
    authority: str

    @property
    def authority_pem(self) -> str:
        """The certificates as PEM."""
        return b64decode(self.authority).decode("ascii")


def find_cluster(region: Region, name: str) -> EksCluster:
    """Return a cluster that EKS has.

    Args:
        region: that it is in.
        name: of the cluster.

    Raises:
        NoApiServer: there is none of the name, or it has no API server.
        AwsRefusal: AWS refuses.
    """
    found = None
    with accepting("ResourceNotFoundException"):
        found = region.call("eks", "describe_cluster", name=name)["cluster"]
    if found is None:
        raise NoApiServer(
            f"there is no cluster {name} of Amazon EKS in {region.name}; deploy its control plane, "
            "or check the account and the region"
        )
    authority = found.get("certificateAuthority", {}).get("data")
    if not (found.get("endpoint") and authority):
        raise NoApiServer(
            f"cluster {name} of Amazon EKS is {found['status']} and has no API server; wait until "
            "it is ACTIVE"
        )
    return EksCluster(name=name, region=region, endpoint=found["endpoint"], authority=authority)
