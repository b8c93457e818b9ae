"""Service Quotas: what an account may have."""

from dataclasses import dataclass

from trainshed.aws import AwsRefusal, Region
from trainshed.catalogue import Quota

# An account whose value was never changed may have none of its own.
_NO_VALUE = "NoSuchResourceException"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedQuota:
    """How much of something the account may have.

    Attributes:
        quota: which quota says it.
        value: vCPUs of running instances, VPCs and so on.
    """

    quota: Quota
    value: float


def find_quota(region: Region, quota: Quota) -> AppliedQuota:
    """Return the account's value of a quota, or AWS's default where it has none of its own."""
    asked = {"ServiceCode": quota.service, "QuotaCode": quota.code}
    try:
        found = region.call("service-quotas", "get_service_quota", **asked)
    except AwsRefusal as error:
        if error.code != _NO_VALUE:
            raise
        found = region.call("service-quotas", "get_aws_default_service_quota", **asked)
    return AppliedQuota(quota=quota, value=found["Quota"]["Value"])
