"""A control plane of Amazon EKS, and groups of nodes for it."""
