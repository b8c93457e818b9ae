"""What may be wrong with a cluster that can be planned: one rule, one function, one page."""

from trainshed.checks.judging import judge
from trainshed.checks.rule import Basis, Rule, Violation, all_rules, fleet_rule, rule

__all__ = ["Basis", "Rule", "Violation", "all_rules", "fleet_rule", "judge", "rule"]
