"""Quotas that AWS has granted: on AWS a person does it, days after a request; here a control.

They are posted to the gateway's `/_embedded-aws/quotas`, and forgotten by a reset.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from embedded_aws.errors import EmbeddedAwsError

QUOTAS_PATH = "/_embedded-aws/quotas"
# The values by service and code; an attribute of moto's backend, so that a reset removes it.
Applied = dict[tuple[str, str], float]


class GrantError(EmbeddedAwsError):
    """What was posted is not a list of quotas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A value of a quota from now on.

    Attributes:
        account: 12 digits.
        region: for instance `us-west-2`.
        service: service code, for instance `ec2`.
        code: quota code, for instance `L-2C3B7624`.
        value: what the account may have.
    """

    account: str
    region: str
    service: str
    code: str
    value: float

    def apply(self) -> None:
        """Set the value."""
        applied_in(self.account, self.region)[self.service, self.code] = float(self.value)


def applied_in(account: str, region: str) -> Applied:
    """Return the values that were granted in an account and region."""
    # Clients of an embedded AWS import this module, and have no need of moto.
    from moto.backends import get_backend

    backend = get_backend("service-quotas")[account][region]
    applied: Applied = backend.__dict__.setdefault("embedded_aws_applied", {})
    return applied


def grants_from_json(found: object, accounts: Sequence[str], regions: Sequence[str]) -> list[Grant]:
    """Read grants from JSON; by default they are of the first account and region.

    Raises:
        GrantError: it is not a list of them.
    """
    if not isinstance(found, list):
        raise GrantError("this is not a list of quotas")
    return [_grant(each, accounts, regions) for each in found]


def _grant(found: object, accounts: Sequence[str], regions: Sequence[str]) -> Grant:
    if not (isinstance(found, dict) and {"service", "code", "value"} <= found.keys()):
        raise GrantError("each quota must be an object with service, code and value")
    if unknown := found.keys() - {"account", "region", "service", "code", "value"}:
        raise GrantError(f"a quota has no {min(unknown)!r}")
    value = found["value"]
    if type(value) not in (int, float) or value < 0:
        raise GrantError(f"a quota's value is a number from 0, got {value!r}")
    grant = Grant(**{"account": accounts[0], "region": regions[0], **found})
    if grant.account not in accounts or grant.region not in regions:
        raise GrantError(
            f"this embedded AWS has no account {grant.account} in {grant.region}; it has "
            f"{', '.join(accounts)} in {', '.join(regions)}"
        )
    return grant
