"""What tells people how a cluster is."""
