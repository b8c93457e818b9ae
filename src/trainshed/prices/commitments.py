"""Reserved Instances and Savings Plans, which are paid for whether nodes run or not."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import product

# Savings Plans user guide, "Reviewing and finalizing Savings Plans purchases": a year is 365 days.
_HOURS_PER_YEAR = 8760


class CommitmentKind(StrEnum):
    """What is committed to."""

    RESERVED = "reserved"
    EC2_INSTANCE_SAVINGS_PLAN = "ec2-instance-savings-plan"
    COMPUTE_SAVINGS_PLAN = "compute-savings-plan"


class Payment(StrEnum):
    """How much of a commitment is paid when it is bought."""

    NO_UPFRONT = "no-upfront"
    PARTIAL_UPFRONT = "partial-upfront"
    ALL_UPFRONT = "all-upfront"


# AWS's names of them, in the price list and in the API of Savings Plans.
PAYMENTS = {
    "No Upfront": Payment.NO_UPFRONT,
    "Partial Upfront": Payment.PARTIAL_UPFRONT,
    "All Upfront": Payment.ALL_UPFRONT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """A promise to pay for every hour of its term, at a lower price than on demand.

    Reserved Instances are standard ones; convertible ones, which cost more, are left out.

    Attributes:
        kind: a Reserved Instance, or one of two kinds of Savings Plans.
        years: its term, 1 or 3.
        payment: how much is paid when it is bought.
    """

    kind: CommitmentKind
    years: int
    payment: Payment

    @property
    def hours(self) -> int:
        """The hours of its term."""
        return self.years * _HOURS_PER_YEAR

    def __str__(self) -> str:
        """Return for instance `reserved-1y-no-upfront`."""
        return f"{self.kind}-{self.years}y-{self.payment}"


COMMITMENTS = tuple(
    Commitment(kind=kind, years=years, payment=payment)
    for kind, years, payment in product(CommitmentKind, (1, 3), Payment)
)
