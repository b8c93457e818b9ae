"""What programs that compare templates use: how properties differ, and what policies there are."""

from embedded_aws.cloudformation.changes.comparison import PropertyChange, Recreation, compare
from embedded_aws.cloudformation.policy_names import DELETION, POLICIES, REPLACEMENT

__all__ = ["DELETION", "POLICIES", "REPLACEMENT", "PropertyChange", "Recreation", "compare"]
