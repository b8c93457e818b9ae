"""What programs that compare templates use: how properties differ, and what follows from that."""

from embedded_aws.cloudformation.changes.comparison import (
    PropertyChange,
    Recreation,
    compare,
    keeps_its_name,
)
from embedded_aws.cloudformation.policy_names import DELETION, POLICIES, REPLACEMENT
from embedded_aws.cloudformation.stateful import holds_data

__all__ = [
    "DELETION",
    "POLICIES",
    "REPLACEMENT",
    "PropertyChange",
    "Recreation",
    "compare",
    "holds_data",
    "keeps_its_name",
]
