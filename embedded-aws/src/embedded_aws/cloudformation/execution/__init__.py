"""Bringing stacks to their desired state."""
