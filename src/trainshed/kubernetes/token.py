"""Tokens by which the API server of a cluster of Amazon EKS knows an IAM identity.

A token is the URL of a presigned call of STS GetCallerIdentity, which EKS makes itself: so it knows
who signed. https://github.com/kubernetes-sigs/aws-iam-authenticator, "API Authorization from
Outside a Cluster".
"""

from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from trainshed.aws import Region

_PREFIX = "k8s-aws-v1."
# Without the header, a token for one cluster would do for every other.
_CLUSTER_HEADER = "x-k8s-aws-id"
# The URL says 60 s as that of `aws eks get-token` does; EKS takes it for 15 minutes whatever it
# says. Like the AWS CLI, we renew it a minute earlier.
_URL_SECONDS = 60
_LASTS = timedelta(minutes=14)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token for one cluster.

    Attributes:
        text: what goes into the header `Authorization`, after `Bearer`.
        expires: when to make another one.
    """

    text: str
    expires: datetime

    @property
    def is_stale(self) -> bool:
        """It is time to make another one."""
        return datetime.now(UTC) >= self.expires


def make_token(region: Region, cluster: str) -> Token:
    """Make a token by the credentials of the environment; AWS is not asked.

    Args:
        region: of the cluster.
        cluster: name of the cluster, as EKS has it.

    Raises:
        TrainshedError: there are no credentials.
    """
    expires = datetime.now(UTC) + _LASTS
    url = region.presigned_url(
        "sts", "get_caller_identity", headers={_CLUSTER_HEADER: cluster}, seconds=_URL_SECONDS
    )
    text = _PREFIX + urlsafe_b64encode(url.encode()).decode().rstrip("=")
    return Token(text=text, expires=expires)
