"""Removing a cluster: what goes, what stays and still costs, and the removal itself."""
