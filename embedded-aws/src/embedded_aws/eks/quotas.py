"""How much an account may have of EKS: what is more is refused.

EKS API reference: CreateCluster and CreateNodegroup refuse with ResourceLimitExceededException; the
quota of nodes is about `maxSize` (NodegroupScalingConfig). Inferred: its words, and that
UpdateNodegroupConfig refuses so, too.
"""

from embedded_aws.actions import Call, Refusal
from embedded_aws.service_quotas.quotas import applied_value

CLUSTERS, GROUPS, NODES = "L-1194D53C", "L-6D54EA21", "L-BD136A63"


def check_quota(call: Call, code: str, wanted: int) -> None:
    """Refuse what is beyond a quota.

    Args:
        call: whose account is asked.
        code: of the quota.
        wanted: how many there would be.

    Raises:
        Refusal: that is more than the account may have.
    """
    if wanted > (most := applied_value(call, "eks", code)):
        raise Refusal(
            "ResourceLimitExceededException",
            f"{wanted} is more than the account's quota {code} of EKS, which is {most:g}",
        )
