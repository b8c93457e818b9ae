"""Removing a cluster: what goes, what stays and goes on costing, and the removal itself."""
