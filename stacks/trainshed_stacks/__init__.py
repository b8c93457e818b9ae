"""Stacks: which constructs live and die together."""
