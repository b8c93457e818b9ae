"""The resource types of Amazon EKS."""
