"""Service Quotas' own data beside moto's, by id or ARN.

Rows are as Describe actions return them.
"""

from embedded_aws.actions import Call


def applied_quotas(call: Call) -> dict[str, float]:
    """Return the EC2 quotas that were raised, by code."""
    return call.state("service-quotas", "applied", dict[str, float])
