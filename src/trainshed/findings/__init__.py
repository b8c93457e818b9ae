"""Findings: the rules that find them, what a file's owner accepts, and how they are shown."""

from trainshed.findings.model import Basis, Finding, Place, Severity, Violation
from trainshed.findings.rule import Over, Rule, rule

__all__ = ["Basis", "Finding", "Over", "Place", "Rule", "Severity", "Violation", "rule"]
